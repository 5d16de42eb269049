"""Points on a plane with intervals both ways, each with its name beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import plotly.graph_objects as go

from calbench.report.figures.labels import MARKER, Box, offsets
from calbench.report.figures.lines import line
from calbench.report.figures.style import Style, Value, error_bars, plain
from calbench.report.figures.template import drawing

PHONE = (300.0, 330.0)
"""Width and height in pixels of the plot on a phone, where names have to find room [C]."""

HEIGHT = 460
"""Of the whole figure."""

TICKS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
"""Of an axis of log(1 + x)."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point with its name beside it; of an open one only the outline is drawn."""

    name: str
    x: Value
    y: Value
    style: Style
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """Points joined by a line, which the legend names; they have no names beside them."""

    name: str
    points: tuple[Point, ...]
    style: Style


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Attributes:
        title: with its unit.
        short: the quantity alone.
        is_log1p: whether equal steps are equal factors of one more than the number.
    """

    title: str
    short: str
    is_log1p: bool = False

    def at(self, number: float) -> float:
        """Return where a number is on the axis."""
        return round(log10(1 + max(number, 0.0)), 6) if self.is_log1p else number


def scatter(
    points: Sequence[Point],
    across: Axis,
    upward: Axis,
    paths: Sequence[Path] = (),
) -> go.Figure:
    """Return points with names, intervals, and lines behind them.

    Args:
        points: what to show.
        across: the horizontal axis.
        upward: the vertical axis.
        paths: the lines.
    """
    every = [*points, *(point for path in paths for point in path.points)]
    spans = (
        _span([across.at(end) for point in every for end in point.x.reach]),
        _span([end for point in every for end in point.y.reach]),
    )
    return drawing(
        [
            *(_path(path, across, place) for place, path in enumerate(paths)),
            *(_point(point, across, upward) for point in points),
        ],
        across.title,
        upward.title,
        showlegend=bool(paths),
        annotations=_names(points, paths, Frame(across, *spans)),
        xaxis={"range": list(spans[0]), **_ticks(across, spans[0])},
        yaxis={"range": list(spans[1])},
    )


def _point(point: Point, across: Axis, upward: Axis) -> go.Scatter:
    style = point.style
    return go.Scatter(
        x=[across.at(point.x.number)],
        y=[point.y.number],
        error_x=error_bars([point.x], style.colour, at=across.at),
        error_y=error_bars([point.y], style.colour),
        name=plain(point.name),
        mode="markers",
        showlegend=False,
        marker={
            "color": style.colour,
            "symbol": f"{style.symbol}-open" if point.is_open else style.symbol,
            "size": 12,
            "line": {"width": 2 if point.is_open else 0},
        },
        customdata=[point.x.number],
        hovertemplate=(
            f"{plain(point.name)}<br>{across.short} %{{customdata}}{point.x.why}"
            f"<br>{upward.short} %{{y}}{point.y.why}<extra></extra>"
        ),
    )


def _path(path: Path, across: Axis, place: int) -> go.Scatter:
    xs, colour = [point.x for point in path.points], path.style.colour
    return line(
        path.name,
        [point.y for point in path.points],
        path.style,
        place,
        x=[across.at(x.number) for x in xs],
        error_x=error_bars(xs, colour, thickness=1, at=across.at),
        text=[plain(point.name) for point in path.points],
        marker={"color": colour, "symbol": f"{path.style.symbol}-open", "size": 7},
        customdata=[x.number for x in xs],
        hovertemplate=f"%{{text}}<br>{across.short} %{{customdata}}<br>cost %{{y}}<extra></extra>",
    )


def _span(ends: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis, with room for markers at zero and names at the far end."""
    least, most = min([0.0, *ends]), max([0.0, *ends]) or 1.0
    room = most - least
    return round(least - 0.07 * room, 4), round(most + 0.1 * room, 4)


def _ticks(axis: Axis, span: tuple[float, float]) -> dict[str, Any]:
    if not axis.is_log1p:
        return {}
    ticks = [tick for tick in TICKS if axis.at(tick) <= span[1]]
    return {"tickvals": [axis.at(tick) for tick in ticks], "ticktext": [str(t) for t in ticks]}


@dataclass(frozen=True, slots=True)
class Frame:
    """The plot on a phone, where names have to find room."""

    across: Axis
    x_span: tuple[float, float]
    y_span: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is, in pixels from the upper left corner."""
        (left, right), (low, high) = self.x_span, self.y_span
        return (
            (self.across.at(x) - left) / (right - left) * PHONE[0],
            (high - y) / (high - low) * PHONE[1],
        )

    def bars(self, point: Point) -> list[Box]:
        """Return the intervals of a point."""
        x, y = self.at(point.x.number, point.y.number)
        left, right = (self.at(end, point.y.number)[0] for end in point.x.reach)
        low, high = (self.at(point.x.number, end)[1] for end in point.y.reach)
        return [
            Box((left + right) / 2, y, right - left + 3, 4),
            Box(x, (low + high) / 2, 4, low - high + 3),
        ]


def _names(points: Sequence[Point], paths: Sequence[Path], frame: Frame) -> list[dict[str, Any]]:
    """Return the names beside the points as annotations, placed for a phone."""
    places = [frame.at(point.x.number, point.y.number) for point in points]
    obstacles = [
        *(Box(x, y, MARKER, MARKER) for x, y in places),
        *(bar for point in points for bar in frame.bars(point)),
        *(Box(*frame.at(p.x.number, p.y.number), 9, 9) for path in paths for p in path.points),
    ]
    moved = offsets(places, [point.name for point in points], obstacles, PHONE)
    return [
        {
            "x": frame.across.at(point.x.number),
            "y": point.y.number,
            "ax": round(right, 1),
            "ay": round(down, 1),
            "text": plain(point.name),
            "font": {"size": 11},
            "showarrow": True,
            "arrowhead": 0,
            "arrowwidth": 0.8,
            "arrowcolor": point.style.colour,
            "standoff": 7,
            "borderpad": 0,
        }
        for point, (right, down) in zip(points, moved, strict=True)
    ]
