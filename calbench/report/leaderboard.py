"""The leaderboard's page: a table that reads without scripts, and the data of the one that sorts.

Numbers are the cells of the tables word for word; the page's script rounds them for the eye.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calbench.analysis.measures import MEASURES, Measure
from calbench.analysis.tables import TABLES
from calbench.facts.columns import Column
from calbench.report import numbers
from calbench.report.board import COLUMNS, PRICE_PER_GAME, USAGE, View
from calbench.report.escape import html_text
from calbench.report.results import Row
from calbench.report.special import SpecialResults

FIRST_MEASURE = "adjusted_excess_cost"
"""What the table is sorted by at first [C]: of all measures of cost it alone counts failures."""

SHOWN = ("coordination", FIRST_MEASURE, "messages", "fairness", "excess_vps", PRICE_PER_GAME)
"""Columns that are there before anybody chooses."""

VPS_FIELDS: Mapping[str, str] = {
    "protocol": "by messages",
    "reflection": "by reflections",
    "mixed": "by both",
}
"""Ways in which privacy loss was measured. Numbers of two of them are not comparable, so each
has a column of its own."""

VPS_LINKS: Mapping[str, str] = {
    "protocol": "vps",
    "reflection": "reflection",
    "mixed": "reflection",
}

USAGE_TITLES: Mapping[str, str] = {
    "calls": "Calls",
    "input_tokens": "Tokens in",
    "cached_tokens": "of these cached",
    "output_tokens": "Tokens out",
    "price_usd": "US$",
    PRICE_PER_GAME: "US$ per game",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A column that can be shown.

    Attributes:
        id: its name in addresses and downloads.
        column: of ``tables/leaderboard.csv``.
        table: of the experiment, from which its cells come.
        link: where it is explained, from the leaderboard's page.
        better: which direction is better, or empty.
        vps_kind: show only cells measured in this way; empty shows all.
        has_interval: whether the columns of an estimate stand beside it.
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
    better: str = ""
    digits: int | None = None
    vps_kind: str = ""
    has_interval: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether it is there before anybody chooses."""
        return self.column in SHOWN


def fields(views: Sequence[View]) -> tuple[Field, ...]:
    """Return every column that the rows of these views can fill, in the order of the page."""
    kinds = {row["vps_kind"] for view in views for row in view.rows}
    found: list[Field] = []
    for measure in MEASURES:
        if measure.name.startswith("excess_vps"):
            found += [_measure(measure, kind) for kind in VPS_FIELDS if kind in kinds]
        else:
            found.append(_measure(measure))
    counts = {"scenarios": "Scenarios", "games": "Games", "games_excluded": "Games excluded"}
    for name, title in counts.items():
        table = "outcomes.csv" if name == "games_excluded" else "leaderboard.csv"
        found.append(_counted(name, title, table))
    has_calls = any(row["calls"] for view in views for row in view.rows)
    names = (PRICE_PER_GAME, *USAGE) if has_calls else ()
    return (*found, *(_counted(name, USAGE_TITLES[name], "usage.csv") for name in names))


def _measure(measure: Measure, kind: str = "") -> Field:
    anchor = numbers.anchor(measure.name)
    return Field(
        id=f"{measure.name}.{kind}" if kind else measure.name,
        column=measure.name,
        title=f"{measure.title}, {VPS_FIELDS[kind]}" if kind else measure.title,
        unit=measure.unit,
        definition=f"mean of: {measure.definition}",
        denominator=measure.denominator,
        origin=measure.origin,
        table="leaderboard.csv",
        link=f"method.html#{VPS_LINKS[kind] if kind == 'reflection' else anchor}",
        better=measure.better,
        digits=measure.digits,
        vps_kind=kind,
        has_interval=True,
    )


def _counted(name: str, title: str, table: str) -> Field:
    column = _dictionary(table, name)
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
        digits=2 if name.startswith("price") else None,
    )


def _dictionary(table: str, name: str) -> Column:
    return next(column for column in TABLES[table].columns if column.name == name)


def page_data(views: Sequence[View]) -> dict[str, Any]:
    """Return what the page's script needs.

    Cells are text; 0 stands for an empty one, and columns that nobody fills are left out.
    """
    columns = [
        name
        for name in COLUMNS
        if name not in {"setting", "channel"} and any(r[name] for view in views for r in view.rows)
    ]
    return {
        "columns": columns,
        "first": FIRST_MEASURE,
        "fields": [
            {
                "id": field.id,
                "column": field.column,
                "title": field.title,
                "unit": field.unit,
                "definition": field.definition,
                "denominator": field.denominator,
                "origin": field.origin,
                "table": field.table,
                "link": field.link,
                "better": field.better,
                "digits": field.digits,
                "vps": field.vps_kind,
                "interval": field.has_interval,
                "shown": field.is_shown,
            }
            for field in fields(views)
        ],
        "views": [
            {
                "setting": view.setting,
                "channel": view.channel,
                "experiments": list(view.experiments),
                "confidence": view.confidence,
                "level": view.level,
                "rows": [[row[name] or 0 for name in columns] for row in view.rows],
            }
            for view in views
        ],
    }


