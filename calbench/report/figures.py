"""Figures as Plotly JSON: colours that the colour-blind can tell apart, and shapes as well.

Backgrounds, lines and text take the page's colours when the figure is drawn, so that one
figure serves light and dark pages.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from calbench.report.frontier import Line
from calbench.report.results import Row

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Okabe and Ito's palette, without black and yellow, which one of the two modes would hide."""

SYMBOLS = (
    "circle", "square", "diamond", "triangle-up", "x", "star",
    "triangle-down", "hexagon", "cross", "pentagon", "bowtie",
)  # fmt: skip
"""As many as share no factor with the number of colours, so that 77 pairs differ."""

MARGIN = {"l": 60, "r": 20, "t": 20, "b": 50}

LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0.0}

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")

ADJUSTED_COST = "adjusted_excess_cost"


@dataclass(frozen=True, slots=True)
class Style:
    """How one team looks in every figure."""

    colour: str
    symbol: str


def styles(teams: Sequence[str]) -> dict[str, Style]:
    """Give each team a colour and a shape, by its place in the list."""
    return {
        team: Style(COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)])
        for place, team in enumerate(teams)
    }


TYPED = "protocol"

VPS_KIND_NAMES: Mapping[str, str] = {
    "protocol": "typed messages",
    "reflection": "reflections",
    "mixed": "both ways",
    "": "not measured",
}
"""How VPS was measured, by what tables say."""


def plane(
    rows: Sequence[Row], style_by_team: Mapping[str, Style], lines: Sequence[Line] = ()
) -> dict[str, Any]:
    """Return the cost-privacy plane of one setting (paper, Figure 2).

    Where VPS was not measured by typed messages alone, the axis or, if there are several ways,
    every name says how; points whose VPS rests on reflections are then open.

    Args:
        rows: the setting's rows of the leaderboard; a team without both measures is left out.
        style_by_team: how each team looks, and each line.
        lines: teams that differ in one setting, joined in its order.
    """
    figure = go.Figure(layout={"template": "none", "margin": MARGIN})
    rows = [row for row in rows if row["excess_vps"] and row[ADJUSTED_COST]]
    kinds = dict.fromkeys(row["vps_kind"] for row in rows)
    for row in rows:
        style = style_by_team[row["team"]]
        is_open = len(kinds) > 1 and row["vps_kind"] != TYPED
        figure.add_trace(
            go.Scatter(
                x=[float(row["excess_vps"])],
                y=[float(row["adjusted_excess_cost"])],
                error_x=_error(row, "excess_vps", style),
                error_y=_error(row, "adjusted_excess_cost", style),
                name=row["team"]
                + (f", {VPS_KIND_NAMES[row['vps_kind']]}" if len(kinds) > 1 else ""),
                mode="markers",
                marker={
                    "color": style.colour,
                    "symbol": f"{style.symbol}-open" if is_open else style.symbol,
                    "size": 13,
                },
                hovertemplate="excess VPS %{x}<br>adjusted excess cost %{y}",
            )
        )
    for place, line in enumerate(lines):
        figure.add_trace(_line(line, style_by_team[line.key], DASHES[place % len(DASHES)]))
    figure.update_layout(
        legend=LEGEND,
        showlegend=True,
        hovermode="closest",
    )
    drawn = [*rows, *(row for line in lines for _, row in line.points)]
    by = (
        f" by {VPS_KIND_NAMES[next(iter(kinds))]}" if len(kinds) == 1 and TYPED not in kinds else ""
    )
    furthest = max([float(row["excess_vps_high"] or row["excess_vps"] or 0) for row in drawn] + [1])
    figure.update_xaxes(
        title=f"Excess VPS{by} (slot-equivalents, less is more private)",
        # Points at zero, where silence stands, need room on their left.
        range=[-0.05 * furthest, 1.08 * furthest],
        zeroline=True,
    )
    figure.update_yaxes(
        title="Adjusted excess cost per meeting (less is better)", rangemode="tozero"
    )
    return _plain(figure)


def _error(row: Row, measure: str, style: Style) -> dict[str, Any]:
    """Return the interval as error bars; none where the table has none."""
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    if not low or not high:
        return {"visible": False}
    value = float(row[measure])
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(float(high) - value, 10)],
        "arrayminus": [round(value - float(low), 10)],
        "color": style.colour,
        "thickness": 1.5,
    }


