"""What a command shows while it works, and how it ends on Ctrl-C.

A bar on a terminal, plain lines elsewhere.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, Protocol

from calbench.errors import AgentError, CalbenchError, PreflightError
from calbench.files import printable

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


class Ticker(Protocol):
    """Counts one finished unit of work."""

    def __call__(self, note: str = "") -> None:
        """Advance by one; ``note`` is shown beside the count."""
        ...


@contextmanager
def progress(task: str, total: int, done: int = 0) -> Iterator[Ticker]:
    """Show the progress of a task on standard error.

    Args:
        task: what is being done, in a word or two.
        total: units of work in all.
        done: units that are done already.
    """
    if sys.stderr.isatty():
        yield from _bar(task, total, done)
    else:
        yield from _lines(task, total, done)


def _bar(task: str, total: int, done: int) -> Iterator[Ticker]:
    # Only a terminal waits for this library.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    text, note = "{task.description}", "{task.fields[note]}"
    columns = (text, BarColumn(), MofNCompleteColumn(), note, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        handle = bar.add_task(task, total=total, completed=done, note="")

        def tick(note: str = "") -> None:
            bar.update(handle, advance=1, note=note)

        yield tick


def _lines(task: str, total: int, done: int) -> Iterator[Ticker]:
    count = done
    step = max(1, total // 4)

    def tick(note: str = "") -> None:
        nonlocal count
        count += 1
        if count % step == 0 or count == total:
            say(f"{task} {count}/{total} {note}".rstrip())

    yield tick


def say(line: str) -> None:
    """Print one line on standard error; control characters in it are escaped."""
    print(printable(line), file=sys.stderr, flush=True)


def warn(line: str) -> None:
    """Print a warning on standard error, in red on a terminal; control characters are escaped."""
    if not sys.stderr.isatty():
        say(f"warning: {line}")
        return
    # Only a terminal waits for this library.
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(
        Text(printable(f"warning: {line}"), style="bold red"), soft_wrap=True
    )


def say_error(error: CalbenchError) -> None:
    """Print an error as one line; above it the traceback of the user's own code, if that raised.

    A failed preflight has a line for each model.
    """
    if isinstance(error, AgentError) and error.__cause__ is not None:
        for line in "".join(traceback.format_exception(error.__cause__)).splitlines():
            say(line)
    for line in error.lines if isinstance(error, PreflightError) else [str(error)]:
        say(f"error: {line}")


@contextmanager
def ending_on_interrupt(line: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C end the process at once, with one line.

    No exception is raised: compiled libraries that call back into Python, pydantic among
    them, swallow a KeyboardInterrupt or turn it into an error of their own.

    Args:
        line: what to say then.
    """
    with _on_interrupt(lambda: _end(line())):
        yield


@contextmanager
def noting_interrupt(line: Callable[[], str]) -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed; a second one ends the process.

    Args:
        line: what to say then.
    """
    is_noted = False

    def note() -> None:
        nonlocal is_noted
        if is_noted:
            _end(line())
        is_noted = True

    with _on_interrupt(note):
        yield lambda: is_noted


@contextmanager
def _on_interrupt(answer: Callable[[], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread handles signals
        return
    before = signal.signal(signal.SIGINT, lambda _number, _frame: answer())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(line: str) -> NoReturn:
    """End the process at once: files are written whole or not at all."""
    clear = "\x1b[?25h\r\x1b[K" if sys.stderr.isatty() else ""
    os.write(sys.stderr.fileno(), f"{clear}{printable(line)}\n".encode())
    os._exit(INTERRUPTED)
