"""How figures look: colours that the colour-blind can tell apart, and shapes as well.

Backgrounds, lines and text take the page's colours when a figure is drawn, so that one
figure serves light and dark pages.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calbench.report.columns import decimal

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Okabe and Ito's palette, without black and yellow, which one of the two modes would hide."""

SYMBOLS = (
    "circle", "square", "diamond", "triangle-up", "x", "star",
    "triangle-down", "hexagon", "cross", "pentagon", "bowtie",
)  # fmt: skip
"""As many as share no factor with the number of colours, so that 77 pairs differ."""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")

PATTERNS = ("", "/", ".", "x", "-", "\\", "+")
"""Of bars, beside their colour."""

QUIET = "#8c8c8c"
"""Readable on both pages: leaders, and ranges that are no interval."""

SWEPT = ("theta", "lmax", "w")
"""Settings of DSM that are swept; each has a line on the plane."""

TITLE_WIDTH = 46
"""Characters of a line of an axis title that fit a phone [C]."""

LEGEND = {
    "orientation": "h",
    "xref": "container",
    "x": 0.0,
    "xanchor": "left",
    "yref": "container",
    "y": 0.0,
    "yanchor": "bottom",
    "font": {"size": 12},
}
"""Below the plot, over the whole width: beside or above it, it would squeeze a phone's plot."""


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


@dataclass(frozen=True, slots=True)
class Value:
    """A number of a table with the ends of its interval, as cells; empty ends are absent."""

    cell: str
    low: str = ""
    high: str = ""

    @property
    def number(self) -> float:
        """The number itself.

        Raises:
            FileError: the cell is not a number.
        """
        return float(decimal(self.cell))

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the number twice."""
        low, high = self.low or self.cell, self.high or self.cell
        return float(decimal(low)), float(decimal(high))


def error_bars(values: Sequence[Value], colour: str, *, thickness: float = 1.5) -> dict[str, Any]:
    """Return intervals as error bars; no bar where a value has none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(value.ends[1] - value.number, 10) for value in values],
        "arrayminus": [round(value.number - value.ends[0], 10) for value in values],
        "color": colour,
        "thickness": thickness,
        "width": 3,
    }


def plain(text: str) -> str:
    """Return text that Plotly shows as it is; it reads some tags of HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def wrapped(text: str, width: int = TITLE_WIDTH) -> str:
    """Return a title in lines that fit a phone."""
    return "<br>".join(plain(line) for line in textwrap.wrap(text, width))


def trace(kind: str, **properties: Any) -> dict[str, Any]:
    """Return a trace of one of Plotly's kinds."""
    return {"type": kind, **properties}


class Drawing:
    """A figure in the making, as Plotly reads it.

    Plotly's own classes check every property, which takes ten times as long as all the rest;
    tests have them check what is made here.
    """

    def __init__(self, layout: dict[str, Any]) -> None:
        self.layout = layout
        self.data: list[dict[str, Any]] = []

    def add_trace(self, made: dict[str, Any]) -> None:
        """Add a trace."""
        self.data.append(made)

    def add_annotation(self, **properties: Any) -> None:
        """Add a text."""
        self.layout.setdefault("annotations", []).append(properties)

    def update_layout(self, **properties: Any) -> None:
        """Set properties of the layout."""
        self.layout.update(properties)

    def update_xaxes(self, **properties: Any) -> None:
        """Set properties of the only horizontal axis."""
        self.layout.setdefault("xaxis", {}).update(properties)

    def update_yaxes(self, **properties: Any) -> None:
        """Set properties of the first vertical axis."""
        self.layout.setdefault("yaxis", {}).update(properties)


def new_figure(y_title: str = "", *, below_title: int = 0) -> Drawing:
    """Return an empty figure.

    The title of the vertical axis lies flat above it: set upright, a phone cuts it off.

    Args:
        y_title: that title.
        below_title: pixels between it and the plot.
    """
    title = wrapped(y_title)
    figure = Drawing(
        {
            "margin": {
                "l": 44,
                "r": 16,
                "t": 12 + 17 * (1 + title.count("<br>")) * bool(title) + below_title,
                "b": 40,
            },
            "legend": LEGEND,
            "showlegend": True,
            "hovermode": "closest",
        }
    )
    if title:
        figure.update_layout(
            title={
                "text": title,
                "font": {"size": 13},
                "x": 0.0,
                "xref": "container",
                "xanchor": "left",
                "y": 1.0,
                "yref": "container",
                "yanchor": "top",
                "pad": {"l": 6, "t": 4},
            }
        )
    return figure


def set_x_title(figure: Drawing, text: str, width: int = TITLE_WIDTH) -> None:
    """Set the title of the horizontal axis, in lines that fit a phone, and its room.

    The margin leaves room for ticks and title alone. What a legend below them takes depends on the
    screen, so the page's script adds it.
    """
    title = wrapped(text, width)
    figure.update_xaxes(title={"text": title, "font": {"size": 13}, "standoff": 8})
    figure.layout["margin"]["b"] = 34 + 17 * (1 + title.count("<br>"))


def as_data(figure: Drawing) -> dict[str, Any]:
    """Return the figure as data for Plotly."""
    return {"data": figure.data, "layout": figure.layout}