def _line(line: Line, style: Style, dash: str) -> go.Scatter:
    points = [
        (label, row) for label, row in line.points if row["excess_vps"] and row[ADJUSTED_COST]
    ]
    rows = [row for _, row in points]
    return go.Scatter(
        x=[float(row["excess_vps"]) for row in rows],
        y=[float(row[ADJUSTED_COST]) for row in rows],
        error_x=_errors(_intervals(rows, "excess_vps"), style),
        error_y=_errors(_intervals(rows, ADJUSTED_COST), style),
        name=line.name,
        text=[label for label, _ in points],
        mode="lines+markers",
        line={"color": style.colour, "width": 1.5, "dash": dash},
        marker={"color": style.colour, "symbol": f"{style.symbol}-open", "size": 9},
        hovertemplate="%{text}<br>excess VPS %{x}<br>adjusted excess cost %{y}",
    )


def _intervals(rows: Sequence[Row], measure: str) -> list[tuple[str, str, str]]:
    return [(row[measure], row[f"{measure}_low"], row[f"{measure}_high"]) for row in rows]


def _errors(intervals: Sequence[tuple[str, str, str]], style: Style) -> dict[str, Any]:
    """Return the intervals of several points as error bars; no bar where the table has none."""
    ends = [
        (
            round(float(high or value) - float(value), 10),
            round(float(value) - float(low or value), 10),
        )
        for value, low, high in intervals
    ]
    return {
        "type": "data",
        "symmetric": False,
        "array": [above for above, _ in ends],
        "arrayminus": [below for _, below in ends],
        "color": style.colour,
        "thickness": 1,
    }


def curves(
    lines: Mapping[str, Sequence[tuple[int, str, str, str]]],
    style_by_team: Mapping[str, Style],
    title: str,
    *,
    is_log: bool = False,
) -> dict[str, Any]:
    """Return one measure over the number of agents, a curve for each team.

    Args:
        lines: by team, number of agents with a value and the ends of its range.
        style_by_team: how each team looks.
        title: of the measure's axis.
        is_log: whether that axis is logarithmic.
    """
    figure = go.Figure(layout={"template": "none", "margin": MARGIN})
    for place, (team, points) in enumerate(lines.items()):
        style = style_by_team[team]
        figure.add_trace(
            go.Scatter(
                x=[agents for agents, *_ in points],
                y=[float(value) for _, value, _, _ in points],
                error_y=_errors([point[1:] for point in points], style),
                name=team,
                mode="lines+markers",
                line={"color": style.colour, "width": 2, "dash": DASHES[place % len(DASHES)]},
                marker={"color": style.colour, "symbol": style.symbol, "size": 10},
                hovertemplate="%{x} agents: %{y}",
            )
        )
    sizes = sorted({agents for points in lines.values() for agents, *_ in points})
    figure.update_layout(legend=LEGEND, showlegend=True, hovermode="closest")
    figure.update_xaxes(
        title="Agents", type="log", tickvals=sizes, ticktext=[str(n) for n in sizes]
    )
    scale = {"type": "log", "dtick": 1} if is_log else {"rangemode": "tozero"}
    figure.update_yaxes(title=title, **scale)
    return _plain(figure)


def difficulties(fractions: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, Any]:
    """Return the feasible fractions of every scenario, by setting and tertile.

    Args:
        fractions: ``[setting][tertile]``, shares of feasible assignments.
    """
    figure = go.Figure(layout={"template": "none", "margin": MARGIN, "boxmode": "group"})
    for place, (setting, by_tertile) in enumerate(fractions.items()):
        figure.add_trace(
            go.Box(
                x=[tertile for tertile, values in by_tertile.items() for _ in values],
                y=[value for values in by_tertile.values() for value in values],
                name=setting,
                boxpoints="all",
                jitter=0.4,
                pointpos=0,
                fillcolor="rgba(0,0,0,0)",
                line={"color": COLOURS[place % len(COLOURS)], "width": 1.5},
                marker={
                    "color": COLOURS[place % len(COLOURS)],
                    "symbol": SYMBOLS[place % len(SYMBOLS)],
                    "size": 6,
                },
            )
        )
    smallest = min(
        (value for each in fractions.values() for values in each.values() for value in values),
        default=0.0,
    )
    figure.update_layout(
        legend=LEGEND,
        showlegend=True,
    )
    figure.update_xaxes(title="Third of the candidates", type="category")
    figure.update_yaxes(
        title="Feasible fraction (less is harder)",
        type="log" if smallest > 0 else "linear",
        exponentformat="power",
    )
    return _plain(figure)


def _plain(figure: go.Figure) -> dict[str, Any]:
    """Return the figure as data; ``to_json`` orders and rounds the same way every time."""
    data: dict[str, Any] = json.loads(figure.to_json())
    return data
