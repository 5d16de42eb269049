"""Where the names of marks go in a small picture: near their own mark, and on nothing else."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot

from calbench.report.figures.labels import CHARACTER, LINE, Box

NEAR = 8.0
"""From the centre of a mark to the edge of its name [C]."""

DISTANCES = (0.0, 8.0, 16.0, 26.0, 38.0, 52.0, 68.0)
"""By how much farther a name may be."""

MARGIN = 6.0
"""By how much a name should be nearer to its own mark than to any other [C]."""

DOUBT = 10.0
"""What a unit of nearness to a wrong mark costs, in units of distance from the right one [C]."""

COVERED = 5.0
"""What a unit of covered area costs, likewise [C]."""

MOST_TURNS = 8
"""Names of which every one is placed first once [C]; with more of them tries are fewer."""

Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Named:
    """A text, and the mark that it names."""

    text: str
    at: Spot

    @property
    def width(self) -> float:
        """Of the text, generously."""
        return CHARACTER * len(self.text) + 4


def centres(
    named: Sequence[Named], marks: Sequence[Spot], taken: Sequence[Box], plot: Box
) -> list[Spot]:
    """Return the centre of each name.

    Names are placed one after the other in several orders; the best result counts.

    Args:
        named: the names.
        marks: centres of all marks.
        taken: what names should not cover, marks included.
        plot: the rectangle that names should not leave.
    """
    spots = [
        [(spot, _cost(spot, name, marks, taken, plot)) for spot in _around(name)] for name in named
    ]
    tries = [_placed(named, order, spots) for order in _orders(named)]
    found = min(tries, key=lambda each: round(each[0], 3))[1]
    return [found[place] for place in range(len(named))]


def gap(centre: Spot, width: float, mark: Spot) -> float:
    """Return how far a mark is from the edge of a name."""
    side = max(abs(centre[0] - mark[0]) - width / 2, 0.0)
    return hypot(side, max(abs(centre[1] - mark[1]) - LINE / 2, 0.0))


def _orders(named: Sequence[Named]) -> list[list[int]]:
    sorts: Sequence[Callable[[int], tuple[float, int]]] = (
        lambda place: (0.0, place),
        lambda place: (named[place].at[0], place),
        lambda place: (named[place].at[1], place),
        lambda place: (named[place].at[0] + named[place].at[1], place),
    )
    found = []
    for key in sorts:
        order = sorted(range(len(named)), key=key)
        for turn in range(len(order) if len(order) <= MOST_TURNS else 1):
            turned = order[turn:] + order[:turn]
            found += [turned, turned[::-1]]
    return found or [[]]


def _placed(
    named: Sequence[Named],
    order: Sequence[int],
    spots: Sequence[Sequence[tuple[Spot, float]]],
) -> tuple[float, dict[int, Spot]]:
    """Return what an order of placing costs in all, and where it puts names.

    Args:
        named: the names.
        order: in which they are placed.
        spots: of each name with what they cost beside the other names.
    """
    boxes, found, total = list[Box](), dict[int, Spot](), 0.0
    for place in order:
        width = named[place].width
        cost, _, spot = min(
            (round(alone + COVERED * _covered(Box(*spot, width, LINE), boxes), 3), number, spot)
            for number, (spot, alone) in enumerate(spots[place])
        )
        total += cost
        found[place] = spot
        boxes.append(Box(*spot, width, LINE))
    return total, found


def _around(name: Named) -> Iterator[Spot]:
    (x, y), side, above = name.at, name.width / 2 + NEAR, LINE / 2 + NEAR
    for far in DISTANCES:
        yield x + side + far, y
        yield x, y - above - far
        yield x, y + above + far
        yield x - side - far, y
        for down in (-1, 1):
            for right in (1, -1):
                yield x + right * (side - 2 * NEAR), y + down * (above + far)
                yield x + right * (side + far), y + down * (above + far)


def _cost(spot: Spot, name: Named, marks: Sequence[Spot], boxes: Sequence[Box], plot: Box) -> float:
    box = Box(*spot, name.width, LINE)
    mine = gap(spot, name.width, name.at)
    others = [gap(spot, name.width, mark) for mark in marks if mark != name.at]
    doubt = max(0.0, mine + MARGIN - min(others, default=mine + MARGIN))
    return COVERED * _covered(box, boxes) + 50 * _outside(box, plot) + mine + DOUBT * doubt


def _covered(box: Box, boxes: Sequence[Box]) -> float:
    return sum(box.overlap(other) for other in boxes)


def _outside(box: Box, plot: Box) -> float:
    """Return by how much a rectangle leaves another one."""
    across = abs(box.x - plot.x) - (plot.width - box.width) / 2
    down = abs(box.y - plot.y) - (plot.height - box.height) / 2
    return max(across, 0.0) + max(down, 0.0)
