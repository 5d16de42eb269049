"""Where the names of points go, so that none lies on another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

CHARACTER = 6.9
"""Width of a character of a label in pixels, generously [C]."""

LINE = 15.0
"""Height of a label in pixels [C]."""

MARKER = 15.0
"""Width and height of a marker in pixels [C]."""

DISTANCES = (0.0, 9.0, 18.0, 30.0, 44.0, 60.0, 80.0)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels, from its centre."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, other: "Box") -> float:
        """Return the area that both cover."""
        across = (self.width + other.width) / 2 - abs(self.x - other.x)
        down = (self.height + other.height) / 2 - abs(self.y - other.y)
        return across * down if across > 0 and down > 0 else 0.0


@dataclass(frozen=True, slots=True)
class View:
    """A plot as one screen shows it.

    Attributes:
        places: of the points, in pixels from the upper left corner.
        obstacles: what names should not cover, markers of the points included.
        size: width and height of the plot, which names do not leave.
    """

    places: Sequence[tuple[float, float]]
    obstacles: Sequence[Box]
    size: tuple[float, float]


Offset = tuple[float, float]


def offsets(views: Sequence[View], names: Sequence[str]) -> list[Offset]:
    """Return by how many pixels each name lies off its point, the same in every view.

    One after the other takes the nearest place that is free in all views, or where none is free the
    one that covers least: what is apart on a phone may meet on a wider screen.

    Args:
        views: the same points on several screens.
        names: what to write at each point; lines are separated by ``<br>``.
    """
    taken = [list(view.obstacles) for view in views]
    found: list[Offset] = []
    for place, name in enumerate(names):
        width, height = size_of(name)
        best, least = (0.0, 0.0), inf
        for offset in _around(width, height):
            cost = sum(
                cost_of(_box(view, place, offset, name), own, view.size)
                for view, own in zip(views, taken, strict=True)
            )
            if cost < least:
                best, least = offset, cost
            if not cost:  # nothing is wrong with it, and what follows is further off
                break
        for view, own in zip(views, taken, strict=True):
            own.append(_box(view, place, best, name))
        found.append(best)
    return found


def boxes(view: View, names: Sequence[str], moved: Sequence[Offset]) -> list[Box]:
    """Return what names cover in a view."""
    return [
        _box(view, place, offset, name)
        for place, (name, offset) in enumerate(zip(names, moved, strict=True))
    ]


def size_of(name: str) -> tuple[float, float]:
    """Return width and height of a name in pixels."""
    lines = name.split("<br>")
    return CHARACTER * max(map(len, lines)) + 4, LINE * len(lines)


def _box(view: View, place: int, offset: Offset, name: str) -> Box:
    (x, y), (right, down) = view.places[place], offset
    return Box(x + right, y + down, *size_of(name))


def _around(width: float, height: float) -> Iterator[Offset]:
    side, above = width / 2 + MARKER / 2 + 2, (height + MARKER) / 2 + 1
    for far in DISTANCES:
        yield side + far, 0.0
        yield 0.0, -above - far
        yield 0.0, above + far
        yield -side - far, 0.0
        for down in (-1, 1):
            for right in (1, -1):
                yield right * (side - MARKER / 2 + far), down * (above + far)
                yield right * (side + far), down * (above + far) / 2


def cost_of(box: Box, taken: Sequence[Box], size: tuple[float, float]) -> float:
    """Return what is wrong with a place: what it covers, and how far it leaves the plot."""
    covered = sum(box.overlap(other) for other in taken)
    sides = max(0.0, box.width / 2 - box.x) + max(0.0, box.x + box.width / 2 - size[0])
    ends = max(0.0, box.height / 2 - box.y) + max(0.0, box.y + box.height / 2 - size[1])
    return round(covered + 50 * (sides + ends), 3)
