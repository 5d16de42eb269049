"""Measures over the number of agents."""

from collections.abc import Sequence

import plotly.graph_objects as go

from calbench.report.figures import words
from calbench.report.figures.figure import Figure
from calbench.report.figures.lines import line
from calbench.report.figures.style import Style, Styles, Value, plain
from calbench.report.figures.template import drawing
from calbench.report.tables import Row

COLUMNS = ("team", "agents", "value", "low", "high")
"""Of a row: a team's value with the ends of its range, by the number of agents."""


def over_agents(
    key: str,
    title: str,
    unit: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    *,
    is_log: bool = False,
) -> Figure:
    """Return one measure over the number of agents, a curve for each team.

    Args:
        key: of the figure.
        title: of the measure.
        unit: of the measure.
        rows: what is drawn, with :data:`COLUMNS`; each team's from the fewest agents up.
        style_by_team: how each team looks.
        sources: tables that the numbers are from.
        is_log: whether the measure's axis is logarithmic.
    """
    measured = unit.removeprefix(f"{title.lower()} ")
    sizes = sorted({int(row["agents"]) for row in rows})
    teams = list(dict.fromkeys(row["team"] for row in rows))
    said = [f"{title} of {len(teams)} teams, a curve each."]
    for size, word in zip(sizes[:1] + sizes[-1:], ("fewest", "most"), strict=False):
        cells = {row["team"]: row["value"] for row in rows if int(row["agents"]) == size}
        said.append(f"With the {word} agents, {size}: {words.extremes(cells, title.lower())}")
    return Figure(
        key=key,
        title=f"{title} over the number of agents",
        says=" ".join(said),
        drawn=drawing(
            [
                _curve([row for row in rows if row["team"] == team], style_by_team[team], place)
                for place, team in enumerate(teams)
            ],
            "Agents",
            f"{title} ({measured})" if unit else title,
            xaxis={"type": "log", "tickvals": sizes, "ticktext": [str(size) for size in sizes]},
            yaxis={"type": "log", "dtick": 1} if is_log else {"rangemode": "tozero"},
        ),
        columns=COLUMNS,
        rows=rows,
        sources=sources,
    )


def _curve(rows: Sequence[Row], style: Style, place: int) -> go.Scatter:
    team = rows[0]["team"]
    return line(
        team,
        [Value(row["value"], row["low"], row["high"]) for row in rows],
        style,
        place,
        thick=2,
        x=[int(row["agents"]) for row in rows],
        marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        hovertemplate=f"{plain(team)}, %{{x}} agents: %{{y}}<extra></extra>",
    )
