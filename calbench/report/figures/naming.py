"""What is written into a plane: names beside points, and an arrow to where it is better."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from calbench.report.figures.style import QUIET
from calbench.report.figures.template import TEXT
from calbench.report.labels import MARKER, Box, View, boxed, cost_of, offsets, size_of

SCREENS = ((300.0, 330.0), (430.0, 330.0), (600.0, 330.0), (760.0, 330.0))
"""Width and height in pixels of plots on a phone, a tablet and laptops [C]."""

BETTER = "better"
ARROW = (44.0, -26.0)
"""From the arrow's head to its word, in pixels."""

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


def written(
    named: Sequence[Mark],
    others: Sequence[Mark],
    path: Sequence[Place],
    spans: tuple[tuple[float, float], tuple[float, float]],
    *,
    has_arrow: bool,
) -> list[dict[str, Any]]:
    """Return names and arrow as annotations, placed so that none covers another on any screen.

    Args:
        named: points with names; those at one place share one.
        others: points without.
        path: corners of a line that names should not cover.
        spans: ends of both axes.
        has_arrow: whether the lower left is better.
    """
    together: dict[Place, list[Mark]] = {}
    for mark in named:
        together.setdefault(mark.at, []).append(mark)
    names = [_joined([each.name for each in marks]) for marks in together.values()]
    views = [_view(list(together), [*named, *others], path, Frame(spans, s)) for s in SCREENS]
    moved = offsets(views, names)
    found = [
        _name(marks[0], name, offset)
        for marks, name, offset in zip(together.values(), names, moved, strict=True)
    ]
    if has_arrow:
        sizes = list(map(size_of, names))
        covered = [list(map(boxed, view.places, moved, sizes)) for view in views]
        taken = [[*v.obstacles, *own] for v, own in zip(views, covered, strict=True)]
        found.append(_arrow(taken))
    return found


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
    obstacles = [*covered, *frame.along(path)]
    return View([frame.pixels(at) for at in places], obstacles, _plot(*frame.size))


def _plot(width: float, height: float) -> Box:
    return Box(width / 2, height / 2, width, height)


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


def _arrow(taken: Sequence[Sequence[Box]]) -> dict[str, Any]:
    """Return the arrow to the lower left, where it covers least; first where most room is."""
    places = [(x / 20, y / 20) for y in range(16, 0, -1) for x in range(16, 0, -1)]
    best = min(places, key=lambda place: _arrow_cost(place, taken))
    return {
        "x": best[0], "y": best[1], "xref": "paper", "yref": "paper",
        "ax": ARROW[0], "ay": ARROW[1], "text": BETTER, "font": {"size": TEXT + 1},
        "showarrow": True, "arrowhead": 2, "arrowwidth": 2, "arrowcolor": QUIET, "borderpad": 1,
    }  # fmt: skip


def _arrow_cost(place: Place, taken: Sequence[Sequence[Box]]) -> float:
    """Return what the arrow covers at a share of the plot's width and height."""
    return sum(
        cost_of(Box(place[0] * x + 36, (1 - place[1]) * y - 15, 88, 48), own, _plot(x, y))
        for (x, y), own in zip(SCREENS, taken, strict=True)
    )
