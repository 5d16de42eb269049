"""How hard scenarios are, and what that does to schedules."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import COLOURS, SYMBOLS, Styles, plain
from calbench.report.figures.template import drawing
from calbench.report.setting import Setting

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
        drawn=drawing(
            [
                _box(place, setting, found)
                for place, (setting, found) in enumerate(fractions.items())
            ],
            "Third of the candidates",
            "↑ Feasible fraction (less is harder)",
            boxmode="group",
            xaxis={"type": "category"},
            yaxis={"type": "log" if smallest > 0 else "linear", "exponentformat": "power"},
        ),
        columns=COLUMNS,
        rows=rows,
        sources=sources,
    )


def _box(place: int, setting: str, by_tertile: Mapping[str, Sequence[str]]) -> go.Box:
    colour = COLOURS[place % len(COLOURS)]
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
            least, most = words.number(cells[0]), words.number(cells[-1])
            said.append(f"{setting}: {len(cells)} scenarios from {least} to {most}.")
    return " ".join(said)


@section("difficulty", "thirds-excess", "Excess cost by difficulty", "games_by_third.csv")
def excess_by_third(setting: Setting, _: Styles) -> Figure:
    """Return the excess cost of games by team and third of difficulty."""
    return _by_third(setting, "excess_cost", "Excess of a game in accounting cost")


@section("difficulty", "thirds-placed", "Meetings placed by difficulty", "games_by_third.csv")
def placed_by_third(setting: Setting, _: Styles) -> Figure:
    """Return the share of meetings that were placed, likewise."""
    return _by_third(setting, "scheduled", "Share of meetings that were placed", is_share=True)


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
        rows=rows,
        height=height(len(names), 2, 36),
    )
