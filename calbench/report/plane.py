"""The plane of cost and privacy as a picture: marks, names and axes, in the picture's units.

The home page, the card and the pages of players are cut from it; ``templates/plane.jinja`` draws
it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log1p

from calbench.report.kind import DEGENERATE, Kind
from calbench.report.labels import LINE, Box, View, corners, cost_of, offsets, size_of

STEPS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""Distances between the numbers of a linear axis."""

FACTORS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
"""Numbers of an axis of log(1 + x) from 0."""

FINE = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 300)
"""Numbers of one that begins later."""

MOST_TICKS = 4
"""Of a linear axis, beside 0 [C]."""

BEFORE = 1.3
"""By which factor an axis that does not begin at 0 begins before the least number [C]."""

GRID = 20.0
"""A linear axis that does not begin at 0 begins at a multiple of this [C]."""

ROOM = 1.12
"""How far an axis goes beyond the largest number [C]: markers and names need room."""

ALONE = 2.0
"""The same of a team alone [C], which would seem the worst at the end of its own axes."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis.

    Attributes:
        most: where it ends.
        start: of the axis, in the picture's units.
        end: of the axis, in the same units; smaller than ``start`` if it points up.
        is_log1p: whether equal distances are equal factors of 1 + x.
        least: where it begins.
    """

    most: float
    start: float
    end: float
    is_log1p: bool = False
    least: float = 0.0

    def place(self, value: float) -> float:
        """Return where a number is drawn; what is below the axis is drawn at its beginning."""
        first = self._bent(self.least)
        share = (self._bent(max(value, self.least)) - first) / (self._bent(self.most) - first)
        return round(self.start + share * (self.end - self.start), 2)

    def _bent(self, value: float) -> float:
        return log1p(value) if self.is_log1p else value

    def ticks(self) -> list[tuple[float, str]]:
        """Return place and text of the numbers that the axis names."""
        if self.is_log1p:
            named = FINE if self.least else FACTORS
            found: list[float] = [each for each in named if self.least <= each <= self.most]
        else:
            length = self.most - self.least
            step = next((s for s in STEPS if length / s <= MOST_TICKS + 1), STEPS[-1])
            first = self.least if self.least >= 0 else step * ceil(self.least / step)
            found = [round(first + step * n, 2) for n in range(int((self.most - first) / step) + 1)]
        return [(self.place(each), f"{each:g}") for each in found]


