"""The look that all figures share, and that of teams: a colour by kind and a shape of their own.

One Plotly template serves all, with titles in lines that fit a phone. Backgrounds, lines and text
take the page's colours when a figure is drawn (``figures.js``), so that one figure serves light and
dark pages.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calbench.report.columns import NO_INTERVAL
from calbench.report.kind import Kind
from calbench.report.tables import Row

if TYPE_CHECKING:
    import plotly.graph_objects as go

SERIES = ("#128799", "#cf4560", "#75871c", "#a254c6", "#64819b")
"""Colours of what is no player: segments of bars, thirds, settings, swept lines. At least 3:1 on
light and on dark pages, and none of a kind of player [C]."""

FRONT = "#cf4560"
"""Of the Pareto front."""

SYMBOLS = (
    "circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down", "hexagon",
    "cross", "pentagon", "bowtie", "hexagram", "star-square", "triangle-left", "diamond-tall",
    "star-triangle-up", "octagon", "triangle-right", "diamond-wide", "hourglass",
    "star-triangle-down", "star-diamond", "triangle-ne", "triangle-se", "triangle-sw",
    "triangle-nw",
)  # fmt: skip
"""Of the teams of one kind, in their order."""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")

PATTERNS = ("", "/", ".", "x", "-", "\\", "+")
"""Of bars, beside their colour."""

QUIET = "#8c8c8c"
"""Readable on both pages: leaders, and ranges that are no interval."""

SWEPT = ("theta", "lmax", "w")
"""Settings of DSM that are swept; each has a line on the plane."""


@dataclass(frozen=True, slots=True)
class Style:
    """How one team, or one series of numbers, looks in every figure."""

    colour: str
    symbol: str


Styles = Mapping[str, Style]
"""How each team, player or line looks, by name."""


def styles(kind_by_name: Mapping[str, Kind]) -> dict[str, Style]:
    """Give each team and player the colour of its kind, and a shape by its place among these."""
    placed: dict[Kind, int] = {}
    found = {}
    for name, kind in kind_by_name.items():
        place = placed[kind] = placed.get(kind, -1) + 1
        found[name] = Style(kind.colour, SYMBOLS[place % len(SYMBOLS)])
    return found


def series_styles(names: Sequence[str]) -> dict[str, Style]:
    """Give each of what is no player a colour and a shape, by its place in the list."""
    return {
        name: Style(SERIES[place % len(SERIES)], SYMBOLS[place % len(SYMBOLS)])
        for place, name in enumerate(names)
    }


@dataclass(frozen=True, slots=True)
class Value:
    """A number of a table with the ends of its interval, where it has one.

    ``kind`` is what the table says of the interval, such as why there is none.
    """

    number: float
    low: float | None = None
    high: float | None = None
    kind: str = ""

    @classmethod
    def of(cls, row: Row, measure: str) -> "Value":
        """Return a measure of a row."""
        ends = row[f"{measure}_low"], row[f"{measure}_high"]
        return cls(row[measure], *ends, row.get(f"{measure}_interval", ""))

    @property
    def why(self) -> str:
        """Why it has no interval, in words and behind a comma; empty if it has one."""
        return f", {NO_INTERVAL[self.kind]}" if self.kind in NO_INTERVAL else ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval, if there is one."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def reach(self) -> tuple[float, float]:
        """The range that an axis must show: the interval, or the number alone."""
        return self.ends or (self.number, self.number)


def error_bars(
    values: Sequence[Value],
    colour: str,
    thickness: float = 1.5,
    at: Callable[[float], float] = float,
) -> dict[str, Any]:
    """Return intervals as error bars; no bar where a value has none.

    Args:
        values: what has intervals.
        colour: of the bars.
        thickness: of the bars, in pixels.
        at: where a number is on the axis.
    """
    bars = [_lengths(value, at) for value in values]
    return {
        "type": "data",
        "symmetric": False,
        "array": [upward for _, upward in bars],
        "arrayminus": [downward for downward, _ in bars],
        "color": colour,
        "thickness": thickness,
        "width": 3,
    }


def _lengths(value: Value, at: Callable[[float], float]) -> tuple[float | None, float | None]:
    """Return how far the bar of a value reaches to either side; nothing draws no bar."""
    if value.ends is None:
        return None, None
    low, middle, high = (at(each) for each in (value.ends[0], value.number, value.ends[1]))
    return round(middle - low, 10), round(high - middle, 10)


def plain(text: str) -> str:
    """Return text that Plotly shows as it is; it reads some tags of HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


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
