"""What messages in words gave away and how they went wrong (paper, appendices G.5 and H)."""

from collections.abc import Mapping, Sequence

from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.experiment import Setting
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import Styles, Value
from calbench.report.tables import Row, grouped

LABELS: Mapping[str, str] = {
    "proposal": "proposes an own slot",
    "availability": "says when it is free",
    "cost_or_constraint": "tells a cost or constraint",
    "exact_cost": "tells a cost as a number",
}
"""Of ``audit_own_slot.csv``."""

TIERS: Mapping[str, str] = {
    "all": "any label",
    "public": "public",
    "neutral": "neutral",
    "sensitive": "sensitive",
}
"""Of ``audit_leaks.csv``."""

BY_MESSAGE = "messages"
"""The unit of patterns whose rate is a share of messages; others are counted by game."""

PATTERN_TABLES = ("audit_patterns.csv", "audit_pattern_rates.csv")

ENDS = ("rate_low", "rate_high")
"""Of ``audit_pattern_rates.csv``: only shares of messages have them."""

COLUMNS = ("team", "pattern", "level", "unit", "games", "messages", "count")
"""Of a figure of patterns, before the rate."""


@section("words", "own-slot", "What messages tell of the speaker's own slots", "audit_own_slot.csv")
def own_slot(setting: Setting, style_by_name: Styles) -> Figure:
    """Return what teams tell of their own slots, as shares of messages (paper, G.5)."""
    rows = setting.rows("audit_own_slot.csv", player="")
    return _shares(rows, style_by_name, "label", LABELS, "count")


@section("words", "leaks", "Messages that give a private label away", "audit_leaks.csv")
def leaks(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how many messages give a private label away, by its tier (paper, H)."""
    rows = setting.rows("audit_leaks.csv", player="")
    return _shares(rows, style_by_name, "tier", TIERS, "leaking_messages")


def _shares(
    rows: Sequence[Row],
    style_by_name: Styles,
    column: str,
    shown: Mapping[str, str],
    count: str,
) -> Figure:
    """Return shares of messages by what a column says."""
    rows = [row for row in rows if row[column] in shown and row["rate"] is not None]
    series = _series(rows, column, shown)
    return Figure(
        measured=("rate",),
        drawn=dots(
            list(shown.values()),
            series,
            "Share of messages",
            style_by_name=style_by_name,
            is_share=True,
        ),
        columns=columns_of("team", column, "messages", count, measures=("rate",)),
        rows=rows,
        height=height(len(shown), 2, 14 + 14 * len(series)),
    )


def _series(rows: Sequence[Row], column: str, shown: Mapping[str, str]) -> list[Series]:
    """Return the rates of each team by what the column says."""
    return [
        Series(team, {shown[row[column]]: Value.of(row, "rate") for row in own})
        for team, own in grouped(rows, "team").items()
    ]


@section("words", "patterns", "Behaviour patterns in messages", *PATTERN_TABLES)
def patterns(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how often messages show each behaviour pattern (paper, Table 15)."""
    return _found(setting, style_by_name, "Share of messages", is_by_message=True)


@section("words", "events", "Behaviour patterns in events", PATTERN_TABLES[0])
def events(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how often games show the patterns that are not in messages (paper, Table 15)."""
    return _found(setting, style_by_name, "Times found in a game", is_by_message=False)


def _found(setting: Setting, style_by_name: Styles, axis: str, *, is_by_message: bool) -> Figure:
    """Return the rates of patterns; those that nobody shows have no empty line."""
    every = _pattern_rows(setting, is_by_message=is_by_message)
    counted = {row["pattern"] for row in every if row["count"]}
    rows = [row for row in every if row["pattern"] in counted] or every
    searched = {row["pattern"] for row in rows}
    shown = {p.name: p.name.replace("_", " ") for p in PATTERNS if p.name in searched}
    series = _series(rows, "pattern", shown)
    return Figure(
        measured=("rate",),
        drawn=dots(
            list(shown.values()),
            series,
            axis,
            style_by_name=style_by_name,
            is_share=is_by_message,
            is_close=True,
        ),
        columns=columns_of(*COLUMNS, measures=("rate",)),
        rows=rows,
        height=height(len(shown), 2, 18 + 8 * len(series)),
    )


def _pattern_rows(setting: Setting, *, is_by_message: bool) -> list[Row]:
    """Return the rates of patterns that are counted by message or not, with their intervals."""
    rates = {
        (row["team"], row["pattern"]): row
        for row in setting.rows("audit_pattern_rates.csv", player="")
    }
    return [
        {**row, **{end: rates.get((row["team"], row["pattern"]), {}).get(end) for end in ENDS}}
        for row in setting.rows("audit_patterns.csv", player="")
        if row["rate"] is not None and (row["unit"] == BY_MESSAGE) is is_by_message
    ]
