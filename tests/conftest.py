"""Settings of every test."""

from hypothesis import settings

# The same examples in every run: a failure belongs to a change, not to a machine's mood.
settings.register_profile("calbench", deadline=None, derandomize=True)
settings.load_profile("calbench")
