"""Statistics on arrays: no table, no file, no name of this project."""
