"""The initiator's choice among all plans scored so far (paper, appendix D.3)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, Slot
from calbench.protocols.dsm.plans import Plan, outsiders
from calbench.protocols.dsm.scores import FREE

ScoresByAgent = Mapping[AgentId, Mapping[int, int]]
"""Scores by responder and plan id."""


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
