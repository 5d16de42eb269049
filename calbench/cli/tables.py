"""Tables in the terminal, in one style."""

from collections.abc import Sequence
from typing import NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from calbench.console import is_quiet


class _Output(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave the status to the command: 1 would say that a check found a difference."""
        raise BrokenPipeError


def new_table(
    title: str | None, heads: Sequence[str], left: int = 1, *, wraps: bool = False
) -> Table:
    """Return an empty table.

    Args:
        title: the line above it.
        heads: of its columns.
        left: how many columns hold names and are left-aligned; the others hold numbers.
        wraps: whether cells are wrapped if the terminal is narrow; else they are cut.
    """
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < left else "right", no_wrap=not wraps)
    return table


def show(*tables: Table) -> None:
    """Print tables on standard output, unless the command is quiet."""
    if is_quiet():
        return
    output = _Output(highlight=False)
    for table in tables:
        output.print(table)
