"""Scores: how satisfied an agent is with an offered plan (paper, appendix D.3)."""

from calbench.domain.calendars import Booking, Calendar
from calbench.domain.messages import OfferedPlan, Proposals, Scores

NUM_LEVELS = 12
"""D, the number of levels, 0 to 11 [R]: the paper's text has D without a number."""

INFEASIBLE = 0
"""The level of an infeasible plan [P]."""

FREE = NUM_LEVELS - 1
"""The level of a plan that moves nothing: the highest [P], 11 with D = 12 [R]."""


def satisfaction(cost: int) -> int:
    """Return the level of a feasible plan from what it moves, in shown cost.

    11 minus the cost, at least 1 [P: decreasing with cost; the linear form is R]. A negative
    cost, which only another agent's false message can name, counts as zero.
    """
    if cost <= 0:
        return FREE
    return FREE - cost if cost < FREE else 1


def scored(calendar: Calendar, proposals: Proposals, *, is_participant: bool) -> Scores:
    """Answer all plans of an offer at once, in its order."""
    score = participant_score if is_participant else outsider_score
    return Scores(
        tuple([plan.plan_id for plan in proposals.plans]),
        tuple([score(calendar, plan) for plan in proposals.plans]),
    )


def participant_score(calendar: Calendar, plan: OfferedPlan) -> int:
    """Return a participant's level for a plan.

    The slot must be free, or hold a movable errand (wherever that will go [R]) or a meeting that
    a visible move takes away. Visible moves are added at the cost they name, even for a recipient
    without a copy of that meeting [R]. A move takes a meeting away if it has the meeting's id,
    whatever slot it names [C].
    """
    if not 0 <= plan.slot < len(calendar):
        return INFEASIBLE
    item = calendar[plan.slot]
    if item is None:
        return FREE if not plan.moves else _moving_score(calendar, plan, 0)
    if isinstance(item, Booking):
        meeting_id = item.meeting.meeting_id
        if not any(move.meeting_id == meeting_id for move in plan.moves):
            return INFEASIBLE
        return _moving_score(calendar, plan, 0)
    if item.blocked:
        return INFEASIBLE
    cost = item.shown_cost
    return satisfaction(cost) if not plan.moves else _moving_score(calendar, plan, cost)


def outsider_score(calendar: Calendar, plan: OfferedPlan) -> int:
    """Return an outsider's level: by its own meetings' moves, 11 if there are none [R]."""
    return _moving_score(calendar, plan, 0) if plan.moves else FREE


def _moving_score(calendar: Calendar, plan: OfferedPlan, cost: int) -> int:
    """Return the level of a cost and the visible moves, whose targets must be open.

    A slot is open if it is free here, or if a move of the plan leaves it according to the plan,
    which is not compared with the own calendar [R].
    """
    vacated = {*plan.vacated, *[move.from_slot for move in plan.moves]}
    for move in plan.moves:
        is_free = 0 <= move.to_slot < len(calendar) and calendar[move.to_slot] is None
        if not is_free and move.to_slot not in vacated:
            return INFEASIBLE
        cost += move.cost
    return satisfaction(cost)
