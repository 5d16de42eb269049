"""Where the names of marks go in a picture: near their own mark, and on nothing else."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, inf
from operator import itemgetter

CHARACTER = 6.9
"""Width of a character of a label in pixels, generously [C]."""

LINE = 15.0
"""Height of a label in pixels [C]."""

MARKER = 15.0
"""Width and height of a marker in pixels [C]."""

DISTANCES = (0.0, 9.0, 18.0, 30.0, 44.0, 60.0, 80.0)
"""By how many pixels farther than next to its mark a name may be, tried in this order [C]."""

MARGIN = 3.0
"""By how much a name should be nearer to its own mark than to any other [C]."""

DOUBT = 0.01
"""What a pixel of nearness to a wrong mark costs, in pixels of covered area [C]."""

SLIGHT = 0.05
"""Doubt in the same unit that is better than a name farther off [C]."""

OUTSIDE = 50.0
"""What a pixel beyond the plot costs, in pixels of covered area [C]."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels, from its centre."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, *others: "Box") -> float:
        """Return the area that it and others cover, the sum of what each has in common with it."""
        x, y, width, height = self.x, self.y, self.width, self.height
        area = 0.0
        for other in others:
            across = (width + other.width) / 2 - abs(x - other.x)
            if across > 0 and (down := (height + other.height) / 2 - abs(y - other.y)) > 0:
                area += across * down
        return area

    def beyond(self, plot: "Box") -> float:
        """Return by how much it leaves another one."""
        across = abs(self.x - plot.x) - (plot.width - self.width) / 2
        down = abs(self.y - plot.y) - (plot.height - self.height) / 2
        return max(across, 0.0) + max(down, 0.0)

    def gap(self, spot: "Spot") -> float:
        """Return how far a point is from its edge."""
        across = max(abs(self.x - spot[0]) - self.width / 2, 0.0)
        return hypot(across, max(abs(self.y - spot[1]) - self.height / 2, 0.0))


Spot = tuple[float, float]
"""A point, or how far a name lies off its mark."""


@dataclass(frozen=True, slots=True)
class View:
    """A plot as one screen shows it.

    Attributes:
        places: of the marks with names, in pixels from the upper left corner.
        obstacles: what names should not cover, the marks included.
        plot: what names do not leave.
    """

    places: Sequence[Spot]
    obstacles: Sequence[Box]
    plot: Box


def corners(points: Iterable[Spot]) -> list[Spot]:
    """Return the steps of a front through its points, from the left: every other one is a point."""
    places = sorted(set(points))
    found = places[:1]
    for x, y in places[1:]:
        found += [(x, found[-1][1]), (x, y)]
    return found


def offsets(views: Sequence[View], names: Sequence[str]) -> list[Spot]:
    """Return by how many pixels each name lies off its mark, the same in every view.

    One after the other takes the nearest place that is free in all views, or where none is free the
    one that costs least: what is apart on a phone may meet on a wider screen. If some are covered,
    the best of several orders counts.

    Args:
        views: the same marks on several screens.
        names: what to write at each mark; lines are separated by ``<br>``.
    """
    best = inf, list[Spot]()
    for key in _orders(views[0].places):
        found = _placed(views, names, sorted(range(len(names)), key=key))
        best = min(best, found, key=itemgetter(0))
        if best[0] < 1:  # nothing is covered, at most somewhat in doubt
            break
    return best[1]


def _orders(places: Sequence[Spot]) -> Iterator[Callable[[int], float]]:
    yield float
    yield lambda place: places[place][0]
    yield lambda place: places[place][1]
    yield lambda place: sum(places[place])


def _placed(
    views: Sequence[View], names: Sequence[str], order: Iterable[int]
) -> tuple[float, list[Spot]]:
    """Return what an order of placing costs in all, and where it puts the names."""
    taken = [list(view.obstacles) for view in views]
    found, total = [(0.0, 0.0)] * len(names), 0.0
    for place in order:
        size = size_of(names[place])
        least = inf
        for offset in _around(*size):
            cost = 0.0
            for view, own in zip(views, taken, strict=True):
                cost += _cost(view, own, place, boxed(view.places[place], offset, size))
                if cost >= least:
                    break
            if cost < least:
                found[place], least = offset, cost
            if cost < SLIGHT:  # what follows is farther off
                break
        total += least
        for view, own in zip(views, taken, strict=True):
            own.append(boxed(view.places[place], found[place], size))
    return total, found


def size_of(name: str) -> Spot:
    """Return width and height of a name in pixels."""
    lines = name.split("<br>")
    return CHARACTER * max(map(len, lines)) + 4, LINE * len(lines)


def boxed(place: Spot, offset: Spot, size: Spot) -> Box:
    """Return the box that a name covers."""
    return Box(place[0] + offset[0], place[1] + offset[1], *size)


def cost_of(box: Box, taken: Iterable[Box], plot: Box) -> float:
    """Return what is wrong with a place: what it covers, and how far it leaves the plot."""
    return round(box.overlap(*taken) + OUTSIDE * box.beyond(plot), 3)


def _cost(view: View, taken: Sequence[Box], place: int, box: Box) -> float:
    """Return the same of a name, which should not seem to be that of another mark."""
    mine = view.places[place]
    others = [box.gap(spot) for spot in view.places if spot != mine]
    doubt = max(0.0, box.gap(mine) + MARGIN - min(others, default=1e9))
    return cost_of(box, taken, view.plot) + round(DOUBT * doubt, 3)


def _around(width: float, height: float) -> Iterator[Spot]:
    """Yield places around a mark, the nearest first."""
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
