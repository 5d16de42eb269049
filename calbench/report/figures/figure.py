"""One figure of the site: what is drawn, what it says in words, and the numbers behind it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import plotly.graph_objects as go

from calbench.report.columns import MINUS, Column, decimal, interval, number, rounded, word
from calbench.report.escape import write_data
from calbench.report.figures.finding import sparse
from calbench.report.figures.style import Styles
from calbench.report.figures.template import TEMPLATE
from calbench.report.kind import KINDS, Kind
from calbench.report.setting import Setting, player_of
from calbench.report.tables import Row, csv_bytes

NUMBER = re.compile(r"-?\d+(\.\d+)?")

SHOWN = re.compile(rf"(?<![\w.,-]){MINUS}?(?:\d+\.(?P<decimals>\d+)|\d{{3,}})(?![\w-]|[.,]\d)")
"""A number in a sentence that may be rounded: not part of a name or a version, no small count."""

ENDS = ("_low", "_high")
"""What the ends of a measure's interval are called behind its name."""

KIND = "_interval"
"""What says how it was made, or why there is none; not all tables have it."""

FOLDER = "figures"
"""Below the page data, and below the tables."""


@dataclass(frozen=True)
class Figure:
    """A figure with its alternatives.

    How to read it is in the page's template. A function that draws a section leaves key, title
    and sources to :func:`section`.

    Attributes:
        says: what it shows in words made from its numbers.
        drawn: the figure itself, in the project's template.
        columns: of the table of the numbers that are drawn.
        rows: of that table, cells as in the sources; further cells are left out.
        height: in pixels.
        key: its part of file names; letters, digits, dots, dashes and underscores.
        title: what it shows, without its numbers.
        sources: tables that the numbers come from, below ``tables``.
        finding: what was found, made from its numbers; empty if that is nothing.
        measured: its columns whose numbers are drawn as marks.
        named: its column that says what each number is of, beside the team or player; or empty.
        titles: of the cells of that column, in words.
    """

    says: str
    drawn: go.Figure
    columns: Sequence[str]
    rows: Sequence[Row]
    height: int = 420
    key: str = ""
    title: str = ""
    sources: Sequence[str] = ()
    finding: str = ""
    measured: Sequence[str] = ()
    named: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The title above it: what was found, as a headline."""
        if not self.finding:
            return self.title
        names = {_who(row) for row in self.rows}
        is_name = any(self.finding.startswith(name) for name in names)
        return self.finding if is_name else self.finding[:1].upper() + self.finding[1:]

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of players in it: each has a colour that nothing else has."""
        drawn = json.dumps(self.drawn.to_plotly_json()["data"], default=list)
        return [kind for kind in KINDS if kind.colour in drawn]

    @cached_property
    def _numbers(self) -> list[tuple[str, str, str]]:
        """What was measured, of whom, and the number, of everything that is drawn as a mark."""
        return [
            (self._what(row, measure), _who(row), row[measure])
            for row in self.rows
            for measure in self.measured
            if row[measure]
        ]

    def _what(self, row: Row, measure: str) -> str:
        if self.named:
            return self.titles.get(row[self.named], row[self.named])
        return measure.replace("_", " ") if len(self.measured) > 1 else ""

    @property
    def _others(self) -> list[tuple[str, str, str]]:
        return [each for each in self._numbers if decimal(each[2])]

    @property
    def is_sparse(self) -> bool:
        """Whether more than half of its numbers are 0, so that a sentence says more [C]."""
        return 2 * len(self._others) < len(self._numbers)

    @property
    def sentence(self) -> str:
        """What is said in place of a figure of zeros."""
        return sparse(self._others)

    def stated(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the parts of a sentence about it; a rounded number is with its cell of the table.

        A part is a text and an empty cell, or a number with decimals as it is shown and the first
        cell that is rounded to it.
        """
        end = 0
        for found in SHOWN.finditer(text):
            cell = self._cells(len(found["decimals"] or "")).get(found[0])
            if cell:
                yield text[end : found.start()], ""
                yield found[0], cell
                end = found.end()
        yield text[end:], ""

    @cached_property
    def _measures(self) -> list[str]:
        """Every cell of its table that is a number."""
        cells = dict.fromkeys(row[name] for row in self.rows for name in self.written)
        return [cell for cell in cells if NUMBER.fullmatch(cell)]

    @cached_property
    def _shown(self) -> dict[int, dict[str, str]]:
        return {}

    def _cells(self, digits: int) -> dict[str, str]:
        """Return the first cell that is shown as each number with so many decimals."""
        if digits not in self._shown:
            cells = reversed(self._measures)
            self._shown[digits] = {rounded(cell, digits): cell for cell in cells}
        return self._shown[digits]

    @property
    def table(self) -> str:
        """The path of its table, below ``tables``."""
        return f"{FOLDER}/{self.key}.csv"

    @property
    def written(self) -> list[str]:
        """The columns that its rows have."""
        first = self.rows[0] if self.rows else {}
        return [name for name in self.columns if not name.endswith(KIND) or name in first]

    @property
    def table_columns(self) -> list[Column]:
        """The columns of its table on the page; an interval is below its number."""
        ends = {f"{name}{end}" for name in self.columns for end in (*ENDS, KIND)}
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
        """Write the table of what is drawn, and the page data unless words take its place."""
        table = docs / "tables" / self.table
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_bytes(csv_bytes(self.written, self.rows))
        if self.is_sparse:
            return
        drawn = self.drawn.to_plotly_json()
        del drawn["layout"]["template"]  # pages have it once
        write_data(docs / "pagedata", f"{FOLDER}/{self.key}", drawn)


def _who(row: Row) -> str:
    """Return what a row is of: a team, a player, a setting."""
    if "team" not in row and "teams" in row:
        return player_of(row)
    return next(row[name] for name in ("team", "player", "setting") if name in row)


Draw = Callable[[Setting, Styles], Figure]
"""Draws a setting, with how each team and player looks."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page of figures, with one figure for each setting.

    Attributes:
        page: in ``site/docs/results``, without its ending.
        name: of the section; the page's template uses ``sections[name]``.
        title: of its figures.
        tables: of the experiment, which the drawing reads.
        draw: makes the figure; without rows there is nothing to draw.
    """

    page: str
    name: str
    title: str
    tables: Sequence[str]
    draw: Draw

    def figure(self, setting: Setting, style_by_name: Styles) -> Figure:
        """Return the figure of a setting."""
        return replace(
            self.draw(setting, style_by_name),
            key=f"{self.name}-{setting.slug}",
            title=f"{self.title}, {setting.title}",
            sources=[setting.source(table) for table in self.tables],
        )


REGISTERED: list[Section] = []
"""Every section of the modules that are imported."""


def section(page: str, name: str, title: str, *tables: str) -> Callable[[Draw], Draw]:
    """Make a function that draws a setting into a :class:`Section` with these attributes."""

    def register(draw: Draw) -> Draw:
        REGISTERED.append(Section(page, name, title, tables, draw))
        return REGISTERED[-1].figure

    return register


def write_figures(figures: Sequence[Figure], docs: Path) -> None:
    """Write page data and tables of figures, and the template that all of them are drawn in."""
    for figure in figures:
        figure.write(docs)
    if figures:
        write_data(docs / "pagedata", f"{FOLDER}/template", TEMPLATE.to_plotly_json())


def columns_of(*names: str, measures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return columns, each measure followed by the ends of its interval and what it is."""
    ends = [f"{measure}{end}" for measure in measures for end in ("", *ENDS, KIND)]
    return (*names, *ends)
