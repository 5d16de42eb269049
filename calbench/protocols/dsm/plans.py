"""Plans: where the initiator could put the meeting, and what it would move for that.

A plan is a slot, and for a slot that holds a meeting a chain of moves: that meeting to a free
slot, or onto the slot of another own meeting, which moves on (paper, appendix D.3).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from calbench.domain.calendars import Booking, Calendar, Meeting, all_slots
from calbench.domain.ids import AgentId, Slot
from calbench.protocols.dsm.levels import FREE, satisfaction

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


def own_plans(calendar: Calendar, depth: int, targets: int) -> Iterator[Plan]:
    """Yield everything the owner could offer: own score descending, slot, index in slot.

    A plan's place in this order is its id: a calendar does not change while its owner talks,
    so ids stay the same over all batches of a meeting. What moves something is worked out
    only if more is asked for than the free slots.

    Args:
        calendar: the initiator's. Without a free slot nothing can be moved, nor offered.
        depth: most meetings in a chain.
        targets: displacement plans kept for each slot.
    """
    slots = all_slots(len(calendar))
    free = [slot for slot, item in zip(slots, calendar, strict=True) if item is None]
    if not free:
        return
    errands: list[tuple[Slot, int]] = []
    held: dict[Slot, Meeting] = {}
    least = 1
    for slot, item in zip(slots, calendar, strict=True):
        if isinstance(item, Booking):
            held[slot] = item.meeting
            least = min(least, item.meeting.cost)
        elif item is not None and not item.blocked:
            errands.append((slot, item.shown_cost))
            least = min(least, item.shown_cost)
    if least > 0:
        # Whatever moves something is below the level of a free slot.
        for slot in free:
            yield Plan(slot, 0, FREE)
    plans = [] if least > 0 else [Plan(slot, 0, FREE) for slot in free]
    plans += [Plan(slot, 0, satisfaction(cost)) for slot, cost in errands]
    for slot in held:
        plans.extend(_displacements(slot, held, free, depth, targets))
    yield from sorted(plans, key=_own_order)


def _own_order(plan: Plan) -> tuple[int, Slot, int]:
    return -plan.score, plan.slot, plan.index_in_slot


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
