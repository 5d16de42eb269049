"""What an initiator has said and heard about a meeting, and its account of points (appendix D.3).

The account says what scores cost and earn, and influences nothing. It is in the ``thinking`` of
the turn in which the initiator announces a plan: it is recorded in the trace, but not shown to
other agents, not counted by any measure, and not part of any message [C: the paper does not say
where points are kept]. It is computed from the transcript whenever it is written.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import Message, PlanDecision, Proposals, Scores
from calbench.protocols.dsm.scores import FREE, INFEASIBLE, NUM_LEVELS

FIRST_BUDGET = 100
"""An agent's points when the game begins [R]."""


@dataclass(slots=True)
class Negotiation:
    """The initiator's memory of one meeting.

    Attributes:
        asked: ids of the plans each recipient was offered, in order.
        scores: what each agent answered, by plan id; the first answer counts.
        decision: what was announced, if anything was.
        told: the recipients of the announcement.
    """

    asked: dict[AgentId, list[int]] = field(default_factory=dict)
    scores: dict[AgentId, dict[int, int]] = field(default_factory=dict)
    decision: PlanDecision | None = None
    told: list[AgentId] = field(default_factory=list)

    @property
    def num_offered(self) -> int:
        """Plans offered so far; batches take them in order, so ids count them."""
        return max((ids[-1] + 1 for ids in self.asked.values() if ids), default=0)

    @property
    def is_answered(self) -> bool:
        """Whether all agents asked have scored every plan they were offered."""
        for agent, plan_ids in self.asked.items():
            scores = self.scores.get(agent)
            if scores is None or not scores.keys() >= set(plan_ids):
                return False
        return True


def negotiation(messages: Iterable[Message], me: AgentId) -> Negotiation:
    """Read one meeting's messages as its initiator.

    Numbers that are not levels are not scores: their plan stays unanswered [C].
    """
    talk = Negotiation()
    for message in messages:
        content = message.content
        if isinstance(content, Scores):
            if message.sender is not None and message.sender != me:
                scores = talk.scores.setdefault(message.sender, {})
                for plan_id, score in zip(content.plan_ids, content.scores, strict=False):
                    if 0 <= score <= FREE and plan_id not in scores:
                        scores[plan_id] = score
        elif message.sender != me:
            continue
        elif isinstance(content, Proposals):
            plan_ids = [plan.plan_id for plan in content.plans]
            for agent in message.recipients:
                talk.asked.setdefault(agent, []).extend(plan_ids)
        elif isinstance(content, PlanDecision):
            talk.decision = content
            talk.told.extend(message.recipients)
    return talk


def scoring_cost(scores: Sequence[int]) -> int:
    """Return what a responder pays for its scores.

    ``sum (D - s - 1) sign(s)`` [P, R]: 11 for each feasible offer, minus the levels given.
    """
    return (NUM_LEVELS - 1) * availability(scores) - sum(scores)


def availability(scores: Sequence[int]) -> int:
    """Return a, the number of feasible offers [P]."""
    return len(scores) - scores.count(INFEASIBLE)


def flexibility(scores: Sequence[int]) -> int:
    """Return the scores as digits in base a + 1: ``sum s (a+1)^(s-1) count(s)`` [P, R]."""
    weights = _weights(availability(scores) + 1)
    return sum([weights[score] for score in scores])


@cache
def _weights(base: int) -> tuple[int, ...]:
    """Return what each level counts as a digit; there are as many bases as plans in an offer."""
    return (0, *[level * base ** (level - 1) for level in range(1, NUM_LEVELS)])


def reward(score: int, available: int, offers: int) -> int:
    """Return what the initiator pays a responder for its score of the chosen plan.

    ``(11 - s) + max(0, min(a, offers) - 1)``; 0 for an infeasible or a free slot [P, R].
    """
    if score in {INFEASIBLE, FREE}:
        return 0
    return (FREE - score) + max(0, min(available, offers) - 1)


class Settlement(NamedTuple):
    """What one responder pays and earns by one decision."""

    scores: list[int]
    availability: int
    cost: int
    reward: int


def settle(
    talk: Negotiation, chosen: int, selected: Collection[AgentId]
) -> dict[AgentId, Settlement]:
    """Settle one decision.

    Every agent that was asked pays for all its scores of the meeting. Every agent whose consent
    the chosen plan needed is rewarded for its score of it; ``offers`` counts the plans it was
    offered [C: the paper speaks of "the responder whose score was selected"].

    Args:
        talk: the meeting's offers and scores.
        chosen: id of the plan announced.
        selected: agents whose consent it needed.
    """
    settled: dict[AgentId, Settlement] = {}
    for agent, plan_ids in talk.asked.items():
        by_plan = talk.scores.get(agent, {})
        scores = [by_plan[plan_id] for plan_id in plan_ids if plan_id in by_plan]
        available = availability(scores)
        earned = 0
        if agent in selected and chosen in by_plan:
            earned = reward(by_plan[chosen], available, len(plan_ids))
        settled[agent] = Settlement(scores, available, scoring_cost(scores), earned)
    return settled


def budget_after(budget: int, settled: Iterable[Settlement]) -> int:
    """Return the initiator's points after a decision: ``max(0, B + collected - paid)`` [P, R]."""
    return max(0, budget + sum([each.cost - each.reward for each in settled]))


def budget_before(earlier: Sequence[Message], me: AgentId) -> int:
    """Return an agent's points after the meetings it has announced so far."""
    announced = {
        message.meeting_id: message.content
        for message in earlier
        if message.sender == me and isinstance(message.content, PlanDecision)
    }
    talks: dict[MeetingId, list[Message]] = {meeting_id: [] for meeting_id in announced}
    for message in earlier:
        if message.meeting_id in talks:
            talks[message.meeting_id].append(message)
    budget = FIRST_BUDGET
    for meeting_id, decision in announced.items():
        talk = negotiation(talks[meeting_id], me)
        budget = budget_after(budget, settle(talk, decision.plan_id, talk.told).values())
    return budget


def account(talk: Negotiation, chosen: int, selected: Collection[AgentId], budget: int) -> str:
    """Return the account of one decision as text for the trace.

    For every responder its availability, flexibility, scoring cost and reward; for the initiator
    what it collected and paid, and its budget afterwards.
    """
    settled = settle(talk, chosen, selected)
    # Canonical JSON, written by hand: a general encoder would take as long as all the rest.
    responders = [
        f'"{agent}":{{"availability":{each.availability},'
        f'"flexibility":{flexibility(each.scores)},"reward":{each.reward},'
        f'"scoring_cost":{each.cost}}}'
        for agent, each in sorted(settled.items(), key=_name)
    ]
    collected = sum([each.cost for each in settled.values()])
    paid = sum([each.reward for each in settled.values()])
    return (
        f'{{"points":{{"budget":{budget_after(budget, settled.values())},'
        f'"collected":{collected},"paid":{paid},"responders":{{{",".join(responders)}}}}}}}'
    )


def _name(entry: tuple[AgentId, Settlement]) -> str:
    return str(entry[0])
