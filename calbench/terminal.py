"""What Rich draws on a terminal: tables, and bars for the tasks under way in one display."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from calbench.files import printable, shorten

if TYPE_CHECKING:
    from rich.progress import Progress

WIDTH, NOTE = 20, 24
"""Most characters of a bar, and of the note beside it [C]: count and times fit into 80 columns."""


_displays: list["Progress"] = []
"""The display of this process, as long as a task is under way: a terminal has one."""


@contextmanager
def bar(
    task: str, total: int, done: int, state: Callable[[], str]
) -> Iterator[Callable[[str], None]]:
    """Show a task on the terminal; yield what advances it by one and takes a note.

    Arguments as in :func:`calbench.console.progress`.
    """
    if not _displays:
        with _new_bars() as bars:
            _displays.append(bars)
            try:
                with bar(task, total, done, state) as advance:
                    yield advance
            finally:
                _displays.clear()
        return
    (bars,) = _displays
    handle = bars.add_task(task, total=total, completed=done, note="", state=state)
    try:
        yield lambda note: bars.update(handle, advance=1, note=shorten(printable(note), NOTE))
    finally:
        bars.remove_task(handle)


def _new_bars() -> "Progress":
    """Return a display of name, bar, count, note, elapsed and remaining time; states below."""
    from rich.progress import (  # a table does not wait for these
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    class Bars(Progress):
        """Bars, and a line below them for each task that has a state."""

        def get_renderables(self) -> Iterator[RenderableType]:
            yield self.make_tasks_table(self.tasks)
            for state in filter(None, (printable(each.fields["state"]()) for each in self.tasks)):
                yield Text(f"  {state}", no_wrap=True, overflow="ellipsis")

    return Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(WIDTH),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("<", markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class _Output(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave the status to the command: 1 would say that a check found a difference."""
        raise BrokenPipeError


def new_table(
    title: str | None,
    heads: Sequence[str],
    rows: Iterable[Iterable[str]] = (),
    *,
    left: int = 1,
    wraps: bool = False,
) -> Table:
    """Return a table.

    Args:
        title: the line above it.
        heads: of its columns.
        rows: its cells; more may be added.
        left: how many columns hold names, which are left-aligned, and wrapped if the terminal is
            narrow; the others hold numbers.
        wraps: whether the others are wrapped, too; else they are cut where names cannot give way.
    """
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, head in enumerate(heads):
        is_name = place < left
        justify: Literal["left", "right"] = "left" if is_name else "right"
        table.add_column(head, justify=justify, no_wrap=not (wraps or is_name), overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def print_tables(*tables: Table) -> None:
    """Print tables on standard output."""
    output = _Output(highlight=False)
    for table in tables:
        output.print(table)
