"""How hard scenarios are, and what that does to schedules."""

from collections.abc import Mapping, Sequence

from calbench.report.experiment import Setting
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import SERIES, SYMBOLS, Drawn, Styles, drawing, plain, trace
from calbench.report.tables import Number, Row, grouped

TABLES = ("games_by_third.csv", "difficulty_effects.csv")

COLUMNS = ("setting", "third", "feasible_fraction")


def difficulties(
    fractions: Mapping[str, Mapping[str, Sequence[Number]]], sources: Sequence[str]
) -> Figure:
    """Return the feasible fractions of every scenario, by setting and tertile.

    Args:
        fractions: ``[setting][tertile]``, shares of feasible assignments.
        sources: tables that have them.
    """
    rows: list[Row] = [
        dict(zip(COLUMNS, (setting, tertile, fraction), strict=True))
        for setting, by_tertile in fractions.items()
        for tertile, own in by_tertile.items()
        for fraction in own
    ]
    smallest = min((row["feasible_fraction"] for row in rows), default=0.0)
    return Figure(
        key="difficulty",
        title="Feasible fraction of every scenario",
        measured=("feasible_fraction",),
        drawn=drawing(
            [_box(place, *found) for place, found in enumerate(fractions.items())],
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


def _box(place: int, setting: str, by_tertile: Mapping[str, Sequence[Number]]) -> Drawn:
    colour = SERIES[place % len(SERIES)]
    return trace(
        "box",
        x=[tertile for tertile, own in by_tertile.items() for _ in own],
        y=[float(fraction) for own in by_tertile.values() for fraction in own],
        name=plain(setting),
        boxpoints="all",
        jitter=0.4,
        pointpos=0,
        fillcolor="rgba(0,0,0,0)",
        line={"color": colour, "width": 1.5},
        marker={"color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 6},
    )


@section("difficulty", "thirds-excess", "Excess cost by difficulty", *TABLES)
def excess_by_third(setting: Setting, _looks: Styles) -> Figure:
    """Return the excess cost of games by team and third of difficulty."""
    axis = "Excess of a game in accounting cost"
    return _by_third(setting, "excess_cost", axis)


@section("difficulty", "thirds-placed", "Meetings placed by difficulty", *TABLES)
def placed_by_third(setting: Setting, _looks: Styles) -> Figure:
    """Return the share of meetings placed by team and third of difficulty."""
    axis = "Share of meetings that were placed"
    return _by_third(setting, "scheduled", axis, is_share=True)


def _by_third(setting: Setting, column: str, axis: str, *, is_share: bool = False) -> Figure:
    """Return a measure by team and third.

    The title names no team: what differs between so many of them is tested together, on the page.
    """
    every = setting.rows("games_by_third.csv")
    teams = {row["team"] for row in every}
    names = [row["team"] for row in setting.leaderboard if row["team"] in teams]
    rows = [{**row, "third": row["tertile"]} for row in every if row[column] is not None]
    series = [Series.of(third, own, column) for third, own in grouped(rows, "third").items()]
    return Figure(
        drawn=dots(names, series, axis, is_share=is_share),
        columns=columns_of("team", "third", "games", measures=(column,)),
        measured=(column,),
        rows=rows,
        height=height(len(names), 2, 36),
    )
