"""Studies of the package itself, no part of it: each writes a table that is kept in git.

Run one by hand where its subject changed, as its first lines say: ``python -m tests.studies.NAME``.
"""
