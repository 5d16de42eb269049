"""How hard scenarios are, and what that does to schedules."""

from collections.abc import Mapping, Sequence

from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, selected
from calbench.report.figures.style import (
    COLOURS,
    SYMBOLS,
    as_data,
    new_figure,
    plain,
    set_x_title,
    trace,
)
from calbench.report.figures.views import View, value
from calbench.report.tables import Row

QUANTITIES: Mapping[str, tuple[str, bool, str, str]] = {
    "excess": (
        "excess_cost",
        False,
        "Excess cost by difficulty",
        "Excess of a game in accounting cost",
    ),
    "placed": (
        "scheduled",
        True,
        "Meetings placed by difficulty",
        "Share of meetings that were placed",
    ),
}
"""Column of ``games_by_third.csv``, whether it is a share, title and axis."""


def difficulties(
    fractions: Mapping[str, Mapping[str, Sequence[str]]], sources: Sequence[str]
) -> Figure:
    """Return the feasible fractions of every scenario, by setting and tertile.

    Args:
        fractions: ``[setting][tertile]``, shares of feasible assignments.
        sources: tables that have them.
    """
    figure = new_figure("↑ Feasible fraction (less is harder)")
    rows = [
        {"setting": setting, "third": tertile, "feasible_fraction": cell}
        for setting, by_tertile in fractions.items()
        for tertile, cells in by_tertile.items()
        for cell in cells
    ]
    for place, setting in enumerate(fractions):
        own = [row for row in rows if row["setting"] == setting]
        colour = COLOURS[place % len(COLOURS)]
        figure.add_trace(
            trace(
                "box",
                x=[row["third"] for row in own],
                y=[float(row["feasible_fraction"]) for row in own],
                name=plain(setting),
                boxpoints="all",
                jitter=0.4,
                pointpos=0,
                fillcolor="rgba(0,0,0,0)",
                line={"color": colour, "width": 1.5},
                marker={"color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 6},
            )
        )
    smallest = min((float(row["feasible_fraction"]) for row in rows), default=0.0)
    figure.update_layout(boxmode="group")
    set_x_title(figure, "Third of the candidates")
    figure.update_xaxes(type="category")
    figure.update_yaxes(
        type="log" if smallest > 0 else "linear", exponentformat="power", automargin=True
    )
    return Figure(
        key="difficulty",
        title="Feasible fraction of every scenario",
        says=_says(rows),
        drawn=as_data(figure),
        columns=("setting", "third", "feasible_fraction"),
        rows=tuple(rows),
        sources=tuple(sources),
        note="A point a scenario; boxes show the quartiles."
        + (" The scale is logarithmic." if smallest > 0 else ""),
    )


def _says(rows: Sequence[Row]) -> str:
    said = ["Feasible fractions of scenarios by setting and third."]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        cells = sorted(
            (row["feasible_fraction"] for row in rows if row["setting"] == setting), key=float
        )
        said.append(
            f"{setting}: {len(cells)} scenarios from {words.number(cells[0])} to "
            f"{words.number(cells[-1])}."
        )
    return " ".join(said)


def by_third(view: View, quantity: str) -> Figure:
    """Return a measure of games by team and third of difficulty."""
    column, is_share, title, axis = QUANTITIES[quantity]
    found = [row for row in view.rows("games_by_third.csv") if row[column]]
    teams = {row["team"] for row in view.rows("games_by_third.csv")}
    names = [row["team"] for row in view.leaderboard if row["team"] in teams]
    series = [
        Series(third, {row["team"]: value(row, column) for row in found if row["tertile"] == third})
        for third in dict.fromkeys(row["tertile"] for row in found)
    ]
    columns = columns_of("team", "third", "games", measures=(column,))
    rows = [{**row, "third": row["tertile"]} for row in found]
    said = [
        f"{each.name}: {words.extremes({t: v.cell for t, v in each.values.items()}, axis.lower())}"
        for each in series
    ]
    return Figure(
        key=f"thirds-{quantity}-{view.key}",
        title=f"{title}, {view.title}",
        says=" ".join(said),
        drawn=dots(names, series, axis, is_share=is_share),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("games.csv"),),
        note=f"Means with {view.confidence} intervals over the scenarios of each third."
        + (
            ""
            if is_share
            else " Against the oracle on the meetings that were placed; all agents together."
        ),
        height=height(len(names), 2, 36),
    )
