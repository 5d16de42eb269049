"""The leaderboard's page: a table that reads without scripts, and the data of the one that sorts.

Rows are those of ``leaderboard.csv`` of the tables over several experiments. They may be compared
if their teams played the same scenarios over the same channels: these are one view. Numbers are
the cells of the tables word for word; the page's script rounds them for the eye.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from calbench.analysis.measures import MEASURES, Measure
from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables import TABLES
from calbench.analysis.tables.standings import USAGE_COLUMNS
from calbench.report.columns import NO_INTERVAL, Column, anchor, decimal, direction, number
from calbench.report.experiment import confidence_of, level_of
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row

COLUMNS = tuple(column.name for column in SUMMARY["leaderboard.csv"].columns)

PRICE_PER_GAME = USAGE_COLUMNS[-1].name
"""What a game cost."""

FIRST_MEASURE = "adjusted_excess_cost"
"""What the table is sorted by at first [C]: of all measures of cost it alone counts failures."""

SHOWN = ("coordination", FIRST_MEASURE, "messages", "fairness", "excess_vps", PRICE_PER_GAME)
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

PUBLISHED = ("table1.csv", "table2.csv")
"""Tables of others that the page shows."""


@dataclass(frozen=True)
class View:
    """Rows of the leaderboard that may be compared, the oracle's last.

    Corrected p-values below ``level`` are significant.
    """

    setting: str
    channel: str
    experiments: tuple[str, ...]
    rows: tuple[Row, ...]
    confidence: str
    level: str


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


def content(site: Site) -> Content:
    """Return the first view, sorted as the script sorts it at first, and what others published."""
    views = views_of(site)
    rows = views[0].rows if views else ()
    filled = [each for each in fields(rows) if any(cell(row, each) for row in rows)]
    shown = [field for field in filled if field.shown]
    return Content(
        {
            "view": views[0] if views else None,
            "columns": [_column(field) for field in shown],
            "rows": [_cells(row, shown) for row in sorted(rows, key=_place)],
            "published": [_published(site, name) for name in PUBLISHED if site.published.has(name)],
        },
        data={"leaderboard": page_data(views)},
    )


def views_of(site: Site) -> tuple[View, ...]:
    """Return what can be chosen on the leaderboard."""
    by_name = {each.name: each for each in site.ranked}
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in site.summary.optional("leaderboard.csv"):
        groups.setdefault((row["setting"], row["channel"]), []).append(row)
    found = []
    for (setting, channel), rows in groups.items():
        names = tuple(dict.fromkeys(row["experiment"] for row in rows if row["experiment"]))
        shown = [by_name[name] for name in names if name in by_name]
        view = View(setting, channel, names, tuple(rows), confidence_of(shown), level_of(shown))
        found.append(view)
    return tuple(found)


def fields(rows: Sequence[Row]) -> tuple[Field, ...]:
    """Return every column that some rows can fill, in the order of the page."""
    measured = {row["vps_kind"] for row in rows}
    kinds = [kind for kind in VPS_FIELDS if kind in measured]
    found: list[Field] = []
    for measure in MEASURES:
        is_split = measure.group == "privacy"
        found += [_measure(measure, kind) for kind in (kinds if is_split else [""])]
    is_asked = any(row["calls"] for row in rows)
    found += [
        _counted(name, title, table)
        for name, (table, title) in COUNTED.items()
        if is_asked or table != "usage.csv"
    ]
    return tuple(found)


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


def page_data(views: Sequence[View]) -> dict[str, Any]:
    """Return what the page's script needs.

    Cells are text; 0 means an empty one, and columns without any cell are left out.
    """
    rows = [row for view in views for row in view.rows]
    columns = [
        name
        for name in COLUMNS
        if name not in {"setting", "channel"} and any(row[name] for row in rows)
    ]
    return {
        "columns": columns,
        "first": FIRST_MEASURE,
        "no_interval": dict(NO_INTERVAL),
        "fields": [asdict(field) for field in fields(rows)],
        "views": [
            {**vars(view), "rows": [[row[name] or 0 for name in columns] for row in view.rows]}
            for view in views
        ],
    }


def cell(row: Row, field: Field) -> str:
    """Return a row's number of a field, empty if it has none or one measured in another way."""
    return "" if field.vps and row["vps_kind"] != field.vps else row[field.column]


def _place(row: Row) -> tuple[bool, Decimal]:
    """Return what rows are sorted by; those without the first measure come last."""
    return not row[FIRST_MEASURE], decimal(row[FIRST_MEASURE] or "0")


def _column(field: Field) -> Column:
    low, high = (f"{field.column}_{end}" if field.interval else "" for end in ("low", "high"))
    units = (field.unit, direction(field.better))
    estimate = field.column if field.interval else ""
    about = {"units": units, "link": field.link, "low": low, "high": high, "estimate": estimate}
    return number(field.id, field.title, field.digits, **about)


def _cells(row: Row, shown: Sequence[Field]) -> dict[str, str]:
    """Return a row with its cells by field, and its rank in the first measure."""
    parts = ("rank_low", "rank_high", "ranked", "letters")
    rank = {part: row[f"{FIRST_MEASURE}_{part}"] for part in parts}
    return {**row, **rank, **{field.id: cell(row, field) for field in shown}}


def _published(site: Site, name: str) -> dict[str, Any]:
    """Return a table of others, with its source if all rows have the same."""
    rows = site.published.rows(name)
    is_same = len({row["note"] for row in rows}) == 1
    sourced = [{**row, "says": f"{row['source']}: {row['note']}"} for row in rows]
    return {"name": name, "rows": sourced, "note": rows[0]["note"] if is_same else ""}
