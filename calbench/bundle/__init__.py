"""The bundle: everything that is published in one folder, which the tools of the field load."""
