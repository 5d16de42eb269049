"""Where the names of points go, so that none lies on another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CHARACTER = 6.3
"""Width of a character of a label in pixels, generously [C]."""

LINE = 14.0
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


def offsets(
    places: Sequence[tuple[float, float]],
    names: Sequence[str],
    obstacles: Sequence[Box],
    size: tuple[float, float],
) -> list[tuple[float, float]]:
    """Return by how many pixels each name lies off its point.

    One after the other takes the nearest free place, or where none is free the one that
    covers least. Wider plots only move points apart.

    Args:
        places: of the points, in pixels from the upper left corner.
        names: what to write at each.
        obstacles: what names should not cover, markers of the points included.
        size: width and height of the plot, which names do not leave.
    """
    taken = list(obstacles)
    found = []
    for (x, y), name in zip(places, names, strict=True):
        width = CHARACTER * len(name) + 4
        best = min(
            _around(width),
            key=lambda offset: round(
                _cost(Box(x + offset[0], y + offset[1], width, LINE), taken, size), 3
            ),
        )
        taken.append(Box(x + best[0], y + best[1], width, LINE))
        found.append(best)
    return found


def _around(width: float) -> Iterator[tuple[float, float]]:
    side, above = width / 2 + MARKER / 2 + 2, (LINE + MARKER) / 2 + 1
    for far in DISTANCES:
        yield side + far, 0.0
        yield 0.0, -above - far
        yield 0.0, above + far
        yield -side - far, 0.0
        for down in (-1, 1):
            for right in (1, -1):
                yield right * (side - MARKER / 2 + far), down * (above + far)
                yield right * (side + far), down * (above + far) / 2


def _cost(box: Box, taken: Sequence[Box], size: tuple[float, float]) -> float:
    covered = sum(box.overlap(other) for other in taken)
    left = max(0.0, box.width / 2 - box.x) + max(0.0, box.x + box.width / 2 - size[0])
    out = left + max(0.0, LINE / 2 - box.y) + max(0.0, box.y + LINE / 2 - size[1])
    return covered + 50 * out
