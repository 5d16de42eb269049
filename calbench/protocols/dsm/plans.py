"""Plans: where the initiator could place the meeting, and what would have to move.

A plan is a slot and, if the slot holds a meeting, a chain of moves: that meeting moves to a free
slot, or to the slot of another own meeting, which then moves (paper, appendix D.3).
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
    """One meeting that is moved."""

    meeting: Meeting
    from_slot: Slot
    to_slot: Slot


class Plan(NamedTuple):
    """One way to place the meeting.

    Attributes:
        slot: of the meeting.
        index_in_slot: its number among the plans of its slot, from 0.
        score: the initiator's own satisfaction.
        moves: of meetings, the one at ``slot`` first; empty for a slot without a meeting.
    """

    slot: Slot
    index_in_slot: int
    score: int
    moves: tuple[Displacement, ...] = ()


_own_score = attrgetter("score")


@lru_cache(maxsize=64)
def own_plans(calendar: Calendar, depth: int, targets: int) -> tuple[Plan, ...]:
    """Return all plans the owner could offer, by descending own score, slot, index in slot.

    A plan's place in this order is its id: a calendar does not change while its owner talks, so
    ids are the same for all batches of a meeting. An initiator needs its plans at least twice in
    a round, so the last few answers are cached.

    Args:
        calendar: the initiator's. Without a free slot nothing can be moved or offered.
        depth: greatest number of meetings in a chain.
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
    # Plans are made by slot and index; the sort keeps this order among equals.
    plans.sort(key=_own_score, reverse=True)
    return tuple(plans)


def first_plans(calendar: Calendar, depth: int, targets: int, count: int) -> tuple[Plan, ...]:
    """Return the first of :func:`own_plans`, at most ``count``.

    Free slots come first unless something costs nothing to move, so a small offer often needs
    no displacement plans.
    """
    free = list(free_slots(calendar))[:count]
    if len(free) < count or _has_free_move(calendar):
        return own_plans(calendar, depth, targets)[:count]
    return tuple([Plan(slot, 0, FREE) for slot in free])


def _has_free_move(calendar: Calendar) -> bool:
    """Whether something on the calendar costs nothing to move."""
    for item in calendar:  # a plain loop: called in every turn
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
    # Of chains that differ only in their last target, the lowest targets come first.
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
    """Return, ascending, the agents outside the meeting that take part in moved meetings."""
    concerned = {
        agent
        for plan in plans
        for move in plan.moves
        for agent in move.meeting.participants
        if agent not in meeting.participants
    }
    return tuple(sorted(concerned)) if concerned else ()
