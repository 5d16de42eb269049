"""What a command shows while it works: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Ticker(Protocol):
    """Counts one finished unit of work."""

    def __call__(self, note: str = "") -> None:
        """Advance by one; ``note`` stands beside the count."""
        ...


@contextmanager
def progress(task: str, total: int, done: int = 0) -> Iterator[Ticker]:
    """Show the progress of a task on standard error.

    Args:
        task: what is being done, in a word or two.
        total: units of work in all.
        done: units that stand already.
    """
    if sys.stderr.isatty():
        yield from _bar(task, total, done)
    else:
        yield from _lines(task, total, done)


def _bar(task: str, total: int, done: int) -> Iterator[Ticker]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
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
    """Print one line on standard error, where it does not mix with results."""
    print(line, file=sys.stderr, flush=True)
