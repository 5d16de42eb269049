"""Bars on a terminal: one for each task under way, all in one display."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from calbench.files import printable, shorten

WIDTH, NOTE = 20, 24
"""Most characters of a bar, and of the note beside it [C]: money and times fit into 80 columns."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text that is made anew whenever it is shown."""

    text: Callable[[], str]

    def __str__(self) -> str:
        return printable(self.text())


@dataclass(slots=True)
class Display:
    """The bars on a terminal; it is up as long as a task is under way."""

    _bars: Progress | None = None

    @contextmanager
    def bar(
        self, task: str, total: int, done: int, state: Callable[[], str]
    ) -> Iterator[Callable[[str], None]]:
        """Show a task; yield what advances it by one and takes a note.

        Arguments as in :func:`calbench.console.progress`.
        """
        with self._shown() as bars:
            handle = bars.add_task(task, total=total, completed=done, note="", state=_Shown(state))
            try:
                yield lambda note: bars.update(
                    handle, advance=1, note=shorten(printable(note), NOTE)
                )
            finally:
                bars.remove_task(handle)

    @contextmanager
    def _shown(self) -> Iterator[Progress]:
        """Provide the bars: those of a task around this one, if there is any."""
        if self._bars is not None:
            yield self._bars
            return
        with Progress(*_columns(), console=Console(stderr=True), transient=True) as bars:
            self._bars = bars
            try:
                yield bars
            finally:
                self._bars = None


def _columns() -> Iterator[ProgressColumn]:
    """Yield name, bar, count, note, state, elapsed and remaining time."""
    yield TextColumn("{task.description}", markup=False)
    yield BarColumn(WIDTH)
    yield MofNCompleteColumn()
    yield TextColumn("{task.fields[note]}", markup=False)
    yield TextColumn("{task.fields[state]}", markup=False)
    yield TimeElapsedColumn()
    yield TextColumn("<", markup=False)
    yield TimeRemainingColumn()


DISPLAY = Display()
"""That of this process: a terminal has one."""
