"""The look that all figures share: one Plotly template, and titles in lines that fit a phone.

Backgrounds, lines and text take the page's colours when a figure is drawn (``figures.js``), so
that one figure serves light and dark pages.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calbench.report.figures.style import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

Drawn = dict[str, Any]
"""A figure or a part of it in the words of Plotly's JSON; a test reads all of them with Plotly."""

TITLE_WIDTH = 46
"""Characters of a line of an axis title that fit a phone [C]."""

LINE = 17
"""Height of a line of an axis title in pixels [C]."""

TEXT = 12
"""Size of text in pixels, at least [C]."""

TITLE = {"font": {"size": 13}}

AXIS = {"showgrid": True, "showline": True, "ticks": "outside", "zeroline": True}
TICKS = {"tickfont": {"size": TEXT}}

TEMPLATE: Drawn = {
    "layout": {
        "hovermode": "closest",
        "font": {"size": TEXT},
        "hoverlabel": {"font": {"size": TEXT}},
        "margin": {"l": 44, "r": 16},
        "showlegend": True,
        # Below the plot, over the whole width: beside or above it, it would squeeze a phone's plot.
        "legend": {
            "orientation": "h",
            "xref": "container",
            "x": 0.0,
            "xanchor": "left",
            "yref": "container",
            "y": 0.0,
            "yanchor": "bottom",
            "font": {"size": TEXT},
        },
        # The title of the vertical axis is flat above it: upright, a phone cuts it off.
        "title": {
            **TITLE,
            "x": 0.0,
            "xref": "container",
            "xanchor": "left",
            "y": 1.0,
            "yref": "container",
            "yanchor": "top",
            "pad": {"l": 6, "t": 4},
        },
        "xaxis": {**AXIS, **TICKS, "title": {**TITLE, "standoff": 8}},
        "yaxis": {**AXIS, **TICKS, "automargin": True},
    }
}
"""What a figure does not set itself; pages have it once, beside the figures' data."""


def trace(kind: str, **properties: Any) -> Drawn:
    """Return what is drawn of one kind: ``scatter``, ``bar`` or ``box``."""
    return {"type": kind, **properties}


def drawing(
    traces: Sequence[Drawn],
    x_title: str,
    y_title: str = "",
    *,
    width: int = TITLE_WIDTH,
    below_title: int = 0,
    right: int = 0,
    **layout: Any,
) -> Drawn:
    """Return a figure for the project's template.

    Its lower margin has room for ticks and title alone. What a legend below them takes depends on
    the screen, so the page's script adds it.

    Args:
        traces: what is drawn.
        x_title: of the horizontal axis.
        y_title: of the vertical axis.
        width: characters of a line of the horizontal axis' title.
        below_title: pixels between the vertical axis' title and the plot.
        right: pixels of the right margin, if not the template's.
        layout: what this figure sets beside the template.
    """
    across, upward = wrapped(x_title, width), wrapped(y_title)
    top = LINE * _lines(upward) if upward else 0
    layout["margin"] = {"t": 12 + top + below_title, "b": 34 + LINE * _lines(across)}
    if right:
        layout["margin"]["r"] = right
    layout["xaxis"] = {**layout.get("xaxis", {}), "title": {"text": across}}
    if upward:
        layout["title"] = {"text": upward}
    return {"data": list(traces), "layout": layout}


def checked(drawn: Drawn) -> "go.Figure":
    """Return a drawing as a figure of Plotly, which knows all its properties, in the template."""
    import plotly.graph_objects as go  # pages need none of it

    return go.Figure(drawn["data"], {"template": TEMPLATE, **drawn["layout"]})


def in_order(drawn: Any) -> Any:
    """Return a drawing with its names in order."""
    if isinstance(drawn, Mapping):
        return {name: in_order(drawn[name]) for name in sorted(drawn)}
    return [in_order(each) for each in drawn] if isinstance(drawn, list | tuple) else drawn


def wrapped(text: str, width: int = TITLE_WIDTH) -> str:
    """Return a title in lines that fit a phone."""
    lines = textwrap.wrap(text, width, break_on_hyphens=False)  # of a unit, or a team's name
    return "<br>".join(map(plain, lines))


def _lines(title: str) -> int:
    return 1 + title.count("<br>")
