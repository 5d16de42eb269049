"""One figure of the site: what is drawn, what its title says, and the numbers behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from calbench.report.columns import Column, interval, number, word
from calbench.report.escape import write_data
from calbench.report.experiment import Setting
from calbench.report.figures.style import TEMPLATE, Drawn, Styles, in_order
from calbench.report.kind import KINDS, Kind
from calbench.report.tables import Row, csv_bytes

ENDS = ("_low", "_high")
"""Endings of the columns with the ends of a measure's interval, behind its name."""

KIND = "_interval"
"""What says how it was made, or why there is none; not all tables have it."""

FOLDER = "figures"
"""Below the page data, and below the tables."""


@dataclass(frozen=True)
class Figure:
    """A figure with its numbers.

    How to read it is in the page's template. A function that draws a section leaves key, title
    and sources to :func:`section`.

    Attributes:
        drawn: the figure itself, for the project's template.
        columns: of the table of the numbers that are drawn.
        rows: of that table, as in the sources; further cells are left out.
        height: in pixels.
        key: its part of file names; letters, digits, dots, dashes and underscores.
        title: what it shows, without its numbers.
        sources: tables that the numbers come from, below ``tables``.
        measured: its columns whose numbers are drawn as marks.
    """

    drawn: Drawn
    columns: Sequence[str]
    rows: Sequence[Row]
    height: int = 420
    key: str = ""
    title: str = ""
    sources: Sequence[str] = ()
    measured: Sequence[str] = ()

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of players in it: each has a colour that nothing else has."""
        drawn = str(self.drawn["data"])
        return [kind for kind in KINDS if kind.colour in drawn]

    @property
    def is_sparse(self) -> bool:
        """Whether more than half of its numbers are 0, so that a table says more [C]."""
        found = [row[name] for row in self.rows for name in self.measured]
        known = [value for value in found if value is not None]
        return 2 * sum(map(bool, known)) < len(known)

    @property
    def told(self) -> list[Row]:
        """Its rows with a number other than 0."""
        return [row for row in self.rows if any(row[name] for name in self.measured)]

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
        values = [row[name] for row in self.rows if row[name] not in (None, "")]
        if not values or not all(isinstance(value, float | int) for value in values):
            return word(name, title)
        if all(f"{name}{end}" in self.columns for end in ENDS):
            return interval(name, title, None)
        return number(name, title)

    def write(self, docs: Path) -> None:
        """Write the table of what is drawn, and the page data unless the table takes its place."""
        table = docs / "tables" / self.table
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_bytes(csv_bytes(self.written, self.rows))
        if self.is_sparse:
            return
        drawn = in_order(self.drawn)
        for each in drawn["data"]:
            each["type"] = each.pop("type")  # last, as Plotly writes it
        write_data(docs / "pagedata", f"{FOLDER}/{self.key}", drawn)


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
        write_data(docs / "pagedata", f"{FOLDER}/template", in_order(TEMPLATE))


def columns_of(*names: str, measures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return columns, each measure followed by the ends of its interval and what it is."""
    ends = [f"{measure}{end}" for measure in measures for end in ("", *ENDS, KIND)]
    return (*names, *ends)
