"""Measures over the number of agents."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from calbench.report.figures import words
from calbench.report.figures.figure import Figure
from calbench.report.figures.lines import line
from calbench.report.figures.style import Style, Styles, Value, plain
from calbench.report.figures.template import drawing

Measured = tuple[int, str, str, str]
"""A number of agents with a value and the ends of its range."""

Lines = Mapping[str, Sequence[Measured]]
"""By team."""

COLUMNS = ("team", "agents", "value", "low", "high")


def curves(
    key: str,
    title: str,
    unit: str,
    lines: Lines,
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
        lines: what is drawn.
        style_by_team: how each team looks.
        sources: tables that the numbers are from.
        is_log: whether the measure's axis is logarithmic.
    """
    measured = unit.removeprefix(f"{title.lower()} ")
    sizes = sorted({agents for points in lines.values() for agents, *_ in points})
    return Figure(
        key=key,
        title=f"{title} over the number of agents",
        says=_says(title, lines),
        drawn=drawing(
            [
                _curve(team, points, style_by_team[team], place)
                for place, (team, points) in enumerate(lines.items())
            ],
            "Agents",
            f"{title} ({measured})" if unit else title,
            xaxis={"type": "log", "tickvals": sizes, "ticktext": [str(size) for size in sizes]},
            yaxis={"type": "log", "dtick": 1} if is_log else {"rangemode": "tozero"},
        ),
        columns=COLUMNS,
        rows=tuple(
            dict(zip(COLUMNS, (team, str(agents), *cells), strict=True))
            for team, points in lines.items()
            for agents, *cells in points
        ),
        sources=tuple(sources),
        note="Lines only guide the eye between the sizes.",
    )


def _curve(team: str, points: Sequence[Measured], style: Style, place: int) -> go.Scatter:
    return line(
        team,
        [Value(*cells) for _, *cells in points],
        style,
        place,
        thick=2,
        x=[agents for agents, *_ in points],
        marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        hovertemplate=f"{plain(team)}, %{{x}} agents: %{{y}}<extra></extra>",
    )


def _says(title: str, lines: Lines) -> str:
    said = [f"{title} of {len(lines)} teams, a curve each."]
    for pick, word in ((min, "fewest"), (max, "most")):
        sizes = {agents for points in lines.values() for agents, *_ in points}
        if sizes:
            size = pick(sizes)
            cells = {t: p[1] for t, points in lines.items() for p in points if p[0] == size}
            said.append(f"With the {word} agents, {size}: {words.extremes(cells, title.lower())}")
    return " ".join(said)
