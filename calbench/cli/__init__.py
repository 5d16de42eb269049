"""The command ``calbench``: one entry point, a module for each subcommand."""
