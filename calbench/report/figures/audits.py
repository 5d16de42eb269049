"""What messages in words gave away and how they went wrong (paper, appendices G.5 and H)."""

from collections.abc import Mapping, Sequence

from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, selected
from calbench.report.figures.style import Style
from calbench.report.figures.views import View, value
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


def _of_teams(view: View, table: str) -> list[Row]:
    return [row for row in view.rows(table) if not row["player"]]


def _series(rows: Sequence[Row], column: str, shown: Mapping[str, str]) -> list[Series]:
    """Return the rates of each team by what the column says."""
    return [
        Series(
            team,
            {
                shown[row[column]]: value(row, "rate")
                for row in rows
                if row["team"] == team and row["rate"] and row[column] in shown
            },
        )
        for team in dict.fromkeys(row["team"] for row in rows)
    ]


def _said(series: list[Series], what: Mapping[str, str], word: str) -> str:
    return " ".join(
        f"{name.capitalize()}: "
        + words.extremes(
            {each.name: each.values[name].cell for each in series if name in each.values}, word
        )
        for name in what.values()
    )


def own_slot(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return what teams tell of their own slots, as shares of messages (paper, G.5)."""
    return _rates(
        view, style_by_name, "own-slot", "audit_own_slot.csv", "label", LABELS, "count",
        "What messages tell of the speaker's own slots",
        "Measured by word rules, which miss some; the method page says how many.",
    )  # fmt: skip


def leaks(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return how many messages give a private label away, by its tier (paper, H)."""
    return _rates(
        view, style_by_name, "leaks", "audit_leaks.csv", "tier", TIERS, "leaking_messages",
        "Messages that give a private label away",
        "A message that gives away labels of several tiers counts in each.",
    )  # fmt: skip


def _rates(
    view: View,
    style_by_name: Mapping[str, Style],
    key: str,
    table: str,
    column: str,
    shown: Mapping[str, str],
    count: str,
    title: str,
    note: str,
) -> Figure:
    rows = [row for row in _of_teams(view, table) if row[column] in shown and row["rate"]]
    series = _series(rows, column, shown)
    columns = columns_of("team", column, "messages", count, measures=("rate",))
    return Figure(
        key=f"{key}-{view.key}",
        title=f"{title}, {view.title}",
        says=_said(series, shown, "share of messages"),
        drawn=dots(
            list(shown.values()),
            series,
            "Share of messages",
            style_by_name=style_by_name,
            is_share=True,
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source(table),),
        note=f"Bars are Wilson {view.confidence} intervals, which take messages as independent. "
        f"{note}",
        height=height(len(shown), 2, 14 + 14 * len(series)),
    )


BY_MESSAGE = "messages"
"""The unit of patterns whose rate is a share of messages; others are counted by game."""


def patterns(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return how often messages show each behaviour pattern (paper, Table 15)."""
    return _found(
        view, style_by_name, "patterns", "Behaviour patterns in messages", "Share of messages",
        "Patterns that are counted message by message; one message may show several. Bars are "
        f"Wilson {view.confidence} intervals, which take messages as independent.",
        is_by_message=True,
    )  # fmt: skip


def events(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return how often games show the patterns that are no messages (paper, Table 15)."""
    return _found(
        view, style_by_name, "events", "Behaviour patterns in events", "Times found in a game",
        "Patterns that are counted by move, round or meeting, as the table says, over the number "
        "of games.",
        is_by_message=False,
    )  # fmt: skip


ENDS = ("rate_low", "rate_high")
"""Of ``audit_pattern_rates.csv``: patterns that are no messages have none."""


def _found(
    view: View,
    style_by_name: Mapping[str, Style],
    key: str,
    title: str,
    axis: str,
    note: str,
    *,
    is_by_message: bool,
) -> Figure:
    found = [
        row
        for row in _of_teams(view, "audit_patterns.csv")
        if row["rate"] and (row["unit"] == BY_MESSAGE) is is_by_message
    ]
    order = [p.name for p in PATTERNS if any(row["pattern"] == p.name for row in found)]
    shown = {name: name.replace("_", " ") for name in order}
    shares = {(r["team"], r["pattern"]): r for r in _of_teams(view, "audit_pattern_rates.csv")}
    rows = [
        {**row, **{end: shares.get((row["team"], row["pattern"]), {}).get(end, "") for end in ENDS}}
        for row in found
    ]
    series = _series(rows, "pattern", shown)
    columns = columns_of(
        "team", "pattern", "level", "unit", "games", "messages", "count", measures=("rate",)
    )
    seen = {name: label for name, label in shown.items() if any(
        row["pattern"] == name and row["count"] != "0" for row in rows
    )}  # fmt: skip
    never = [label for name, label in shown.items() if name not in seen]
    return Figure(
        key=f"{key}-{view.key}",
        title=f"{title}, {view.title}",
        says=" ".join(
            part
            for part in (
                _said(series, seen, axis.lower()),
                f"Never found: {', '.join(never)}." if never else "",
            )
            if part
        ),
        drawn=dots(
            list(shown.values()),
            series,
            axis,
            style_by_name=style_by_name,
            is_share=is_by_message,
            is_close=True,
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("audit_patterns.csv"),),
        note=note,
        height=height(len(shown), 2, 18 + 8 * len(series)),
    )
