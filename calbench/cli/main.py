"""Where ``calbench`` begins and ends: with a status, and quietly when it is stopped.

What is imported at the top is light, so that Ctrl-C is answered from the beginning.
"""

import os
import sys
from collections.abc import Callable, Sequence

from calbench.cli import Status
from calbench.console import ending_on_interrupt, say, say_error
from calbench.errors import CalbenchError, StoppedError

STOPPED = "Stopped before anything was done; the same command starts again"


def main() -> None:
    """Answer the command line and end the process with a status."""
    sys.exit(answer(sys.argv[1:]))


def answer(arguments: Sequence[str]) -> int:
    """Answer the arguments of a command line; return the exit status."""

    def invoked() -> int:
        from calbench.cli.program import invoke

        return invoke(arguments)

    with ending_on_interrupt(lambda: STOPPED):
        return status_of(invoked)


def status_of(command: Callable[[], int]) -> int:
    """Run a command; return its status, or the one of its error, which is said in one line."""
    try:
        status = command()
        sys.stdout.flush()
    except StoppedError as stop:
        say(str(stop))
        return Status.STOPPED
    except CalbenchError as error:
        say_error(error)
        return Status.MISTAKEN
    except BrokenPipeError:  # whoever reads the output, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Status.PIPE_CLOSED
    return status
