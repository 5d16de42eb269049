"""How hard scenarios are, and what that does to schedules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import plotly.graph_objects as go

from calbench.report.columns import decimal
from calbench.report.figures import finding, words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import SERIES, SYMBOLS, Styles, Value, plain
from calbench.report.figures.template import drawing
from calbench.report.setting import Setting
from calbench.report.tables import Row


class Ends(NamedTuple):
    """What titles say of a measure, of one team and of several.

    Attributes:
        column: of ``games_by_third.csv``.
        what: the measure in words.
        low: what those with the least of it do.
        worse: what those do who fare worse on harder scenarios.
        better: what the others do there.
    """

    column: str
    what: str
    low: tuple[str, str]
    worse: tuple[str, str]
    better: tuple[str, str]


ENDS: Mapping[str, Ends] = {
    "excess_cost": Ends(
        "excess_cost",
        "excess cost",
        ("pays least", "pay least"),
        ("pays more", "pay more"),
        ("pays less", "pay less"),
    ),
    "coordination": Ends(
        "scheduled",
        "share of meetings placed",
        ("places fewest meetings", "place fewest meetings"),
        ("places fewer meetings", "place fewer meetings"),
        ("places more meetings", "place more meetings"),
    ),
}
"""What titles say of a measure of ``difficulty_effects.csv``."""

TABLES = ("games_by_third.csv", "difficulty_effects.csv")

DIGITS = 5
"""Decimals of feasible fractions in words, as the page's table shows them."""

COLUMNS = ("setting", "third", "feasible_fraction")


def difficulties(
    fractions: Mapping[str, Mapping[str, Sequence[str]]], sources: Sequence[str]
) -> Figure:
    """Return the feasible fractions of every scenario, by setting and tertile.

    Args:
        fractions: ``[setting][tertile]``, shares of feasible assignments.
        sources: tables that have them.
    """
    rows = tuple(
        dict(zip(COLUMNS, (setting, tertile, cell), strict=True))
        for setting, by_tertile in fractions.items()
        for tertile, cells in by_tertile.items()
        for cell in cells
    )
    smallest = min((float(row["feasible_fraction"]) for row in rows), default=0.0)
    return Figure(
        key="difficulty",
        title="Feasible fraction of every scenario",
        says=_says(fractions),
        finding=_ends(rows),
        measured=("feasible_fraction",),
        named="third",
        drawn=drawing(
            [
                _box(place, setting, found)
                for place, (setting, found) in enumerate(fractions.items())
            ],
            "Third of the candidates",
            "↑ Feasible fraction (less is harder)",
            boxmode="group",
            xaxis={"type": "category"},
            yaxis={
                "type": "log" if smallest > 0 else "linear",
                "exponentformat": "none",
                "dtick": 1,
            },
        ),
        columns=COLUMNS,
        rows=rows,
        sources=sources,
    )


def _box(place: int, setting: str, by_tertile: Mapping[str, Sequence[str]]) -> go.Box:
    colour = SERIES[place % len(SERIES)]
    return go.Box(
        x=[tertile for tertile, cells in by_tertile.items() for _ in cells],
        y=[float(cell) for cells in by_tertile.values() for cell in cells],
        name=plain(setting),
        boxpoints="all",
        jitter=0.4,
        pointpos=0,
        fillcolor="rgba(0,0,0,0)",
        line={"color": colour, "width": 1.5},
        marker={"color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 6},
    )


def _says(fractions: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    said = ["Feasible fractions of scenarios by setting and third."]
    for setting, by_tertile in fractions.items():
        cells = sorted((cell for cells in by_tertile.values() for cell in cells), key=float)
        if cells:
            least, most = words.two(cells[0], cells[-1], DIGITS)
            said.append(f"{setting}: {len(cells)} scenarios from {least} to {most}.")
    return " ".join(said)


@section("difficulty", "thirds-excess", "Excess cost by difficulty", *TABLES)
def excess_by_third(setting: Setting, looks: Styles) -> Figure:
    """Return the excess cost of games by team and third of difficulty."""
    figure = _by_third(setting, "excess_cost", "Excess of a game in accounting cost")
    return replace(figure, finding=_goes(setting, figure, "excess_cost", looks))


@section("difficulty", "thirds-placed", "Meetings placed by difficulty", *TABLES)
def placed_by_third(setting: Setting, looks: Styles) -> Figure:
    """Return the share of meetings that were placed, likewise."""
    figure = _by_third(setting, "scheduled", "Share of meetings that were placed", is_share=True)
    return replace(figure, finding=_goes(setting, figure, "coordination", looks))


def _by_third(setting: Setting, column: str, axis: str, *, is_share: bool = False) -> Figure:
    every = setting.rows("games_by_third.csv")
    teams = {row["team"] for row in every}
    names = [row["team"] for row in setting.leaderboard if row["team"] in teams]
    rows = [{**row, "third": row["tertile"]} for row in every if row[column]]
    series = [
        Series.of(third, [row for row in rows if row["third"] == third], column)
        for third in dict.fromkeys(row["third"] for row in rows)
    ]
    return Figure(
        says=" ".join(
            f"{each.name}: {words.extremes(each.cells, axis.lower())}" for each in series
        ),
        drawn=dots(names, series, axis, is_share=is_share),
        columns=columns_of("team", "third", "games", measures=(column,)),
        measured=(column,),
        named="third",
        rows=rows,
        height=height(len(names), 2, 36),
    )


def _goes(setting: Setting, figure: Figure, measure: str, looks: Styles) -> str:
    """Return whose results go significantly with difficulty, by rank correlation.

    Where there is no correlation and a suite has no thirds, it says who fares best in all of it.
    """
    column, what, low, worse, better = ENDS[measure]
    drawn = {row["team"]: Value.of(row, column) for row in figure.rows}
    own = finding.competing(drawn, looks)
    rows = setting.rows("difficulty_effects.csv", measure=measure)
    known = [row for row in rows if row["p"] and row["team"] in own]
    if not known:
        is_whole = len({row["third"] for row in figure.rows}) < 2
        return finding.spread(own, what, low) if is_whole else ""
    level = setting.experiment.level
    clear = [row for row in known if decimal(row["p"]) < decimal(level)]
    if not clear:
        return f"nobody's {what} goes significantly with difficulty (p from {level} up)"
    said = []
    for does, is_worse in ((worse, True), (better, False)):
        names = [row["team"] for row in clear if (decimal(row["rho"]) > 0) is is_worse]
        if names:
            said.append(f"{words.joined(names)} {finding.verb(names, *does)}")
    return f"{', '.join(said)} on harder scenarios (p below {level} each, uncorrected)"


def _ends(rows: Sequence[Row]) -> str:
    """Return where the hardest and the easiest scenario are."""
    if not rows:
        return ""
    in_order = sorted(rows, key=lambda row: decimal(row["feasible_fraction"]))
    (least, most) = (
        f"{row['setting']} ({words.number(row['feasible_fraction'], DIGITS)})"
        for row in (in_order[0], in_order[-1])
    )
    return f"the hardest scenario is of {least}, the easiest of {most}"
