"""How teams look in figures: the colour of their kind and a shape of their own; and all else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calbench.report.columns import NO_INTERVAL
from calbench.report.kind import Kind
from calbench.report.tables import Row

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
