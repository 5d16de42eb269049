"""A literal reader of scripted speakers: what their sentences say, taken at their word [C]."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from calbench.agents.scripted.talk import PROPOSED
from calbench.agents.scripted.understanding import (
    IMPOSSIBLE,
    Ask,
    Claim,
    Confirm,
    Level,
    NoneOfThem,
    Settle,
    level_of,
    understood,
)
from calbench.domain.calendars import Errand
from calbench.domain.ids import AgentId, ErrandId, Slot
from calbench.domain.messages import Message, Text
from calbench.protocols.clues import Cells, OneOf, Told, View, Weights

EXAGGERATED = 0.01
"""Chance that a possible slot is called easier or harder than it is: not every speaker is exact."""


class LiteralReader:
    """The rules of a speaker that says in words how hard its slots are, and means it."""

    books_cheapest: ClassVar[bool] = True
    books_together: ClassVar[bool] = True

    def tells(self, message: Message, view: View) -> Iterator[Told | OneOf]:
        """Yield the slots that a message says something of, and why it asks about these."""
        sender, content = message.sender, message.content
        if sender is None or not isinstance(content, Text):
            return
        slots: dict[Slot, Weights] = {}
        asked: tuple[Slot, ...] = ()
        for act in understood(content.text, message.meeting_id):
            if isinstance(act, Claim):
                slots[act.slot] = _at_level(view.cells, act.level)
            elif isinstance(act, NoneOfThem):
                asked = _asked(sender, view)
                slots |= dict.fromkeys(asked, view.possible(can_meet=False))
            elif isinstance(act, Settle | Confirm) and act.slot is not None:
                slots.setdefault(act.slot, view.possible(can_meet=True))
            elif isinstance(act, Ask):
                asked = act.slots
        there = range(view.num_slots)
        yield Told(sender, {slot: told for slot, told in slots.items() if slot in there})
        if asked and not slots and not view.messages and set(asked) <= set(there):
            yield _opening(sender, tuple(sorted({*asked})), view.cells, view.num_slots)


@lru_cache(maxsize=1024)
def _opening(sender: AgentId, asked: tuple[Slot, ...], cells: Cells, num_slots: int) -> OneOf:
    """Return what it tells that a speaker asks about these slots before anything was said.

    They are the easiest that are possible for itself, of equal ones the first. A way is which of
    them is the last in this order, and how hard that one is.
    """
    levels = [*map(_level, cells), IMPOSSIBLE]  # the last is that of a slot which a meeting holds
    rest = tuple([Slot(slot) for slot in range(num_slots) if slot not in asked])
    is_all = len(asked) < PROPOSED  # then no other slot is possible
    ways = [
        [
            *[
                [(level, slot) < last if slot != last[1] else level is last[0] for level in levels]
                for slot in asked
            ],
            *[
                [level is IMPOSSIBLE or ((level, slot) > last and not is_all) for level in levels]
                for slot in rest
            ],
        ]
        for last in product(sorted({*levels} - {IMPOSSIBLE}), asked)
    ]
    room = tuple([float(level is not IMPOSSIBLE) for level in levels[:-1]])
    return OneOf(sender, asked + rest, np.array(ways), dict.fromkeys(asked, room))


@lru_cache(maxsize=64)
def _at_level(cells: Cells, level: Level) -> Weights:
    """Return the weights of a slot that a speaker calls so; whether it is possible is exact."""
    weights = []
    for cell in cells:
        called = _level(cell)
        fits = (called is IMPOSSIBLE) == (level is IMPOSSIBLE)
        weights.append(1.0 if called is level else EXAGGERATED * fits)
    return tuple(weights)


def _level(cell: int | None) -> Level:
    if cell is None:
        return IMPOSSIBLE
    item = Errand(ErrandId(0), cell, blocked=False) if cell else None
    return level_of(item, can_move=True)


def agreed_in(message: Message) -> set[Slot]:
    """Return the slots on which a message in words settles, or to which it agrees."""
    acts = understood(_text(message), message.meeting_id)
    return {act.slot for act in acts if isinstance(act, Settle | Confirm) and act.slot is not None}


def _asked(sender: AgentId, view: View) -> tuple[Slot, ...]:
    """Return the slots that the observer asked a speaker for last."""
    for message in reversed(view.messages):
        if message.sender == view.observer and sender in message.recipients:
            asked = [act for act in understood(_text(message)) if isinstance(act, Ask)]
            if asked:
                return asked[-1].slots
    return ()


def _text(message: Message) -> str:
    return message.content.text if isinstance(message.content, Text) else ""
