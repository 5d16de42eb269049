"""A literal reader of scripted speakers: what their sentences say, taken at their word [C]."""

from collections.abc import Iterator
from functools import lru_cache

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
from calbench.protocols.clues import Cells, Told, View, Weights

EXAGGERATED = 0.01
"""Chance that a possible slot is called easier or harder than it is: not every speaker is exact."""


class LiteralReader:
    """The rules of a speaker that says in words how hard its slots are, and means it."""

    def tells(self, message: Message, view: View) -> Iterator[Told]:
        """Yield the slots that a message says something of, each by itself."""
        sender, content = message.sender, message.content
        if sender is None or not isinstance(content, Text):
            return
        slots: dict[Slot, Weights] = {}
        for act in understood(content.text, message.meeting_id):
            if isinstance(act, Claim):
                slots[act.slot] = _at_level(view.cells, act.level)
            elif isinstance(act, NoneOfThem):
                asked = _asked(sender, view)
                slots |= dict.fromkeys(asked, view.possible(can_meet=False))
            elif isinstance(act, Settle | Confirm) and act.slot is not None:
                slots.setdefault(act.slot, view.possible(can_meet=True))
        yield Told(sender, {s: told for s, told in slots.items() if 0 <= s < view.num_slots})


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
