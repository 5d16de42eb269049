"""The command ``calbench``: one door, a module for each subcommand."""

from enum import IntEnum

from calbench.console import INTERRUPTED


class Status(IntEnum):
    """The exit statuses of every command; ``--help`` says what they mean."""

    DONE = 0
    DIFFERENT = 1
    MISTAKEN = 2
    EXCLUDED = 3
    STOPPED = INTERRUPTED
    PIPE_CLOSED = 141
