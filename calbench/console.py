"""What a command shows while it works, what it says at its end, and how a signal ends it.

A bar and colours on a terminal, plain lines elsewhere. Quiet is a state of this module: a command
with ``-q`` shows its verdict, warnings and errors alone.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, Protocol, TextIO

from calbench.endings import undo_all
from calbench.errors import AgentError, CalbenchError, PreflightError
from calbench.files import printable
from calbench.tree import remove_unpacked

if TYPE_CHECKING:
    from rich.table import Table

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a command to end: Ctrl-C, the system, and a terminal that is closed."""


@dataclass(slots=True)
class _Voice:
    """What this process says, and the last signal that it was sent."""

    is_quiet: bool = False
    last_signal: int = signal.SIGINT


_voice = _Voice()


def is_quiet() -> bool:
    """Whether only the verdict, warnings and errors are shown."""
    return _voice.is_quiet


def silence() -> None:
    """Be quiet from now on, as a worker process is: its parent shows the progress."""
    _voice.is_quiet = True


@contextmanager
def quiet() -> Iterator[None]:
    """Be quiet inside of the context."""
    before, _voice.is_quiet = _voice.is_quiet, True
    try:
        yield
    finally:
        _voice.is_quiet = before


class Ticker(Protocol):
    """Counts one finished unit of work."""

    def __call__(self, note: str = "") -> None:
        """Advance by one; ``note`` is shown beside the count."""
        ...


@contextmanager
def progress(
    task: str, total: int, done: int = 0, state: Callable[[], str] = lambda: ""
) -> Iterator[Ticker]:
    """Show the progress of a task on standard error.

    Args:
        task: what is being done, in a word or two.
        total: units of work in all.
        done: units that are done already.
        state: what else is to be shown, such as the money spent; a terminal asks all the time.
    """
    if _voice.is_quiet:
        yield lambda _note="": None
    elif is_terminal(sys.stderr):
        from calbench.terminal import bar  # only a terminal waits for this library

        with bar(task, total, done, state) as advance:
            yield lambda note="": advance(note)
    else:
        yield from _lines(task, total, done, state)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream shows bars and colours."""
    return stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}


def _lines(task: str, total: int, done: int, state: Callable[[], str]) -> Iterator[Ticker]:
    count = done

    def tick(note: str = "") -> None:
        nonlocal count
        count += 1
        if 4 * count // total > 4 * (count - 1) // total:
            beside = ", ".join(filter(None, (note, state())))
            say(f"{task} {count}/{total} {beside}".rstrip())

    yield tick


def tell(line: str) -> None:
    """Print one line about the results on standard output, unless the command is quiet."""
    if not _voice.is_quiet:
        print(printable(line), flush=True)


def show(*tables: "Table") -> None:
    """Print tables on standard output, unless the command is quiet."""
    if not _voice.is_quiet:
        from calbench.terminal import print_tables

        print_tables(*tables)


def say(line: str) -> None:
    """Print one line about the work on standard error, unless the command is quiet."""
    if not _voice.is_quiet:
        alert(line)


def alert(line: str) -> None:
    """Print one line on standard error, quiet or not; control characters in it are escaped."""
    print(printable(line), file=sys.stderr, flush=True)


def warn(line: str) -> None:
    """Print a warning on standard error, in red on a terminal, quiet or not."""
    _print_styled(f"warning: {line}", sys.stderr, "bold red")


def verdict(line: str, *, is_good: bool | None = None, is_beside: bool = False) -> None:
    """Print what came out and where it is: the last line of a command, quiet or not.

    Args:
        line: what came out.
        is_good: shown in green, or in red; absent: in bold.
        is_beside: whether standard output is for programs: then the line is on standard error,
            unless the command is quiet.
    """
    if is_beside and _voice.is_quiet:
        return
    style = {True: "bold green", False: "bold red", None: "bold"}[is_good]
    _print_styled(line, sys.stderr if is_beside else sys.stdout, style)


def _print_styled(line: str, stream: TextIO, style: str) -> None:
    """Print one line, with a style on a terminal."""
    if not is_terminal(stream):
        print(printable(line), file=stream, flush=True)
        return
    # Only a terminal waits for this library.
    from rich.console import Console
    from rich.text import Text

    Console(file=stream).print(Text(printable(line), style), soft_wrap=True)


def say_error(error: CalbenchError) -> None:
    """Print an error as one line; above it the traceback of the user's own code, if that raised.

    A failed preflight has a line for each model.
    """
    cause = error.__cause__ if isinstance(error, AgentError) else None
    above = "".join(traceback.format_exception(cause)) if cause is not None else ""
    for line in above.splitlines():
        alert(line)
    for line in error.lines if isinstance(error, PreflightError) else [str(error)]:
        alert(f"error: {line}")


def stopped_status() -> int:
    """Return the exit status of a command that stopped because it was asked to, as shells have it.

    That is 130 after Ctrl-C.
    """
    return 128 + _voice.last_signal


@contextmanager
def ending_on_interrupt(line: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C, and every other signal of :data:`ENDING`, end the process at once, with one line.

    No exception is raised: compiled libraries that call back into Python, pydantic among
    them, swallow a KeyboardInterrupt or turn it into an error of their own.

    Args:
        line: what to say then.
    """
    with _on_interrupt(lambda: _end(line)):
        yield


@contextmanager
def noting_interrupt(line: Callable[[], str]) -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether the command was asked to end; the second time it does.

    Args:
        line: what to say then.
    """
    is_noted = False

    def note() -> None:
        nonlocal is_noted
        if is_noted:
            _end(line)
        is_noted = True

    with _on_interrupt(note):
        yield lambda: is_noted


@contextmanager
def _on_interrupt(answer: Callable[[], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread handles signals
        return

    def note(number: int, _frame: FrameType | None) -> None:
        _voice.last_signal = number
        answer()

    found = {number: signal.getsignal(number) for number in ENDING}
    # `nohup` has a closed terminal ignored, and means it.
    before = {n: how for n, how in found.items() if n == signal.SIGINT or how != signal.SIG_IGN}
    for number in before:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, how in before.items():
            signal.signal(number, how)


def _end(line: Callable[[], str]) -> NoReturn:
    """End the process at once: files are written whole or not at all."""
    undo_all()  # ends workers, too: the line says what there is when they have ended
    clear = "\x1b[?25h\r\x1b[K" if sys.stderr.isatty() else ""
    with suppress(OSError):  # the terminal may be closed
        os.write(sys.stderr.fileno(), f"{clear}{printable(line())}\n".encode())
    remove_unpacked()
    os._exit(stopped_status())