def scale(
    values: Sequence[float],
    start: float,
    end: float,
    *,
    is_log1p: bool = False,
    is_from_zero: bool = True,
    room: float = ROOM,
) -> Scale:
    """Return the axis of some numbers; one that need not begin at 0 begins at a number it names.

    A linear one has room for what is below 0.
    """
    most, below = max(values, default=0.0), min(values, default=0.0)
    if below < 0 and not is_log1p:
        return Scale(room * max(most, 0.0), start, end, least=room * below)
    if most <= 0:
        return Scale(1.0, start, end, is_log1p)
    if not is_log1p:
        least = 0.0 if is_from_zero else GRID * (min(values) // GRID)
        return Scale(least + room * (most - least), start, end, least=least)
    lowest = min(values) / BEFORE
    least = 0 if is_from_zero else max([each for each in FINE if each < lowest], default=0)
    return Scale(room * most, start, end, is_log1p, least)


WIDTH, HEIGHT, TALL = 340.0, 204.0, 350.0
"""Of a picture, and the height of one with many names [C]. It is shown no smaller on a phone, so
its 12 units are 12 pixels there."""

LEFT, RIGHT, TOP = 32.0, 332.0, 22.0
"""Where the axes begin and end [C]."""

BELOW = 38.0
"""Below the axes [C]."""

MARK = 11.0
"""Width and height of a mark [C]."""

HIDDEN = 9.0
"""Bars that are no longer are under their mark [C]."""

SAME = 5.0
"""Marks of one kind that are nearer than this share a name [C]."""

FAR = 18.0
"""A name farther than this from its mark has a line to it [C]."""

SILENCE = (46.0, 13.0)
"""Width and height of the name of the line of those that say nothing [C]."""

BETTER = (58.0, 16.0)
"""Width and height of the arrow to what is better [C]."""


Value = tuple[float, float | None, float | None]
"""A number and the ends of its interval; ``None`` where there is none."""


@dataclass(frozen=True, slots=True)
class Point:
    """A row of a table that a panel shows.

    Attributes:
        name: of the team or model.
        kind: which kind of player it is.
        across: VPS, or coordination.
        up: cost.
        is_on_front: whether no other row of the panel is better in both.
        is_named: whether the picture says its name; else its mark is small.
    """

    name: str
    kind: Kind
    across: Value
    up: Value
    is_on_front: bool = False
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Mark:
    """A point as it is drawn; bars are from their first to their second end."""

    name: str
    kind: Kind
    x: float
    y: float
    across: tuple[float, float] | None
    up: tuple[float, float] | None
    is_on_front: bool
    is_named: bool


@dataclass(frozen=True, slots=True)
class Name:
    """The name of marks that lie on each other, from its centre; a leader goes to the first."""

    names: tuple[str, ...]
    kind: Kind
    x: float
    y: float
    leader: tuple[float, float, float, float] | None


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything that a template needs to draw a panel; ``silence`` is where its line is named."""

    marks: Sequence[Mark]
    names: Sequence[Name]
    across: Sequence[tuple[float, str]]
    up: Sequence[tuple[float, str]]
    front: Sequence[tuple[float, float]]
    better: tuple[float, float]
    silence: tuple[float, float] | None = None
    height: float = HEIGHT

    width = WIDTH

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Where the axes begin and end: left, right, top and bottom."""
        return LEFT, RIGHT, TOP, self.height - BELOW


def drawn(
    points: Sequence[Point],
    others: Sequence[Point] = (),
    *,
    silence: float | None = None,
    is_from_zero: bool = True,
    is_log1p: bool = True,
    height: float = HEIGHT,
) -> Drawing:
    """Place the points of a panel, with names that lie neither on marks nor on each other.

    Args:
        points: what it shows.
        others: of panels with which it shares the upward axis.
        silence: cost of those that say nothing, which is drawn as a line; none unless given.
        is_from_zero: whether the other axis begins at 0.
        is_log1p: whether it is one of excess VPS, which is far apart and never below 0.
        height: of the picture.
    """
    bottom = height - BELOW
    plot = Box((LEFT + RIGHT) / 2 + 4, (TOP + bottom) / 2 - 2, RIGHT - LEFT + 8, bottom - TOP + 4)
    has_ends = is_log1p or is_from_zero
    reach = _reach(point.across if has_ends else point.across[:1] for point in points)
    room = ALONE if len(points) == 1 else ROOM
    across = scale(reach, LEFT, RIGHT, is_log1p=is_log1p, is_from_zero=is_from_zero, room=room)
    every = {*points, *others}
    room = ALONE if len(every) == 1 else ROOM
    up = scale(_reach([*(point.up for point in every), [silence]]), bottom, TOP, room=room)
    marks = [_mark(point, across, up) for point in points]
    boxes = [Box(mark.x, mark.y, MARK, MARK) for mark in marks]
    bars = [_bar(mark) for mark in marks if mark.up]
    level = None if silence is None else up.place(silence)
    label = [] if level is None else [_beside(level, [*boxes, *bars], plot)]
    corner = _corner([*boxes, *bars, *label], plot)
    front = corners((m.x, m.y) for m in marks if m.is_on_front)
    return Drawing(
        marks,
        _names([m for m in marks if m.is_named], [*boxes, *bars, *label, corner], plot),
        across.ticks(),
        up.ticks(),
        front,
        (corner.x, corner.y),
        None if level is None else (label[0].x, level),
        height,
    )


def _beside(level: float, taken: Sequence[Box], plot: Box) -> Box:
    """Return where a line's name above it covers least, from the right end."""
    width, height = SILENCE
    places = [
        Box(x, level - height / 2, width, height)
        for x in (RIGHT - width / 2, (LEFT + RIGHT) / 2, LEFT + width)
    ]
    return min(places, key=lambda box: cost_of(box, taken, plot))


def _reach(values: Iterable[Sequence[float | None]]) -> list[float]:
    return [each for value in values for each in value if each is not None]


def _mark(point: Point, across: Scale, up: Scale) -> Mark:
    (vps, *vps_ends), (cost, *cost_ends) = point.across, point.up
    return Mark(
        point.name,
        point.kind,
        across.place(vps),
        up.place(cost),
        _ends(across, *vps_ends),
        _ends(up, *cost_ends),
        point.is_on_front,
        point.is_named,
    )


def _ends(axis: Scale, low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return a bar; none where there is no interval, or where the mark would hide it."""
    if low is None or high is None:
        return None
    first, last = axis.place(low), axis.place(high)
    return (first, last) if abs(last - first) > HIDDEN else None


def _bar(mark: Mark) -> Box:
    low, high = mark.up or (mark.y, mark.y)
    return Box(mark.x, (low + high) / 2, 3.0, abs(high - low))


def _corner(taken: Sequence[Box], plot: Box) -> Box:
    """Return where the arrow to what is better covers least, from the upper right corner."""
    width, height = BETTER
    places = [
        Box(x, y, width, height)
        for y in (TOP + height / 2, plot.y)
        for x in (RIGHT - width / 2, (LEFT + RIGHT) / 2, LEFT + width)
    ]
    return min(places, key=lambda box: cost_of(box, taken, plot))


def _names(marks: Sequence[Mark], obstacles: Sequence[Box], plot: Box) -> list[Name]:
    """Return the names of marks in the plot; marks that lie on each other share one."""
    groups = _together(sorted(marks, key=lambda mark: mark.kind is DEGENERATE))
    texts = [", ".join(mark.name for mark in group) for group in groups]
    view = View([(group[0].x, group[0].y) for group in groups], obstacles, plot)
    return [
        Name(
            tuple(mark.name for mark in group),
            group[0].kind,
            group[0].x + right,
            group[0].y + down,
            _leader(group[0], right, down, size_of(text)[0]),
        )
        for group, text, (right, down) in zip(groups, texts, offsets([view], texts), strict=True)
    ]


def _together(marks: Sequence[Mark]) -> list[list[Mark]]:
    groups: list[list[Mark]] = []
    for mark in marks:
        near = (
            group
            for group in groups
            if group[0].kind is mark.kind
            and abs(group[0].x - mark.x) < SAME
            and abs(group[0].y - mark.y) < SAME
        )
        group = next(near, None)
        if group is None:
            groups.append([mark])
        else:
            group.append(mark)
    return groups


def _leader(
    mark: Mark, x: float, y: float, width: float
) -> tuple[float, float, float, float] | None:
    """Return the line from a mark to the nearest edge of its name, if that is far."""
    side = max(abs(x) - width / 2, 0.0)
    above = max(abs(y) - LINE / 2, 0.0)
    if max(side, above) < FAR:
        return None
    edge_x = x - width / 2 if x > width / 2 else x + width / 2 if x < -width / 2 else 0.0
    edge_y = y - LINE / 2 if y > LINE / 2 else y + LINE / 2 if y < -LINE / 2 else 0.0
    return mark.x, mark.y, mark.x + edge_x, mark.y + edge_y
