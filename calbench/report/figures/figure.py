"""One figure of the site: what is drawn, what it says in words, and the numbers behind it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import plotly.graph_objects as go

from calbench.report.columns import Column, interval, number, word
from calbench.report.escape import data_script
from calbench.report.figures.style import Styles
from calbench.report.figures.template import TEMPLATE
from calbench.report.setting import Setting
from calbench.report.tables import Row, csv_bytes

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
        drawn: the figure itself, in the project's template.
        columns: of the table of the numbers that are drawn.
        rows: of that table, cells as in the sources.
        sources: tables that the numbers come from, below ``tables``.
        note: how to read it.
        height: in pixels.
    """

    key: str
    title: str
    says: str
    drawn: go.Figure
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
        table = docs / "tables" / self.table
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_bytes(csv_bytes(self.columns, self.rows))
        drawn = self.drawn.to_plotly_json()
        del drawn["layout"]["template"]  # pages have it once
        _write_data(docs, self.key, drawn)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn of a setting; the attributes are those of :class:`Figure`."""

    rows: Sequence[Row]
    columns: Sequence[str]
    drawn: go.Figure
    says: str
    note: str
    height: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page of figures, with one figure for each setting.

    Attributes:
        page: in ``site/docs/results``, without its ending.
        name: of the section; the page's template uses ``sections[name]``.
        figure: makes the figure; without rows there is nothing to draw.
    """

    page: str
    name: str
    figure: Callable[[Setting, Styles], Figure]


REGISTERED: list[Section] = []
"""Every section of the modules that are imported."""


def section(
    page: str, name: str, title: str, *tables: str
) -> Callable[[Callable[[Setting, Styles], Drawn]], Callable[[Setting, Styles], Figure]]:
    """Make a function that draws a setting into a section of a page.

    Args:
        page: in ``site/docs/results``, without its ending.
        name: of the section.
        title: of its figures.
        tables: of the experiment, which the function reads.
    """

    def register(
        draw: Callable[[Setting, Styles], Drawn],
    ) -> Callable[[Setting, Styles], Figure]:
        def figure(setting: Setting, style_by_name: Styles) -> Figure:
            made = draw(setting, style_by_name)
            return Figure(
                key=f"{name}-{setting.slug}",
                title=f"{title}, {setting.title}",
                says=made.says,
                drawn=made.drawn,
                columns=tuple(made.columns),
                rows=selected(made.rows, made.columns),
                sources=tuple(setting.source(table) for table in tables),
                note=made.note,
                height=made.height,
            )

        REGISTERED.append(Section(page, name, figure))
        return figure

    return register


def write_figures(figures: Sequence[Figure], docs: Path) -> None:
    """Write page data and tables of figures, and the template that all of them are drawn in."""
    for figure in figures:
        figure.write(docs)
    if figures:
        _write_data(docs, "template", TEMPLATE.to_plotly_json())


def _write_data(docs: Path, key: str, data: Mapping[str, object]) -> None:
    path = docs / "pagedata" / FOLDER / f"{key}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data_script(f"{FOLDER}/{key}", data))


def columns_of(*names: str, measures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return columns, each measure followed by the ends of its interval."""
    ends = [f"{measure}{end}" for measure in measures for end in ("", *ENDS)]
    return (*names, *ends)


def selected(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Row, ...]:
    """Return rows of a table with some of their columns."""
    return tuple({name: row[name] for name in columns} for row in rows)