def table(views: Sequence[View]) -> str:
    """Return the first view, sorted as the script sorts it at first; it stands without scripts."""
    if not views:
        return "<p>There is no game to rank yet.</p>"
    view = views[0]
    shown = [f for f in fields(views[:1]) if f.is_shown and any(cell(r, f) for r in view.rows)]
    rows = sorted(
        view.rows,
        key=lambda row: (not row[FIRST_MEASURE], numbers.decimal(row[FIRST_MEASURE] or "0")),
    )
    return numbers.table(
        f"{view.setting}, {view.channel}: mean and {view.confidence} interval over scenarios",
        [
            numbers.plain_header("Team"),
            numbers.plain_header("Rank"),
            *(_header(field) for field in shown),
        ],
        [
            [
                numbers.team_header(row["team"], row["kind"]),
                rank_cell(row, FIRST_MEASURE),
                *(
                    _estimate(row, field) if field.has_interval else
                    numbers.number_cell(cell(row, field), field.digits)
                    for field in shown
                ),
            ]
            for row in rows
        ],
    )  # fmt: skip


def cell(row: Row, field: Field) -> str:
    """Return a row's number of a field, empty if it has none or one measured in another way."""
    return "" if field.vps_kind and row["vps_kind"] != field.vps_kind else row[field.column]


def _estimate(row: Row, field: Field) -> str:
    if not cell(row, field):
        return f"<td>{numbers.ABSENT}</td>"
    if not row[f"{field.column}_low"]:
        return numbers.number_cell(row[field.column], field.digits)
    return numbers.estimate_cell(row, field.column)


def _header(field: Field) -> str:
    arrow = {"higher": "↑ higher is better", "lower": "↓ lower is better", "": ""}[field.better]
    return (
        f'<th scope="col"><a href="{html_text(field.link)}">{html_text(field.title)}</a>'
        f'<span class="cb-unit">{html_text(field.unit)}</span>'
        f'<span class="cb-unit">{arrow}</span></th>'
    )


def rank_cell(row: Row, measure: str) -> str:
    """Return a rank as a range, over how many teams, and the letters of its ties."""
    low, high = row[f"{measure}_rank_low"], row[f"{measure}_rank_high"]
    if not low:
        return f'<td><span title="not ranked">{numbers.DASH}</span></td>'
    ends = [numbers.shown_number(end, None) for end in dict.fromkeys((low, high))]
    ranked = numbers.shown_number(row[f"{measure}_ranked"], None)
    ties = row[f"{measure}_letters"]
    note = f'<span class="cb-range">ties {html_text(ties)}</span>' if ties else ""
    return f'<td>{numbers.DASH.join(ends)}<span class="cb-range">of {ranked}</span>{note}</td>'


PUBLISHED: Mapping[str, tuple[str, str, str]] = {
    "table1.csv": (
        "player",
        "Model",
        "Table 1 of the paper: models in mixed teams; scores are per agent",
    ),
    "table2.csv": (
        "team",
        "Team",
        "Table 2 of the paper and the authors' first release: protocols",
    ),
}
"""Tables of others: column and title of who they are about, and the caption."""


def published(special: SpecialResults) -> str:
    """Return what others published, word for word, or nothing if no file has it."""
    parts = [
        _published(special.published_rows(name), who, title, caption)
        + f'\n<p><a href="tables/published/{name}" download>{name}</a></p>'
        for name, (who, title, caption) in PUBLISHED.items()
        if special.experiments and (special.published / name).is_file()
    ]
    return "\n\n".join(parts) or "<p>There are none beside these games.</p>"


def _published(rows: Sequence[Row], who: str, title: str, caption: str) -> str:
    """Return a table of published numbers, with its source in each row or once for all."""
    notes = list(dict.fromkeys(row["note"] for row in rows))
    is_said_once = len(notes) == 1
    return numbers.table(
        f"{caption}. {notes[0]}" if is_said_once else caption,
        [
            numbers.plain_header(title),
            numbers.word_header("Setting"),
            *(numbers.measure_header(name, "method.html") for name in numbers.HEADLINE),
            *([] if is_said_once else [numbers.word_header("Source")]),
        ],
        [
            [
                f'<th scope="row">{html_text(row[who])}</th>',
                numbers.word_cell(row["setting"]),
                *(numbers.number_cell(row[name]) for name in numbers.HEADLINE),
                *([] if is_said_once else [numbers.note_cell(f"{row['source']}: {row['note']}")]),
            ]
            for row in rows
        ],
    )
