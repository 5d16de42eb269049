"""Plans: where the initiator could put the meeting, and what it would move for that.

A plan is a slot, and for a slot that holds a meeting a chain of moves: that meeting to a free
slot, or onto the slot of another own meeting, which moves on (paper, appendix D.3).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from calbench.domain.calendars import Booking, Calendar, Meeting, all_slots, free_slots
from calbench.domain.ids import AgentId, Slot
from calbench.protocols.dsm.scores import FREE, satisfaction

Chain = tuple[int, int, tuple[Slot, ...]]
"""Sum of moved costs, length, targets: the order of displacement plans of one slot [R]."""


class Displacement(NamedTuple):
    """One meeting that gives way."""

    meeting: Meeting
    from_slot: Slot
    to_slot: Slot


class Plan(NamedTuple):
    """One way to place the meeting.

    Attributes:
        slot: where it would stand.
        index_in_slot: its number among the plans of its slot, from 0.
        score: the initiator's own satisfaction.
        moves: what gives way, the meeting at ``slot`` first; empty for other slots.
    """

    slot: Slot
    index_in_slot: int
    score: int
    moves: tuple[Displacement, ...] = ()


_own_score = attrgetter("score")


@lru_cache(maxsize=64)
def own_plans(calendar: Calendar, depth: int, targets: int) -> tuple[Plan, ...]:
    """Return everything the owner could offer: own score descending, slot, index in slot.

    A plan's place in this order is its id: a calendar does not change while its owner talks,
    so ids stay the same over all batches of a meeting. An initiator needs its plans at least
    twice in a round, which is why the last few answers are kept.

    Args:
        calendar: the initiator's. Without a free slot nothing can be moved, nor offered.
        depth: most meetings in a chain.
        targets: displacement plans kept for each slot.
    """
    slots = all_slots(len(calendar))
    free = [slot for slot, item in zip(slots, calendar, strict=True) if item is None]
    if not free:
        return ()
    held = {
        slot: item.meeting
        for slot, item in zip(slots, calendar, strict=True)
        if isinstance(item, Booking)
    }
    plans: list[Plan] = []
    for slot, item in zip(slots, calendar, strict=True):
        if item is None:
            plans.append(Plan(slot, 0, FREE))
        elif isinstance(item, Booking):
            plans.extend(_displacements(slot, held, free, depth, targets))
        elif not item.blocked:
            plans.append(Plan(slot, 0, satisfaction(item.shown_cost)))
    # Built by slot and index, an order that the sort keeps among equals.
    plans.sort(key=_own_score, reverse=True)
    return tuple(plans)


def first_plans(calendar: Calendar, depth: int, targets: int, count: int) -> tuple[Plan, ...]:
    """Return the first of :func:`own_plans`, at most ``count``.

    Free slots come first unless something costs nothing to move, so a narrow offer needs no
    look at what could be displaced.
    """
    free = list(free_slots(calendar))[:count]
    if len(free) < count or _has_free_move(calendar):
        return own_plans(calendar, depth, targets)[:count]
    return tuple([Plan(slot, 0, FREE) for slot in free])


def _has_free_move(calendar: Calendar) -> bool:
    """Whether something on the calendar costs nothing to move."""
    for item in calendar:  # a plain loop: asked in every turn
        if item is not None:
            cost = item.meeting.cost if isinstance(item, Booking) else item.shown_cost
            if cost <= 0:
                return True
    return False


def _displacements(
    slot: Slot, held: Mapping[Slot, Meeting], free: Sequence[Slot], depth: int, targets: int
) -> Iterator[Plan]:
    """Yield the first plans that empty a slot with a meeting, in the order of chains."""
    if depth < 1:
        return
    # Of chains that differ in their last target only, the lowest targets come first.
    chains = sorted(_chains((slot,), held, free[:targets], depth))
    for index, (cost, _, to_slots) in enumerate(chains[:targets]):
        moves: list[Displacement] = []
        from_slot = slot
        for to_slot in to_slots:
            moves.append(Displacement(held[from_slot], from_slot, to_slot))
            from_slot = to_slot
        yield Plan(slot, index, satisfaction(cost), tuple(moves))


def _chains(
    path: tuple[Slot, ...], held: Mapping[Slot, Meeting], free: Sequence[Slot], depth: int
) -> Iterator[Chain]:
    """Yield every chain whose first moves are those of the meetings on ``path``."""
    cost = sum([held[slot].cost for slot in path])
    for target in free:
        yield cost, len(path), (*path[1:], target)
    if len(path) < depth:
        for onto in held:
            if onto not in path:
                yield from _chains((*path, onto), held, free, depth)


def outsiders(plans: Iterable[Plan], meeting: Meeting) -> tuple[AgentId, ...]:
    """Return, ascending, the agents outside the meeting who take part in what plans move."""
    concerned = {
        agent
        for plan in plans
        for move in plan.moves
        for agent in move.meeting.participants
        if agent not in meeting.participants
    }
    return tuple(sorted(concerned)) if concerned else ()
