"""Plans: where the initiator could place the meeting, and what would have to move.

A plan is a slot and, if the slot holds a meeting, a chain of moves: that meeting moves to a free
slot, or to the slot of another own meeting, which then moves (paper, appendix D.3).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from calbench.domain.calendars import Booking, Calendar, Meeting, all_slots, free_slots
from calbench.domain.ids import AgentId, Slot
from calbench.protocols.dsm.scores import FREE, satisfaction

Chain = tuple[int, int, tuple[Slot, ...]]
"""Sum of moved costs, length, slots: the order of displacement plans of one slot [R]."""


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
_place = attrgetter("slot", "index_in_slot")


def own_plans(calendar: Calendar, depth: int, targets: int) -> tuple[Plan, ...]:
    """Return all plans the owner could offer, by descending own score, slot, index in slot.

    A plan's place in this order is its id: a calendar does not change while its owner talks, so
    ids are the same for all batches of a meeting.

    Args:
        calendar: the initiator's. Without a free slot nothing can be moved or offered.
        depth: greatest number of meetings in a chain.
        targets: displacement plans kept for each slot.
    """
    free: list[Slot] = []
    held: dict[Slot, Meeting] = {}
    plans: list[Plan] = []
    for slot, item in zip(all_slots(len(calendar)), calendar, strict=True):
        if item is None:
            free.append(slot)
            plans.append(_placing(slot, FREE))
        elif isinstance(item, Booking):
            held[slot] = item.meeting
        elif not item.blocked:
            plans.append(_placing(slot, satisfaction(item.shown_cost)))
    if not free:
        return ()
    if held:
        for slot in held:
            plans.extend(_displacements(slot, held, free, depth, targets))
        plans.sort(key=_place)
    plans.sort(key=_own_score, reverse=True)  # keeps the order of slots among equals
    return tuple(plans)


@lru_cache(maxsize=4096)
def _placing(slot: Slot, score: int) -> Plan:
    """Return a plan that moves no meeting; they are the same in every game."""
    return Plan(slot, 0, score)


class OwnPlans:
    """What an agent could offer on the calendar it was asked about last.

    An initiator needs its plans at least twice in a round, in which its calendar does not change.
    They are made again for any other calendar, so they never depend on what was asked before.
    """

    __slots__ = ("_calendar", "_depth", "_free", "_plans", "_targets")

    def __init__(self, depth: int, targets: int) -> None:
        """Begin without plans; see :func:`own_plans`."""
        self._depth = depth
        self._targets = targets
        self._calendar: Calendar = ()
        self._free: tuple[Plan, ...] = ()
        self._plans: tuple[Plan, ...] | None = None

    def every(self, calendar: Calendar) -> tuple[Plan, ...]:
        """Return :func:`own_plans` of a calendar."""
        self._look_at(calendar)
        if self._plans is None:
            self._plans = own_plans(calendar, self._depth, self._targets)
        return self._plans

    def first(self, calendar: Calendar, count: int) -> tuple[Plan, ...]:
        """Return the first ``count`` of them, or all there are.

        Free slots come first unless something costs nothing to move, so a small offer often needs
        no displacement plans.
        """
        self._look_at(calendar)
        return (self._free if count <= len(self._free) else self.every(calendar))[:count]

    def _look_at(self, calendar: Calendar) -> None:
        """Forget the plans of another calendar; find those of free slots, if they come first."""
        if calendar is not self._calendar:
            self._calendar, self._plans, self._free = calendar, None, ()
            if not _has_free_move(calendar):
                self._free = tuple([_placing(slot, FREE) for slot in free_slots(calendar)])


def _has_free_move(calendar: Calendar) -> bool:
    """Whether something on the calendar costs nothing to move."""
    for item in calendar:
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
    chains = islice(_chains(slot, held, free, depth), targets)
    for index, (cost, _, (_, *to_slots)) in enumerate(chains):
        moves: list[Displacement] = []
        from_slot = slot
        for to_slot in to_slots:
            moves.append(Displacement(held[from_slot], from_slot, to_slot))
            from_slot = to_slot
        yield Plan(slot, index, satisfaction(cost), tuple(moves))


def _chains(
    slot: Slot, held: Mapping[Slot, Meeting], free: Sequence[Slot], depth: int
) -> Iterator[Chain]:
    """Yield every chain that empties a slot, in order: a best-first search.

    Costs are never negative, so a longer chain through the same meetings comes later: what can
    still be reached from the first path in the queue follows all chains that end there.
    """
    queue: list[Chain] = [(held[slot].cost, 1, (slot,))]
    while queue:
        cost, length, path = heappop(queue)
        for target in free:
            yield cost, length, (*path, target)
        if length < depth:
            for onto, meeting in held.items():
                if onto not in path:
                    heappush(queue, (cost + meeting.cost, length + 1, (*path, onto)))


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
