"""VOLUNTARY and DECISION: a speaker does what was agreed."""

import re
from collections.abc import Iterator

from calbench.agents.scripted.difficulty import IMPOSSIBLE
from calbench.agents.scripted.outbox import Written
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.talk import best_guess
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Booking, Item
from calbench.domain.ids import Slot


def voluntary(view: View, voice: Voice) -> list[Written]:
    """Return the moves an outsider promised."""
    return _moves(view, voice, None, frozenset()) or []


def decision(view: View, voice: Voice) -> list[Written]:
    """Return the batch of a participant; in a retry, one that avoids the conflict's slots."""
    spoiled = frozenset(
        Slot(int(n)) for n in re.findall(r"\b[Ss]lot (\d{1,4})\b", view.now.conflict or "")
    )
    for slot in _choices(view):
        if view.now.attempt > 1 and slot in spoiled:
            continue
        moves = _moves(view, voice, slot, spoiled - {slot})
        if moves is not None:
            meeting_id = view.meeting.meeting_id
            return [*moves, {"type": "schedule", "meeting_id": meeting_id, "slot": slot}]
    return []


def _choices(view: View) -> Iterator[Slot]:
    """Yield the slots to schedule in: what was agreed, else the likeliest, else any."""
    agreed, levels = view.agreed, view.levels
    if agreed is not None and levels[agreed] is not IMPOSSIBLE:
        yield agreed
    guess = best_guess(view)
    if guess is not None and guess != agreed:
        yield guess
    possible = [slot for slot, level in enumerate(levels) if level is not IMPOSSIBLE]
    for slot in sorted(possible, key=levels.__getitem__):
        if slot not in (agreed, guess):
            yield Slot(slot)


def _moves(
    view: View, voice: Voice, slot: Slot | None, spoiled: frozenset[Slot]
) -> list[Written] | None:
    """Return what has to move to keep promises and to free a slot.

    Returns:
        Reschedules, or ``None`` if there is no room for what gives way.
    """
    promised = {move.start: move.to for move in view.agreed_moves if move.to != slot}
    taken = {*promised.values(), *(() if slot is None else (slot,))}
    landing = [
        Slot(place)
        for place, item in enumerate(view.calendar)
        if (item is None or place in promised) and place not in taken and place not in spoiled
    ]
    moves = dict(promised)
    for place in sorted(taken):
        item = view.calendar[place]
        if item is None or place in promised:
            continue
        if isinstance(item, Booking) or item.blocked or not landing:
            return None
        moves[place] = landing.pop(0)
    return [
        _reschedule(item, start, to, voice)
        for start, to in moves.items()
        if (item := view.calendar[start]) is not None
    ]


def _reschedule(item: Item, start: Slot, to: Slot, voice: Voice) -> Written:
    return {
        "type": "reschedule",
        "item_id": item.item_id,
        "from_slot": start,
        "to_slot": to,
        "justification": voice.justification(),
    }
