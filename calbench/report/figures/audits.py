"""What messages in words gave away and how they went wrong (paper, appendices G.5 and H)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.figures import finding, words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import Styles, Value
from calbench.report.setting import Setting
from calbench.report.tables import Row

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

COSTS, ANY = "cost_or_constraint", "all"
"""Whose shares of messages titles compare: a label of the one table, a tier of the other."""

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
    figure = _shares(rows, style_by_name, "label", LABELS, "count")
    told = {row["team"]: Value.of(row, "rate") for row in figure.rows if row["label"] == COSTS}
    often = finding.spread(
        told,
        "share of messages with a cost or constraint",
        ("says least often what a slot costs it", "say least often what a slot costs them"),
        "most often",
    )
    return replace(figure, finding=often)


@section("words", "leaks", "Messages that give a private label away", "audit_leaks.csv")
def leaks(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how many messages give a private label away, by its tier (paper, H)."""
    rows = setting.rows("audit_leaks.csv", player="")
    figure = _shares(rows, style_by_name, "tier", TIERS, "leaking_messages")
    leaking = {row["team"]: Value.of(row, "rate") for row in figure.rows if row["tier"] == ANY}
    often = finding.spread(
        leaking,
        "share of messages with a private label",
        ("gives labels away least often", "give labels away least often"),
        "most often",
    )
    return replace(figure, finding=often)


def _shares(
    rows: Sequence[Row], style_by_name: Styles, column: str, shown: Mapping[str, str], count: str
) -> Figure:
    """Return shares of messages by what a column says."""
    rows = [row for row in rows if row[column] in shown and row["rate"]]
    series = _series(rows, column, shown)
    labels, axis = list(shown.values()), "Share of messages"
    return Figure(
        says=_said(series, labels, axis.lower()),
        measured=("rate",),
        named=column,
        titles=shown,
        drawn=dots(labels, series, axis, style_by_name=style_by_name, is_share=True),
        columns=columns_of("team", column, "messages", count, measures=("rate",)),
        rows=rows,
        height=height(len(shown), 2, 14 + 14 * len(series)),
    )


def _series(rows: Sequence[Row], column: str, shown: Mapping[str, str]) -> list[Series]:
    """Return the rates of each team by what the column says."""
    return [
        Series(team, {shown[r[column]]: Value.of(r, "rate") for r in rows if r["team"] == team})
        for team in dict.fromkeys(row["team"] for row in rows)
    ]


def _said(series: Sequence[Series], names: Sequence[str], word: str) -> str:
    cells = [{s.name: s.cells[name] for s in series if name in s.values} for name in names]
    return " ".join(
        f"{name.capitalize()}: {words.extremes(found, word)}"
        for name, found in zip(names, cells, strict=True)
    )


@section("words", "patterns", "Behaviour patterns in messages", *PATTERN_TABLES)
def patterns(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how often messages show each behaviour pattern (paper, Table 15)."""
    return _found(setting, style_by_name, "Share of messages", is_by_message=True)


@section("words", "events", "Behaviour patterns in events", PATTERN_TABLES[0])
def events(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how often games show the patterns that are not in messages (paper, Table 15)."""
    return _found(setting, style_by_name, "Times found in a game", is_by_message=False)


def _found(setting: Setting, style_by_name: Styles, axis: str, *, is_by_message: bool) -> Figure:
    rows = _pattern_rows(setting, is_by_message=is_by_message)
    searched = {row["pattern"] for row in rows}
    names = {p.name: p.name.replace("_", " ") for p in PATTERNS if p.name in searched}
    counted = {row["pattern"] for row in rows if row["count"] != "0"}
    never = [label for name, label in names.items() if name not in counted]
    if counted:  # what nobody does is named, and has no empty line
        rows = [row for row in rows if row["pattern"] in counted]
    shown = {name: label for name, label in names.items() if name in counted or not counted}
    series = _series(rows, "pattern", shown)
    said = [_said(series, list(shown.values()), axis.lower())] if counted else []
    said += [f"Never found: {', '.join(never)}."] if never else []
    return Figure(
        says=" ".join(filter(None, said)),
        finding=_commonest(rows, shown),
        measured=("rate",),
        named="pattern",
        titles=names,
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


def _commonest(rows: Sequence[Row], shown: Mapping[str, str]) -> str:
    """Return the pattern that was found most often, and in whose messages or games."""
    if not rows:
        return ""
    rates = {f"{row['pattern']} {row['team']}": row["rate"] for row in rows}
    most, rate = finding.most(rates)
    if rate == 0:
        return "no pattern was found"
    pattern, _, _ = most[0].partition(" ")
    teams = [name.partition(" ")[2] for name in most if name.startswith(f"{pattern} ")]
    unit = next(row["unit"] for row in rows if row["pattern"] == pattern)
    often = "of messages" if unit == BY_MESSAGE else "times a game"
    who = f"{words.joined(teams)}, {words.number(rates[most[0]])} {often}"
    return f"{shown[pattern]} is the most frequent pattern (not tested): {who}"


def _pattern_rows(setting: Setting, *, is_by_message: bool) -> list[Row]:
    """Return the rates of patterns that are counted by message or not, with their intervals."""
    rates = {
        (row["team"], row["pattern"]): row
        for row in setting.rows("audit_pattern_rates.csv", player="")
    }
    return [
        {**row, **{end: rates.get((row["team"], row["pattern"]), {}).get(end, "") for end in ENDS}}
        for row in setting.rows("audit_patterns.csv", player="")
        if row["rate"] and (row["unit"] == BY_MESSAGE) is is_by_message
    ]
