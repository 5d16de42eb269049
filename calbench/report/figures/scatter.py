"""Points on a plane with intervals both ways, each with its name beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from calbench.report.figures.labels import MARKER, Box, offsets
from calbench.report.figures.style import (
    DASHES,
    QUIET,
    Style,
    Value,
    as_data,
    new_figure,
    plain,
    set_x_title,
    trace,
)

PHONE = (300.0, 330.0)
"""Width and height in pixels of the plot on a phone, where names have to find room [C]."""

HEIGHT = 460
"""Of the whole figure."""

TICKS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
"""Of an axis of log(1 + x)."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point.

    Attributes:
        name: beside the point.
        x: across.
        y: upward.
        style: its colour and shape.
        is_open: whether only its outline is drawn.
    """

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
        """Return where a number stands on the axis."""
        return round(log10(1 + max(number, 0.0)), 6) if self.is_log1p else number


def scatter(
    points: Sequence[Point],
    across: Axis,
    upward: Axis,
    paths: Sequence[Path] = (),
    kinds: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return points with names, intervals, and lines behind them.

    Args:
        points: what to show.
        across: the horizontal axis.
        upward: the vertical axis.
        paths: the lines.
        kinds: what full and open points mean, if there are both.
    """
    figure = new_figure(upward.title)
    for place, path in enumerate(paths):
        figure.add_trace(_path(path, across, DASHES[place % len(DASHES)]))
    for point in points:
        figure.add_trace(_point(point, across, upward))
    spans = _spans([*points, *(p for path in paths for p in path.points)], across)
    for kind, symbol in zip(kinds or (), ("circle", "circle-open"), strict=False):
        marker = {"color": QUIET, "symbol": symbol, "size": 12, "line": {"width": 2}}
        figure.add_trace(
            trace("scatter", x=[None], y=[None], name=plain(kind), mode="markers", marker=marker)
        )
    figure.update_layout(
        showlegend=bool(paths or kinds), annotations=_names(points, paths, across, spans)
    )
    set_x_title(figure, across.title)
    figure.update_xaxes(range=list(spans[0]), zeroline=True, **_ticks(across, spans[0]))
    figure.update_yaxes(range=list(spans[1]), zeroline=True, automargin=True)
    return as_data(figure)


def _bars(values: Sequence[Value], axis: Axis, colour: str, thickness: float) -> dict[str, Any]:
    """Return intervals where they stand on an axis."""
    at = [(axis.at(v.number), axis.at(v.ends[0]), axis.at(v.ends[1])) for v in values]
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(high - middle, 10) for middle, _, high in at],
        "arrayminus": [round(middle - low, 10) for middle, low, _ in at],
        "color": colour,
        "thickness": thickness,
        "width": 3,
    }


def _point(point: Point, across: Axis, upward: Axis) -> dict[str, Any]:
    style = point.style
    return trace(
        "scatter",
        x=[across.at(point.x.number)],
        y=[point.y.number],
        error_x=_bars([point.x], across, style.colour, 1.5),
        error_y=_bars([point.y], upward, style.colour, 1.5),
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
            f"{plain(point.name)}<br>{across.short} %{{customdata}}"
            f"<br>{upward.short} %{{y}}<extra></extra>"
        ),
    )


def _path(path: Path, across: Axis, dash: str) -> dict[str, Any]:
    xs, ys = [p.x for p in path.points], [p.y for p in path.points]
    return trace(
        "scatter",
        x=[across.at(x.number) for x in xs],
        y=[y.number for y in ys],
        error_x=_bars(xs, across, path.style.colour, 1),
        error_y=_bars(ys, Axis("", ""), path.style.colour, 1),
        name=plain(path.name),
        text=[plain(p.name) for p in path.points],
        mode="lines+markers",
        line={"color": path.style.colour, "width": 1.5, "dash": dash},
        marker={"color": path.style.colour, "symbol": f"{path.style.symbol}-open", "size": 7},
        customdata=[x.number for x in xs],
        hovertemplate=f"%{{text}}<br>{across.short} %{{customdata}}<br>cost %{{y}}<extra></extra>",
    )


def _spans(points: Sequence[Point], across: Axis) -> tuple[tuple[float, float], ...]:
    """Return the ends of both axes, with room for markers at zero and names at the far end."""
    spans = []
    for ends in (
        [across.at(end) for p in points for end in p.x.ends],
        [end for p in points for end in p.y.ends],
    ):
        least, most = min([0.0, *ends]), max([0.0, *ends]) or 1.0
        room = most - least
        spans.append((round(least - 0.07 * room, 4), round(most + 0.1 * room, 4)))
    return tuple(spans)


def _ticks(axis: Axis, span: tuple[float, float]) -> dict[str, Any]:
    if not axis.is_log1p:
        return {}
    ticks = [tick for tick in TICKS if axis.at(tick) <= span[1]]
    return {"tickvals": [axis.at(tick) for tick in ticks], "ticktext": [str(t) for t in ticks]}


def _names(
    points: Sequence[Point],
    paths: Sequence[Path],
    across: Axis,
    spans: tuple[tuple[float, float], ...],
) -> list[Mapping[str, Any]]:
    """Return the names beside the points as annotations, placed for a phone."""

    def at(x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = spans
        return (
            (across.at(x) - left) / (right - left) * PHONE[0],
            (high - y) / (high - low) * PHONE[1],
        )

    places = [at(point.x.number, point.y.number) for point in points]
    obstacles = [Box(x, y, MARKER, MARKER) for x, y in places]
    for point in points:
        (x, y), (left, _), (right, _) = (
            at(point.x.number, point.y.number),
            *(at(end, point.y.number) for end in point.x.ends),
        )
        low, high = (at(point.x.number, end)[1] for end in point.y.ends)
        obstacles.append(Box((left + right) / 2, y, right - left + 3, 4))
        obstacles.append(Box(x, (low + high) / 2, 4, low - high + 3))
    for path in paths:
        obstacles += [Box(*at(p.x.number, p.y.number), 9, 9) for p in path.points]
    moved = offsets(places, [point.name for point in points], obstacles, PHONE)
    return [
        {
            "x": across.at(point.x.number),
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
