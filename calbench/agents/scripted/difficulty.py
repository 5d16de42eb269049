"""How hard a slot is, in the five words that prompts allow, and what each weighs."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from calbench.domain.calendars import Booking, Calendar, Item, first_free
from calbench.domain.ids import Slot


class Level(IntEnum):
    """The words for difficulty, from easy to impossible."""

    EASY = 0
    POSSIBLE = 1
    INCONVENIENT = 2
    HARD = 3
    IMPOSSIBLE = 4

    @property
    def word(self) -> str:
        """The word as it is said."""
        return self.name.lower()


EASY, POSSIBLE, INCONVENIENT, HARD, IMPOSSIBLE = Level

WEIGHTS: Final = (0, 1, 10, 100, 10_000)
"""What a word weighs when slots are compared [C]: in step with the costs that are shown."""

_BOUNDS: Final = ((3, POSSIBLE), (30, INCONVENIENT))
"""Greatest shown cost that is still called so [C]; above the last it is hard."""


def level_of(item: Item | None, *, can_move: bool) -> Level:
    """Return how hard it is to give up an item's slot.

    A meeting is impossible to give up alone; an errand is if there is nowhere to move it.
    """
    if item is None:
        return EASY
    if isinstance(item, Booking) or item.blocked or not can_move:
        return IMPOSSIBLE
    for most, level in _BOUNDS:  # a plain loop: asked of every slot in every turn
        if item.shown_cost <= most:
            return level
    return HARD


def own_levels(calendar: Calendar) -> tuple[Level, ...]:
    """Return how hard each slot of a calendar is to give, by slot."""
    can_move = first_free(calendar) is not None
    return tuple([level_of(item, can_move=can_move) for item in calendar])


def slots_at(levels: Sequence[Level], *wanted: Level) -> list[Slot]:
    """Return the slots of these levels: the easiest first, then ascending."""
    found = [(level, slot) for slot, level in enumerate(levels) if level in wanted]
    return [Slot(slot) for _, slot in sorted(found)]
