"""Lines between points: over a whole number in panels, or over the number of agents."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from calbench.report.figures.style import DASHES, Style, Styles, Value, error_bars, plain
from calbench.report.figures.template import drawing

GAP = 0.12
"""Between panels, as a share of the plot's height [C]."""

Panel = Mapping[str, Mapping[int, Value]]
"""``[name][number]``."""


def line(
    name: str, values: Sequence[Value], style: Style, place: int, *, thick: float = 1.5, **more: Any
) -> go.Scatter:
    """Return points of one name with intervals upward, joined by a line.

    Args:
        name: in the legend.
        values: upward.
        style: its colour and shape.
        place: among the names; dashes follow it.
        thick: of the line, in pixels.
        more: properties of Plotly.
    """
    return go.Scatter(
        y=[value.number for value in values],
        error_y=error_bars(values, style.colour, thickness=1),
        name=plain(name),
        mode="lines+markers",
        line={"color": style.colour, "width": thick, "dash": DASHES[place % len(DASHES)]},
        **more,
    )


def lines(
    panels: Mapping[str, Panel], style_by_name: Styles, title: str, y_title: str
) -> go.Figure:
    """Return lines over a whole number, in panels below each other.

    Points of several names are a little apart, so that their intervals can be distinguished.

    Args:
        panels: by title.
        style_by_name: how each name looks; dashes follow the order of the names.
        title: of the horizontal axis.
        y_title: of the vertical axes.
    """
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    first: dict[str, int] = {}
    for row, panel in enumerate(panels.values()):
        first = {**dict.fromkeys(panel, row), **first}
    traces = [
        _line(name, found, style_by_name[name], names, _axis(row), is_named=first[name] == row)
        for row, panel in enumerate(panels.values())
        for name, found in panel.items()
    ]
    numbers = sorted({at for panel in panels.values() for found in panel.values() for at in found})
    return drawing(
        traces,
        title,
        y_title,
        below_title=18 if len(panels) > 1 else 0,
        xaxis={"tickvals": numbers, "zeroline": False, "anchor": _axis(max(len(panels) - 1, 0))},
        **_panels(list(panels)),
    )


def _axis(row: int) -> str:
    return "y" if row == 0 else f"y{row + 1}"


def _panels(titles: Sequence[str]) -> dict[str, Any]:
    """Return the vertical axes of panels below each other, with their titles above them."""
    gap = GAP if len(titles) > 1 else 0.0
    tall = (1 - gap * (len(titles) - 1)) / max(len(titles), 1)
    tops = [1 - row * (tall + gap) for row in range(len(titles))]
    layout: dict[str, Any] = {
        f"yaxis{_axis(row)[1:]}": {
            "domain": [round(max(0.0, top - tall), 4), round(top, 4)],
            "rangemode": "tozero",
        }
        for row, top in enumerate(tops)
    }
    if len(titles) > 1:
        layout["annotations"] = [
            {
                "text": plain(title), "x": 0, "xref": "paper", "xanchor": "left", "xshift": 6,
                "y": round(top, 4), "yref": "paper", "yanchor": "bottom", "showarrow": False,
                "font": {"size": 12},
            }
            for title, top in zip(titles, tops, strict=True)
        ]  # fmt: skip
    return layout


def _line(
    name: str,
    found: Mapping[int, Value],
    style: Style,
    names: Sequence[str],
    axis: str,
    *,
    is_named: bool,
) -> go.Scatter:
    place = names.index(name)
    shift = (place - (len(names) - 1) / 2) * 0.5 / max(len(names), 4)
    return line(
        name,
        list(found.values()),
        style,
        place,
        x=[round(at + shift, 4) for at in found],
        legendgroup=plain(name),
        marker={"color": style.colour, "symbol": style.symbol, "size": 8},
        customdata=list(found),
        hovertemplate=f"{plain(name)}, %{{customdata}}: %{{y}}<extra></extra>",
        yaxis=axis,
        showlegend=is_named,
    )
