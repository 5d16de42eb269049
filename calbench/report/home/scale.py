"""Scales of the home page's plane: where a number is drawn, and which numbers an axis names."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

STEPS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""Distances between the numbers of a linear axis."""

FACTORS = (0, 1, 3, 10, 30, 100, 300)
"""Numbers of an axis of log(1 + x) from 0."""

FINE = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 300)
"""Numbers of one that begins later."""

MOST_TICKS = 4
"""Of a linear axis, beside 0 [C]."""

BEFORE = 1.3
"""By which factor an axis that does not begin at 0 begins before the least number [C]."""

ROOM = 1.12
"""How far an axis goes beyond the largest number [C]: markers and names need room."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis.

    Attributes:
        most: where it ends.
        start: of the axis, in the picture's units.
        end: likewise; smaller than ``start`` for an axis that points up.
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
            step = next((s for s in STEPS if self.most / s <= MOST_TICKS + 1), STEPS[-1])
            found = [round(step * place, 2) for place in range(int(self.most / step) + 1)]
        return [(self.place(each), f"{each:g}") for each in found]


def scale(
    values: Sequence[float],
    start: float,
    end: float,
    *,
    is_log1p: bool = False,
    is_from_zero: bool = True,
) -> Scale:
    """Return the axis of some numbers; one that need not begin at 0 begins at a number it names."""
    most = max(values, default=0.0)
    if most <= 0:
        return Scale(1.0, start, end, is_log1p)
    lowest = min(values) / BEFORE
    least = 0 if is_from_zero else max([each for each in FINE if each < lowest], default=0)
    return Scale(ROOM * most, start, end, is_log1p, least)
