"""Measures over the number of agents."""

from collections.abc import Mapping, Sequence
from math import log10

import plotly.graph_objects as go

from calbench.report.columns import DIGITS
from calbench.report.figures import words
from calbench.report.figures.figure import Figure
from calbench.report.figures.finding import competing, spread
from calbench.report.figures.lines import OTHERS, ends, line, room
from calbench.report.figures.style import Style, Styles, Value, plain
from calbench.report.figures.template import drawing
from calbench.report.tables import Row

HEIGHT = 420
"""Of a figure in pixels, without what it says itself."""

ENDS = ("value", "low", "high")

COLUMNS = ("team", "agents", "scenarios", "value", "low", "high")
"""Of a row: a team's value with the ends of its range, by the number of agents, and of how many
scenarios it is the mean."""


def over_agents(
    key: str,
    title: str,
    unit: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    *,
    is_log: bool = False,
    digits: int = DIGITS,
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
        digits: decimals of the measure in words.
    """
    measured = unit.removeprefix(f"{title.lower()} ")
    sizes = sorted({int(row["agents"]) for row in rows})
    teams = list(dict.fromkeys(row["team"] for row in rows))
    said = [f"{title} of {len(teams)} teams, a curve each."]
    for size, word in zip(sizes[:1] + sizes[-1:], ("fewest", "most"), strict=False):
        cells = {row["team"]: row["value"] for row in rows if int(row["agents"]) == size}
        said.append(
            f"With the {word} agents, {size}: {words.extremes(cells, title.lower(), digits)}"
        )
    return Figure(
        key=key,
        finding=_finding(title, rows, style_by_team, digits),
        measured=("value",),
        title=f"{title} over the number of agents",
        says=" ".join(said),
        drawn=_drawing(
            rows, f"{title} ({measured})" if unit else title, style_by_team, is_log=is_log
        ),
        columns=COLUMNS,
        rows=rows,
        sources=sources,
    )


def _finding(title: str, rows: Sequence[Row], style_by_team: Styles, digits: int) -> str:
    """Return who is lowest and who highest with most agents, and of how many scenarios that is."""
    most = max((int(row["agents"]) for row in rows), default=0)
    last = [row for row in rows if int(row["agents"]) == most]
    values = {row["team"]: Value(row["value"]) for row in last}
    what = title[:1].lower() + title[1:]
    low = ("is lowest", "are lowest")
    found = spread(competing(values, style_by_team), what, low, "highest", digits)
    counts = " or ".join(sorted({row["scenarios"] for row in last}, key=int))
    few = f"mean of {counts} scenarios" if counts != "1" else "one scenario"
    return f"{title} with {most} agents ({few}, not tested): {found}" if found else ""


def _drawing(rows: Sequence[Row], y_title: str, looks: Styles, *, is_log: bool) -> go.Figure:
    """Return the curves, with the name of each at its end."""
    sizes = sorted({int(row["agents"]) for row in rows})
    curves: dict[str, list[Row]] = {}
    for row in rows:
        curves.setdefault(row["team"], []).append(row)
    span = _span([float(row[end] or row["value"]) for row in rows for end in ENDS], is_log=is_log)
    edges = list(zip((sizes[:1] or [1]) + (sizes[-1:] or [1]), (-0.06, 0.03), strict=True))
    written = ends(_last(curves, is_log=is_log), span, HEIGHT - OTHERS)
    return drawing(
        [_curve(own, looks[team], place) for place, (team, own) in enumerate(curves.items())],
        "Agents",
        y_title,
        xaxis={
            "type": "log",
            "range": [round(log10(size) + end, 4) for size, end in edges],
            "tickvals": sizes,
            "ticktext": [str(size) for size in sizes],
        },
        yaxis={"range": span, **({"type": "log", "dtick": 1} if is_log else {})},
        annotations=written,
        right=room(written),
        showlegend=False,
    )


def _last(curves: Mapping[str, Sequence[Row]], *, is_log: bool) -> dict[str, tuple[float, float]]:
    """Return where curves end; Plotly takes the logarithm of places on logarithmic axes."""
    found = {}
    for team, rows in curves.items():
        value = float(rows[-1]["value"])
        upward = log10(value) if is_log and value > 0 else value
        found[team] = (round(log10(int(rows[-1]["agents"])), 6), upward)
    return found


def _span(reached: Sequence[float], *, is_log: bool) -> list[float]:
    """Return the ends of the vertical axis: of its logarithms, or from zero."""
    if is_log:
        reached = [log10(each) for each in reached if each > 0]
        return [
            round(min(reached, default=0.0) - 0.1, 4),
            round(max(reached, default=1.0) + 0.1, 4),
        ]
    low, high = min([0.0, *reached]), max([0.0, *reached]) or 1.0
    return [round(low - 0.04 * (high - low), 6), round(high + 0.06 * (high - low), 6)]


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
