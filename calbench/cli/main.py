"""The entry point of ``calbench``: exit statuses, errors in one line, and Ctrl-C.

Nothing is imported before signals are handled: the first tenth of a second is imports.
"""

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence

SCARCE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT}
"""Errors of a machine that has too little of something: descriptors, memory or space."""

UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF}
"""Errors of a stream that takes nothing more."""

UNMAPPED = "failed to map segment from shared object"
"""What the loader of Linux says of a compiled library for which there is too little memory."""

STOPPED = "Stopped before anything was done; the same command starts again"


def main() -> None:
    """Answer the command line and end the process with a status."""
    _open_standard_streams()
    _answer_signals(_stop)
    status = answer(sys.argv[1:])
    _answer_signals(signal.SIG_IGN)  # they come too late: all is done and said
    sys.exit(status)


def _open_standard_streams() -> None:
    """Open what the caller has closed to nothing: else the next file would get its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _answer_signals(how: Callable[[int, object], None] | signal.Handlers) -> None:
    """Say how Ctrl-C, the system and a closed terminal end the command; `nohup` means the last."""
    signal.signal(signal.SIGINT, how)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
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
        _drop_output()
        return Status.PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - a status that no check has
        if line := _of_machine(error):
            alert(f"error: {line}")
            return Status.MISTAKEN
        traceback.print_exc()
        return Status.BROKEN
    return status


def _of_machine(error: Exception) -> str:
    """Return the line about an error of the machine; of any other one, nothing."""
    if isinstance(error, MemoryError) or UNMAPPED in str(error):
        return "the machine has too little memory; try jobs=1, or a part of it"
    if not isinstance(error, OSError):
        return ""
    if isinstance(error, PermissionError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; choose a place that is yours"
    is_output = error.filename is None and error.errno in UNWRITTEN
    if is_output:
        _drop_output()
    if is_output or error.errno in SCARCE:
        where = "standard output" if is_output else error.filename or "this machine"
        return f"{where}: {error.strerror}; make room, or write elsewhere"
    return ""


def _drop_output() -> None:
    """Let what standard output still holds go nowhere, so that the interpreter can end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
