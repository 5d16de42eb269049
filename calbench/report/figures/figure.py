"""One figure of the site: what is drawn, what it says in words, and the numbers behind it."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calbench.report import numbers
from calbench.report.escape import data_script, html_text
from calbench.report.results import Row

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


def place(figure: Figure, root: str, *, has_table: bool = True) -> str:
    """Return the figure's place on a page.

    Args:
        figure: what to show.
        root: the way to the site's root.
        has_table: whether the numbers fold out below; not where the page has them in a table.
    """
    words = html_text(figure.says)
    sources = " · ".join(
        f'<a href="{root}tables/{html_text(name)}" download>{html_text(name)}</a>'
        for name in figure.sources
    )
    folded = _folded(figure, words, has_table=has_table)
    return (
        f'<figure class="cb-plot" id="figure-{html_text(figure.key)}">\n'
        f'<div class="cb-figure" role="figure" data-figure="{FOLDER}/{html_text(figure.key)}" '
        f'style="height:{figure.height}px" aria-label="{html_text(figure.title)}. {words}"></div>\n'
        f"<figcaption><strong>{html_text(figure.title)}.</strong> {html_text(figure.note)} "
        f'<a href="{root}tables/{html_text(figure.table)}" download>What is drawn, as CSV</a>; '
        f"from {sources}</figcaption>\n{folded}\n</figure>"
    )


def _folded(figure: Figure, words: str, *, has_table: bool) -> str:
    """Return the words and numbers; open in the source, for readers without scripts."""
    title = "In words and numbers" if has_table else "In words"
    table = "\n" + _table(figure) if has_table else ""
    return (
        f'<details class="cb-data" data-search-exclude open><summary>{title}</summary>\n'
        f"<p>{words}</p>{table}\n</details>"
    )


def _table(figure: Figure) -> str:
    """Return the numbers that are drawn; an interval stands below its number."""
    ends = {f"{name}{end}" for name in figure.columns for end in ENDS}
    names = [name for name in figure.columns if name not in ends]
    return numbers.table(
        f"The numbers: {figure.title}",
        [
            (numbers.plain_header if _is_number(figure, name) else numbers.word_header)(
                name.replace("_", " ")
            )
            for name in names
        ],
        [[_cell(row, name) for name in names] for row in figure.rows],
    )


def _is_number(figure: Figure, name: str) -> bool:
    cells = [row[name] for row in figure.rows if row[name]]
    return bool(cells) and all(NUMBER.fullmatch(cell) for cell in cells)


def _cell(row: Row, name: str) -> str:
    cell = row[name]
    low, high = (row.get(f"{name}{end}", "") for end in ENDS)
    if low and high:
        return numbers.range_cell(cell, low, high, None)
    if not cell or NUMBER.fullmatch(cell):
        return numbers.number_cell(cell)
    return numbers.word_cell(cell)


def columns_of(*names: str, measures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return columns, each measure followed by the ends of its interval."""
    ends = [f"{measure}{end}" for measure in measures for end in ("", *ENDS)]
    return (*names, *ends)


def selected(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Row, ...]:
    """Return rows of a table with some of their columns."""
    return tuple({name: row[name] for name in columns} for row in rows)
