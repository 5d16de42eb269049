"""What each speech act tells its recipients: the rules of appendix F.2, Table 10.

One function per speech act, and one entry in :data:`EVIDENCE_RULES`; a message kind without
an entry cannot be measured, so leaving one out fails instead of counting as silence.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CostReport, CostRequest, Decision, Text
from calbench.traces.events import MessageSent


class Update(NamedTuple):
    """One nudge of a belief: ``evidence`` in 0..1 about a slot, ``strength`` in 0..1."""

    target: AgentId
    observer: AgentId
    slot: Slot
    evidence: float
    strength: float


@dataclass(slots=True)
class RoundTalk:
    """What a rule may need beside the message: the round, and what was said in it before.

    Attributes:
        participants: of the meeting under discussion.
        num_slots: slots of every calendar.
        messages: earlier messages of this round, in order.
    """

    participants: tuple[AgentId, ...]
    num_slots: int
    messages: list[MessageSent] = field(default_factory=list)


Rule = Callable[[Any, MessageSent, RoundTalk], Iterable[Update]]
"""From a speech act, the message that carried it and the talk before it to updates."""


def no_evidence(_content: Any, _message: MessageSent, _talk: RoundTalk) -> Iterable[Update]:
    """Tell nothing: IMAP's ``cost_request`` [P, Table 10], and text, which is not parsed [P]."""
    return ()


def decision_evidence(
    decision: Decision, message: MessageSent, _talk: RoundTalk
) -> Iterator[Update]:
    """Yield that the chosen slot is feasible for the sender: e = 1, k = 1 [P, Table 10]."""
    for observer in message.to_agents:
        yield Update(message.from_agent, observer, decision.slot, 1.0, 1.0)


def cost_evidence(report: CostReport, message: MessageSent, talk: RoundTalk) -> Iterator[Update]:
    """Yield for each requested slot: e = 0 if infeasible, else 1; k = 1 [P, Table 10].

    An observer that asked hears only about the slots it asked for (extra slots are not
    credited, appendix F.2) [P]; one that did not ask, such as those tell-all tells, hears
    about every slot of the report [C].
    """
    costs = list(zip(report.slots, report.costs, strict=False))
    for observer in message.to_agents:
        requested = _requested_slots(observer, message.from_agent, talk)
        for slot, cost in costs:
            if requested is None or slot in requested:
                evidence = 0.0 if cost is None else 1.0
                yield Update(message.from_agent, observer, slot, evidence, 1.0)


def _requested_slots(observer: AgentId, target: AgentId, talk: RoundTalk) -> frozenset[Slot] | None:
    """Return the slots the observer asked the target for in this round; ``None``: none asked."""
    requests = [
        message.content.slots
        for message in talk.messages
        if message.from_agent == observer
        and isinstance(message.content, CostRequest)
        and target in message.to_agents
    ]
    return frozenset[Slot]().union(*requests) if requests else None


EVIDENCE_RULES: Mapping[type, Rule] = {
    Text: no_evidence,
    CostRequest: no_evidence,
    CostReport: cost_evidence,
    Decision: decision_evidence,
}
"""The rule of every speech act (appendix F.2, Table 10)."""


def updates_of(
    message: MessageSent, talk: RoundTalk, rules: Mapping[type, Rule] = EVIDENCE_RULES
) -> Iterator[Update]:
    """Yield what one message tells, slots outside the calendar left out [C].

    Whoever is addressed hears, whether the message is read or not: updates happen at
    sending [C].

    Raises:
        KeyError: the message is of a kind without a rule.
    """
    for update in rules[type(message.content)](message.content, message, talk):
        if 0 <= update.slot < talk.num_slots:
            yield update
