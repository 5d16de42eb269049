"""Points on a plane with intervals both ways, each with its name beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10
from typing import Any

from calbench.report.figures.lines import line
from calbench.report.figures.style import (
    FRONT,
    QUIET,
    TEXT,
    Drawn,
    Style,
    Value,
    drawing,
    error_bars,
    plain,
    trace,
)
from calbench.report.labels import MARKER, Box, View, corners, offsets
from calbench.report.plane import FACTORS

FRONT_NAME = "Pareto front"

HEIGHT = 460
"""Of the whole figure, in pixels [C]."""

SCREENS = ((300.0, 330.0), (430.0, 330.0), (600.0, 330.0), (760.0, 330.0))
"""Width and height in pixels of plots on a phone, a tablet and laptops [C]."""

WIDEST = 18
"""Characters of a line of several names [C]."""

Place = tuple[float, float]
"""A point on its axes, in their own numbers."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with a name.

    Attributes:
        name: beside it.
        at: where it is.
        ends: of the intervals across and upward.
        colour: of the line to its name.
        size: of its marker in pixels.
    """

    name: str
    at: Place
    ends: tuple[tuple[float, float], tuple[float, float]]
    colour: str
    size: float = MARKER


@dataclass(frozen=True, slots=True)
class Frame:
    """A plot of some size, between the ends of its axes."""

    spans: tuple[tuple[float, float], tuple[float, float]]
    size: tuple[float, float]

    def pixels(self, at: Place) -> Place:
        """Return where a point is, in pixels from the upper left corner."""
        ((left, right), (low, high)), (x, y) = self.spans, at
        return (
            (x - left) / (right - left) * self.size[0],
            (high - y) / (high - low) * self.size[1],
        )

    def covered(self, mark: Mark) -> list[Box]:
        """Return what a marker and its intervals cover."""
        x, y = self.pixels(mark.at)
        (west, east), (low, high) = mark.ends
        left, right = (self.pixels((end, mark.at[1]))[0] for end in (west, east))
        bottom, top = (self.pixels((mark.at[0], end))[1] for end in (low, high))
        return [
            Box(x, y, mark.size, mark.size),
            Box((left + right) / 2, y, right - left + 3, 4),
            Box(x, (top + bottom) / 2, 4, bottom - top + 3),
        ]

    def along(self, path: Sequence[Place]) -> Iterator[Box]:
        """Yield what level and upright lines through points cover."""
        for start, end in pairwise(path):
            (x, y), (far, down) = self.pixels(start), self.pixels(end)
            yield Box((x + far) / 2, (y + down) / 2, abs(far - x) + 3, abs(down - y) + 3)


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
    """Points joined by a line, which the legend names; only its ends have names beside them."""

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
    front: Sequence[Point] = (),
    level: tuple[str, float] | None = None,
) -> Drawn:
    """Return points with names, intervals, and lines behind them.

    Args:
        points: what to show.
        across: the horizontal axis.
        upward: the vertical axis.
        paths: the lines.
        front: the points on the Pareto front.
        level: name and height of a line through all of it; none unless given.
    """
    every = [*points, *(point for path in paths for point in path.points)]
    spans = (
        _span([across.at(end) for point in every for end in point.x.reach]),
        _span([*(end for point in every for end in point.y.reach), *(level or ())[1:]]),
    )
    named, others = _marks(points, paths, across)
    found = corners((across.at(point.x.number), point.y.number) for point in front)
    return drawing(
        [
            *([] if level is None else [_level(*level, spans[0], upward)]),
            *_front(found),
            *(_path(path, across, place) for place, path in enumerate(paths)),
            *(_point(point, across, upward) for point in points),
        ],
        across.title,
        upward.title,
        showlegend=bool(paths or front or level),
        annotations=written(named, others, found, spans),
        xaxis={"range": list(spans[0]), **_ticks(across, spans[0])},
        yaxis={"range": list(spans[1])},
    )


def _level(name: str, height: float, span: tuple[float, float], upward: Axis) -> Drawn:
    return trace(
        "scatter",
        x=list(span),
        y=[height, height],
        name=name,
        mode="lines",
        line={"color": QUIET, "width": 1.5, "dash": "dot"},
        hovertemplate=f"{name}<br>{upward.short} %{{y}}<extra></extra>",
    )


def _point(point: Point, across: Axis, upward: Axis) -> Drawn:
    style = point.style
    return trace(
        "scatter",
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


def _path(path: Path, across: Axis, place: int) -> Drawn:
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
    ticks = [tick for tick in FACTORS if axis.at(tick) <= span[1]]
    return {"tickvals": [axis.at(tick) for tick in ticks], "ticktext": [str(t) for t in ticks]}


def _mark(point: Point, across: Axis, name: str = "", size: float = MARKER) -> Mark:
    left, right = (across.at(end) for end in point.x.reach)
    at = across.at(point.x.number), point.y.number
    return Mark(plain(name), at, ((left, right), point.y.reach), point.style.colour, size)


def _marks(
    points: Sequence[Point], paths: Sequence[Path], across: Axis
) -> tuple[list[Mark], list[Mark]]:
    """Return points with a name beside them, and those without: the inner ones of lines.

    The end of a line has its own name, unless a point with a name is there.
    """
    named = [_mark(point, across, point.name) for point in points]
    places = {mark.at for mark in named}
    others: list[Mark] = []
    for path in paths:
        for place, point in enumerate(path.points):
            mark = _mark(point, across, point.name, size=9.0)
            is_end = place in {0, len(path.points) - 1}
            (named if is_end and mark.at not in places else others).append(mark)
    return named, others


def _front(found: Sequence[Place]) -> list[Drawn]:
    """Return the Pareto front from its corners: steps, and a ring around each point."""
    if not found:
        return []
    shared = {"name": FRONT_NAME, "legendgroup": FRONT_NAME, "hoverinfo": "skip"}
    rings = {"symbol": "circle-open", "size": 20, "color": FRONT, "line": {"width": 1.5}}
    return [
        trace(
            "scatter",
            x=[x for x, _ in found],
            y=[y for _, y in found],
            mode="lines",
            line={"color": FRONT, "width": 2, "dash": "dash"},
            showlegend=len(found) > 1,
            **shared,
        ),
        trace(
            "scatter",
            x=[x for x, _ in found[::2]],
            y=[y for _, y in found[::2]],
            mode="markers",
            marker=rings,
            showlegend=len(found) == 1,
            **shared,
        ),
    ]


def written(
    named: Sequence[Mark],
    others: Sequence[Mark],
    path: Sequence[Place],
    spans: tuple[tuple[float, float], tuple[float, float]],
) -> list[dict[str, Any]]:
    """Return names as annotations, placed so that none covers another on any screen.

    Args:
        named: points with names; those at one place share one.
        others: points without.
        path: corners of a line that names should not cover.
        spans: ends of both axes.
    """
    together: dict[Place, list[Mark]] = {}
    for mark in named:
        together.setdefault(mark.at, []).append(mark)
    names = [_joined([each.name for each in marks]) for marks in together.values()]
    views = [_view(list(together), [*named, *others], path, Frame(spans, s)) for s in SCREENS]
    moved = offsets(views, names)
    return [
        _name(marks[0], name, offset)
        for marks, name, offset in zip(together.values(), names, moved, strict=True)
    ]


def _joined(names: Sequence[str]) -> str:
    """Return names with commas between them, in lines."""
    lines = [names[0]]
    for name in names[1:]:
        if len(lines[-1]) + len(name) + 2 <= WIDEST:
            lines[-1] += f", {name}"
        else:
            lines[-1] += ","
            lines.append(name)
    return "<br>".join(lines)


def _view(
    places: Sequence[Place], marks: Sequence[Mark], path: Sequence[Place], frame: Frame
) -> View:
    covered = [box for mark in marks for box in frame.covered(mark)]
    width, height = frame.size
    plot = Box(width / 2, height / 2, width, height)
    return View([frame.pixels(at) for at in places], [*covered, *frame.along(path)], plot)


def _name(mark: Mark, name: str, offset: tuple[float, float]) -> dict[str, Any]:
    return {
        "x": mark.at[0],
        "y": mark.at[1],
        "ax": round(offset[0], 1),
        "ay": round(offset[1], 1),
        "text": name,
        "font": {"size": TEXT},
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 0.8,
        "arrowcolor": mark.colour,
        "standoff": 7,
        "borderpad": 0,
    }
