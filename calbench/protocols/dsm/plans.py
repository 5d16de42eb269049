"""Plans: where the initiator could place the meeting, how many it offers, which one is chosen.

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
from calbench.domain.messages import MeetingMove, OfferedPlan, Proposals
from calbench.protocols.dsm.scores import FREE, satisfaction
from calbench.protocols.dsm.settings import DsmSettings

LEAST_RESPONDER, GREATEST_RESPONDER = 0.05, 0.95
"""Bounds of the probability that one responder can use a slot [R]."""

LEAST_JOINT, GREATEST_JOINT = 0.01, 0.95
"""Bounds of the probability that all responders can use a slot [R]."""

ScoresByAgent = Mapping[AgentId, Mapping[int, int]]
"""Scores by responder and plan id."""

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


def joint_feasibility(calendar: Calendar, num_responders: int) -> float:
    """Return q, the probability that a plan suits all responders, from the own calendar.

    The share of own free slots (without blocked ones and meetings) to the power of the number of
    responders [P: density and number of responders; the formula is R].
    """
    occupied = sum([item is not None for item in calendar]) / len(calendar)
    return joint_feasibility_of(1 - occupied, num_responders)


def joint_feasibility_of(free: float, num_responders: int) -> float:
    """Return q for a share of own free slots [R]."""
    one = _clip(free, LEAST_RESPONDER, GREATEST_RESPONDER)
    return _clip(one**num_responders, LEAST_JOINT, GREATEST_JOINT)


def offer_size(untried: Sequence[Plan], q: float, settings: DsmSettings) -> int:
    """Return how many of the untried plans to offer now.

    The size L in lmin..lmax that maximises ``p (v + w) - beta (1 - p) - theta L`` [P], with
    ``p = 1 - (1 - q)^L`` the probability that one of them suits all and ``v`` the mean own score
    of the first L, divided by 11; of several maxima the first [R]. If fewer than lmin plans are
    left, all of them [C].

    Args:
        untried: in the initiator's order.
        q: see :func:`joint_feasibility`.
        settings: the weights and the bounds of L.
    """
    if len(untried) <= settings.lmin:
        return len(untried)
    best, best_utility = settings.lmin, float("-inf")
    total = sum([plan.score for plan in untried[: settings.lmin - 1]])
    for size in range(settings.lmin, min(settings.lmax, len(untried)) + 1):
        total += untried[size - 1].score
        p = 1 - (1 - q) ** size
        v = total / (FREE * size)
        utility = p * (v + settings.w) - settings.beta * (1 - p) - settings.theta * size
        if utility > best_utility:
            best, best_utility = size, utility
    return best


def offers(batch: Sequence[Plan], first_id: int, recipients: Sequence[AgentId]) -> list[Proposals]:
    """Return a batch as each recipient sees it.

    It sees the moves of its own meetings, and of other meetings only the slots they leave [P: a
    meeting is known only to its participants; the vacated slots are R].
    """
    if not any(plan.moves for plan in batch):
        plain = [OfferedPlan(at, plan.slot, (), ()) for at, plan in enumerate(batch, first_id)]
        return [Proposals(tuple(plain))] * len(recipients)
    columns = [_views(plan_id, plan, recipients) for plan_id, plan in enumerate(batch, first_id)]
    return [Proposals(plans) for plans in zip(*columns, strict=True)]


def _views(plan_id: int, plan: Plan, recipients: Sequence[AgentId]) -> list[OfferedPlan]:
    """Return one plan as each recipient sees it; those who may see the same share one view."""
    by_visible: dict[tuple[MeetingMove, ...], OfferedPlan] = {}
    told = [(move.meeting.participants, told_move(move)) for move in plan.moves]
    views: list[OfferedPlan] = []
    for agent in recipients:
        visible = tuple([move for participants, move in told if agent in participants])
        view = by_visible.get(visible)
        if view is None:
            vacated = tuple([move.from_slot for _, move in told if move not in visible])
            view = OfferedPlan(plan_id, plan.slot, visible, vacated)
            by_visible[visible] = view
        views.append(view)
    return views


def told_move(move: Displacement) -> MeetingMove:
    """Return a move as recipients see it."""
    meeting = move.meeting
    return MeetingMove(meeting.meeting_id, move.from_slot, move.to_slot, meeting.cost)


def visible_moves(plan: Plan, agent: AgentId) -> tuple[MeetingMove, ...]:
    """Return the moves of meetings in which an agent takes part."""
    return tuple([told_move(move) for move in plan.moves if agent in move.meeting.participants])


def _clip(value: float, least: float, greatest: float) -> float:
    return min(greatest, max(least, value))


class Rank(NamedTuple):
    """A plan's place in the order of choice; smaller is better [R].

    Attributes:
        is_infeasible: some responder scored it 0.
        shortfall: ``11 (required + 1)`` minus all scores, including the initiator's.
        burden: agents that decide on it, ``required + 1``.
        slot: of the meeting.
        index_in_slot: of the plan.
        plan_id: of the plan.
    """

    is_infeasible: bool
    shortfall: int
    burden: int
    slot: Slot
    index_in_slot: int
    plan_id: int


def required(plan: Plan, meeting: Meeting, responders: Sequence[AgentId]) -> tuple[AgentId, ...]:
    """Return the agents whose consent a plan needs, apart from the initiator.

    These are all other participants, and the outsiders in meetings that the plan moves.
    """
    return (*responders, *outsiders((plan,), meeting)) if plan.moves else tuple(responders)


def best_rank(
    offered: Sequence[Plan],
    meeting: Meeting,
    responders: Sequence[AgentId],
    scores_by_agent: ScoresByAgent,
) -> Rank | None:
    """Return the best of the offered plans, or ``None`` while a score is missing.

    Args:
        offered: all plans offered so far, in the order of their ids.
        meeting: to be placed.
        responders: its other participants.
        scores_by_agent: what was heard.
    """
    unheard: Mapping[int, int] = {}
    heard = [scores_by_agent.get(agent, unheard) for agent in responders]
    best: tuple[bool, int, int, Slot, int, int] | None = None
    for plan_id, plan in enumerate(offered):
        asked = heard
        if plan.moves:
            concerned = outsiders((plan,), meeting)
            asked = [*heard, *[scores_by_agent.get(agent, unheard) for agent in concerned]]
        try:
            scores = [by_plan[plan_id] for by_plan in asked]
        except KeyError:
            return None
        burden = len(asked) + 1
        shortfall = FREE * burden - sum(scores) - plan.score
        key = (0 in scores, shortfall, burden, plan.slot, plan.index_in_slot, plan_id)
        if best is None or key < best:
            best = key
    return None if best is None else Rank(*best)
