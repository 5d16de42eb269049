"""Offers: how many plans go out at once, what each recipient sees of them, which one is chosen."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from calbench.domain.calendars import Calendar, Meeting
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import MeetingMove, OfferedPlan, Proposals
from calbench.protocols.dsm.plans import Displacement, Plan, outsiders
from calbench.protocols.dsm.scores import FREE
from calbench.protocols.dsm.settings import DsmSettings

LEAST_RESPONDER, GREATEST_RESPONDER = 0.05, 0.95
"""Bounds of the probability that one responder can use a slot [R]."""

LEAST_JOINT, GREATEST_JOINT = 0.01, 0.95
"""Bounds of the probability that all responders can use a slot [R]."""


ScoresByAgent = Mapping[AgentId, Mapping[int, int]]
"""Scores by responder and plan id."""


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
    columns: list[list[OfferedPlan]] = []
    has_moves = False
    for plan_id, plan in enumerate(batch, first_id):
        if plan.moves:
            columns.append(_views(plan_id, plan, recipients))
            has_moves = True
        else:
            view = OfferedPlan(plan_id, plan.slot, (), ())
            columns.append([view] * len(recipients))
    if not has_moves:
        return [Proposals(tuple([column[0] for column in columns]))] * len(recipients)
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
