"""The command ``calbench``: one door, a module for each subcommand."""
