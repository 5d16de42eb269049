"""The columns of the leaderboard that can be shown, as template and script read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calbench.analysis.measures import MEASURES, MIXED, Measure
from calbench.analysis.tables import TABLES
from calbench.analysis.tables.standings import USAGE_COLUMNS
from calbench.report.columns import COST, VPS, Column, anchor, decimal, direction, number
from calbench.report.tables import Row

PRICE_PER_GAME = USAGE_COLUMNS[-1].name
"""What a game cost."""

FIRST_MEASURE = COST
"""What the table is sorted by at first [C]: of all measures of cost it alone counts failures."""

LEADING = (FIRST_MEASURE, VPS)
"""Measures in the first columns [C]: a phone shows no more of them."""

SHOWN = (*LEADING, "coordination", "messages", "fairness", PRICE_PER_GAME)
"""Columns that are there before anybody chooses."""

VPS_FIELDS: Mapping[str, str] = {
    "protocol": "by messages",
    "reflection": "by reflections",
    "expected": "by reflections, expected values",
    "mixed": "in several ways",
}
"""Ways in which privacy loss was measured. Numbers of two of them are not comparable, so each
has a column of its own, and nobody is ranked by two."""

REFLECTED = frozenset({"reflection", "expected"})
"""Those of language agents."""

COUNTED: Mapping[str, tuple[str, str]] = {
    "scenarios": ("leaderboard.csv", "Scenarios"),
    "games": ("leaderboard.csv", "Games"),
    "games_excluded": ("outcomes.csv", "Games excluded"),
    PRICE_PER_GAME: ("usage.csv", "US$ per game"),
    "calls": ("usage.csv", "Calls"),
    "input_tokens": ("usage.csv", "Tokens in"),
    "cached_tokens": ("usage.csv", "of these cached"),
    "output_tokens": ("usage.csv", "Tokens out"),
    "price_usd": ("usage.csv", "US$"),
}
"""Table and title of columns that are no measures."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column that can be shown, as the page's script reads it.

    Attributes:
        id: its name in addresses and downloads.
        column: of ``leaderboard.csv``.
        table: of the experiment, from which its cells come.
        link: where it is explained, from the leaderboard's page.
        shown: whether it is there before anybody chooses.
        digits: decimals shown; ``None``: as in the table.
        better: which direction is better, or empty.
        vps: show only cells measured in this way; empty shows all.
        interval: whether its estimates have one.
    """

    id: str
    column: str
    title: str
    unit: str
    definition: str
    denominator: str
    origin: str
    table: str
    link: str
    shown: bool
    digits: int | None = None
    better: str = ""
    vps: str = ""
    interval: bool = False


def fields(rows: Sequence[Row]) -> tuple[Field, ...]:
    """Return every column that some rows can fill, what the table is sorted by at first."""
    measured = {row["vps_kind"] for row in rows}
    kinds = [kind for kind in VPS_FIELDS if kind in measured and kind != MIXED]
    found: list[Field] = []
    for measure in sorted(MEASURES, key=_place):
        is_split = measure.group == "privacy"
        found += [_measure(measure, kind) for kind in (kinds if is_split else [""])]
    is_asked = any(row["calls"] for row in rows)
    found += [
        _counted(name, title, table)
        for name, (table, title) in COUNTED.items()
        if is_asked or table != "usage.csv"
    ]
    return tuple(found)


def _place(measure: Measure) -> int:
    return LEADING.index(measure.name) if measure.name in LEADING else len(LEADING)


def _measure(measure: Measure, kind: str = "") -> Field:
    explained = "reflection" if kind in REFLECTED else anchor(measure.name)
    return Field(
        id=f"{measure.name}.{kind}" if kind else measure.name,
        column=measure.name,
        title=f"{measure.title}, {VPS_FIELDS[kind]}" if kind else measure.title,
        unit=measure.unit,
        definition=f"mean of: {measure.definition}",
        denominator=measure.denominator,
        origin=measure.origin,
        table="leaderboard.csv",
        link=f"method.html#{explained}",
        shown=measure.name in SHOWN,
        digits=measure.digits,
        better=measure.better,
        vps=kind,
        interval=True,
    )


def _counted(name: str, title: str, table: str) -> Field:
    column = next(column for column in TABLES[table].columns if column.name == name)
    return Field(
        id=name,
        column=name,
        title=title,
        unit=column.unit,
        definition=column.meaning,
        denominator=column.denominator,
        origin=column.origin,
        table=table,
        link=f"data.html#{table.removesuffix('.csv')}",
        shown=name in SHOWN,
        digits=2 if name.startswith("price") else None,
    )


def partly(row: Row, name: str) -> str:
    """Return of how many of its games' seats a measure is, in words; empty if it is of all.

    Others do not count, or their privacy loss was measured in another way.
    """
    counts = [row[f"{each.name}_n"] for each in MEASURES if row[f"{each.name}_n"]]
    own, seats = row[f"{name}_n"], max(counts, key=decimal, default="")
    return f"{own} of {seats} seats" if own and own != seats else ""


def column_of(field: Field) -> Column:
    """Return the column of a table on the page."""
    low, high = (f"{field.column}_{end}" if field.interval else "" for end in ("low", "high"))
    units = (field.unit, direction(field.better))
    estimate = field.column if field.interval else ""
    about = {"units": units, "link": field.link, "low": low, "high": high, "estimate": estimate}
    about["n"] = f"{field.column}_partly" if field.interval else ""
    return number(field.id, field.title, field.digits, **about)
