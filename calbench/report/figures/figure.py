"""One figure of the site: what is drawn, what it says in words, and the numbers behind it."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calbench.report.columns import Column, interval, number, word
from calbench.report.escape import data_script
from calbench.report.tables import Row

NUMBER = re.compile(r"-?\d+(\.\d+)?")

ENDS = ("_low", "_high")
"""What the ends of a measure's interval are called behind its name."""

FOLDER = "figures"
"""Below the page data, and below the tables."""


@dataclass(frozen=True)
class Figure:
    """A figure with its alternatives.

    Attributes:
        key: its part of file names; letters, digits, dots, dashes and underscores.
        title: what it shows, without its numbers.
        says: what it shows in words made from its numbers.
        drawn: the figure as Plotly data.
        columns: of the table of the numbers that are drawn.
        rows: of that table, cells as in the sources.
        sources: tables that the numbers come from, below ``tables``.
        note: how to read it.
        height: in pixels.
    """

    key: str
    title: str
    says: str
    drawn: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    sources: tuple[str, ...]
    note: str = ""
    height: int = 420

    @property
    def table(self) -> str:
        """The path of its table, below ``tables``."""
        return f"{FOLDER}/{self.key}.csv"

    @property
    def table_columns(self) -> list[Column]:
        """The columns of its table on the page; an interval is below its number."""
        ends = {f"{name}{end}" for name in self.columns for end in ENDS}
        return [self._column(name) for name in self.columns if name not in ends]

    def _column(self, name: str) -> Column:
        title = name.replace("_", " ")
        cells = [row[name] for row in self.rows if row[name]]
        if not cells or not all(NUMBER.fullmatch(cell) for cell in cells):
            return word(name, title)
        if all(f"{name}{end}" in self.columns for end in ENDS):
            return interval(name, title, None)
        return number(name, title)

    def write(self, docs: Path) -> None:
        """Write the page data and the table of what is drawn."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(self.rows)
        data = docs / "pagedata" / FOLDER / f"{self.key}.js"
        for path, content in (
            (data, data_script(f"{FOLDER}/{self.key}", self.drawn)),
            (docs / "tables" / self.table, text.getvalue().encode()),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def columns_of(*names: str, measures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return columns, each measure followed by the ends of its interval."""
    ends = [f"{measure}{end}" for measure in measures for end in ("", *ENDS)]
    return (*names, *ends)


def selected(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Row, ...]:
    """Return rows of a table with some of their columns."""
    return tuple({name: row[name] for name in columns} for row in rows)
