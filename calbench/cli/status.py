"""Exit statuses, and how the command was called."""

import sys
from enum import IntEnum
from pathlib import Path


class Status(IntEnum):
    """The exit statuses of every command; ``--help`` says what they mean."""

    DONE = 0
    DIFFERENT = 1
    MISTAKEN = 2
    EXCLUDED = 3
    HUNG_UP = 129
    STOPPED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143


def program_name() -> str:
    """Return how this command was called, for commands that it suggests."""
    is_module = Path(sys.argv[0]).parts[-2:] == ("calbench", "__main__.py")
    return "python -m calbench" if is_module else "calbench"
