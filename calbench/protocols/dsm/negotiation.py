"""What an initiator has said and heard about one meeting, according to its transcript."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from calbench.domain.ids import AgentId
from calbench.domain.messages import Message, PlanDecision, Proposals, Scores
from calbench.protocols.dsm.scores import FREE


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
