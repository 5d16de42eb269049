"""The entry point of ``calbench``: exit statuses, errors in one line, and Ctrl-C.

Nothing is imported before signals are handled: the first tenth of a second is imports.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence

STOPPED = "Stopped before anything was done; the same command starts again"


def main() -> None:
    """Answer the command line and end the process with a status."""
    _answer_signals(_stop)
    status = answer(sys.argv[1:])
    _answer_signals(signal.SIG_IGN)  # they come too late: all is done and said
    sys.exit(status)


def _answer_signals(how: Callable[[int, object], None] | signal.Handlers) -> None:
    """Say how Ctrl-C, the system and a closed terminal end the command; `nohup` means the last."""
    signal.signal(signal.SIGINT, how)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, how)


def _stop(number: int, _frame: object) -> None:
    os.write(sys.stderr.fileno(), f"{STOPPED}\n".encode())
    os._exit(128 + number)


def answer(arguments: Sequence[str]) -> int:
    """Answer the arguments of a command line; return the exit status."""
    from calbench.console import ending_on_interrupt

    def invoked() -> int:
        from calbench.cli.program import invoke

        return invoke(arguments)

    with ending_on_interrupt(lambda: STOPPED):
        return status_of(invoked)


def status_of(command: Callable[[], int]) -> int:
    """Run a command; return its status, or that of its error, which is printed in one line."""
    from calbench.cli.words import Status
    from calbench.console import alert, say_error, stopped_status
    from calbench.errors import CalbenchError, StoppedError

    try:
        status = command()
        sys.stdout.flush()
    except StoppedError as stop:
        alert(str(stop))
        return stopped_status()
    except CalbenchError as error:
        say_error(error)
        return Status.MISTAKEN
    except BrokenPipeError:  # the reader of the output, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Status.PIPE_CLOSED
    return status
