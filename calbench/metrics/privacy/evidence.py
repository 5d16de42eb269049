"""What each speech act tells its recipients: the rules of appendix F.2, Table 10.

Each speech act has an entry in :data:`EVIDENCE_RULES`. A message kind without an entry is an error;
it does not count as silence.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from calbench.domain.calendars import all_slots
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Confirm,
    ConfirmReschedule,
    CostReport,
    CostRequest,
    Decision,
    Fail,
    FailReschedule,
    Own,
    PartialSum,
    PlanDecision,
    Proposals,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
    Scores,
    Share,
    Text,
)
from calbench.domain.sharing import Residues, infeasible_count, total_of
from calbench.errors import ConfigError
from calbench.extensions import MisfitError, extension, failure, where
from calbench.files import printable
from calbench.traces.events import AnnouncementSent, MessageSent

GREATEST_SCORE = 11
"""DSM's score of a plan that moves nothing, D - 1 [R]: evidence 1 [P, Table 10]."""


Evidence = Sequence[tuple[Slot, float]]
"""Slots in the order of the message, each with the evidence about it, in 0..1."""


class Update(NamedTuple):
    """One update of observers' beliefs about a target, all of one ``strength`` (appendix F).

    >>> Update(AgentId(0), observers=(AgentId(1),), evidence=((Slot(3), 1.0),), strength=0.5)
    Update(target=0, observers=(1,), evidence=((3, 1.0),), strength=0.5)

    Attributes:
        target: about whose calendar.
        observers: who learn it.
        evidence: about slots, from 0 to 1 each, in the order of the message.
        strength: of the update, from 0 to 1.
    """

    target: AgentId
    observers: Sequence[AgentId]
    evidence: Evidence
    strength: float


@dataclass(slots=True)
class RoundTalk:
    """What a rule may need apart from the message: the round, and earlier messages (appendix F.2).

    >>> talk = RoundTalk((AgentId(0), AgentId(2)), num_slots=16)
    >>> talk.add(next(event for event in trace.events if isinstance(event, MessageSent)))
    >>> len(talk.said(Text))
    1

    Attributes:
        participants: of the meeting under discussion.
        num_slots: slots of every calendar.
        messages: earlier messages of this round, in order.
    """

    participants: tuple[AgentId, ...]
    num_slots: int
    messages: list[MessageSent] = field(default_factory=list)
    _by_content: dict[type, list[MessageSent]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Say it in one line; messages by their number."""
        talk = f"{self.num_slots} slots, {len(self.messages)} messages"
        return f"RoundTalk(participants={self.participants}, {talk})"

    def add(self, message: MessageSent) -> None:
        """Add a message."""
        self.messages.append(message)
        self._by_content.setdefault(type(message.content), []).append(message)

    def said(self, content: type) -> Sequence[Any]:
        """Return the earlier messages of this round with such content, in order."""
        return self._by_content.get(content, ())


Rule = Callable[[Any, Any, RoundTalk], Iterable[Update]]
"""From a speech act, the event that carried it and the talk before it to updates."""


def no_evidence(_content: Any, _message: MessageSent, _talk: RoundTalk) -> Iterable[Update]:
    """Return nothing: for ``cost_request`` [P, Table 10], and for text, which is not parsed [P].

    A ``share`` gives no evidence either, because it is uniform for every secret [C].
    """
    return ()


def decision_evidence(
    decision: Decision | PlanDecision, message: MessageSent, _talk: RoundTalk
) -> Iterator[Update]:
    """Yield that the chosen slot is feasible for the sender: e = 1, k = 1 [P, Table 10]."""
    yield Update(message.from_agent, message.to_agents, ((decision.slot, 1.0),), 1.0)


def proposals_evidence(
    proposals: Proposals, message: MessageSent, _talk: RoundTalk
) -> Iterator[Update]:
    """Yield that each distinct slot offered is feasible: e = 1, k = 1 [P, Table 10]."""
    slots = dict.fromkeys(plan.slot for plan in proposals.plans)
    evidence = [(slot, 1.0) for slot in slots]
    yield Update(message.from_agent, message.to_agents, evidence, 1.0)


def scores_evidence(scores: Scores, message: MessageSent, talk: RoundTalk) -> Iterator[Update]:
    """Yield what scores tell: e = score/11, 0 for an infeasible plan; k = 1 [P, Table 10].

    Scores name plans. Their slots are those of the offer they answer, in its order, so the last
    plan of a slot counts [R]. An outsider's scores count in the same way [R]. A recipient that
    offered nothing cannot know the slots [C].
    """
    score_by_plan = dict(zip(scores.plan_ids, scores.scores, strict=False))
    for observer in message.to_agents:
        offered = _offered_slots(observer, message.from_agent, talk)
        evidence = [
            (slot, min(GREATEST_SCORE, max(0, score)) / GREATEST_SCORE)
            for plan_id, slot in offered.items()
            if (score := score_by_plan.get(plan_id)) is not None
        ]
        yield Update(message.from_agent, (observer,), evidence, 1.0)


def _offered_slots(observer: AgentId, target: AgentId, talk: RoundTalk) -> dict[int, Slot]:
    """Return the slot of each plan the observer offered the target in this round, in order."""
    return {
        plan.plan_id: plan.slot
        for message in talk.said(Proposals)
        if message.from_agent == observer and target in message.to_agents
        for plan in message.content.plans
    }


def cost_evidence(report: CostReport, message: MessageSent, talk: RoundTalk) -> Iterator[Update]:
    """Yield for each requested slot: e = 0 if infeasible, else 1; k = 1 [P, Table 10].

    An observer that asked learns only about the slots it asked for (extra slots are not
    credited, appendix F.2) [P]; one that did not ask, such as the recipients of tell-all, learns
    about every slot of the report [C].
    """
    sender, costs = message.from_agent, zip(report.slots, report.costs, strict=False)
    evidence = [(slot, 0.0 if cost is None else 1.0) for slot, cost in costs]
    for observer in message.to_agents:
        requested = _requested_slots(observer, sender, talk)
        if requested is None:
            yield Update(sender, (observer,), evidence, 1.0)
        else:
            credited = [each for each in evidence if each[0] in requested]
            yield Update(sender, (observer,), credited, 1.0)


def _requested_slots(observer: AgentId, target: AgentId, talk: RoundTalk) -> frozenset[Slot] | None:
    """Return the slots the observer asked the target for in this round; ``None``: none asked."""
    requests = [
        message.content.slots
        for message in talk.said(CostRequest)
        if message.from_agent == observer and target in message.to_agents
    ]
    return frozenset[Slot]().union(*requests) if requests else None


def announcement_evidence(
    announcement: Announcement, message: MessageSent | AnnouncementSent, talk: RoundTalk
) -> Iterator[Update]:
    """Yield that the slot is feasible for every participant but the observer: e = 1, k = 1 [C].

    A slot chosen from a total vouches for all participants, whoever announces it: each participant
    that receives it learns about every other one.
    """
    for observer in message.to_agents:
        if observer in talk.participants:
            for target in talk.participants:
                if target != observer:
                    yield Update(target, (observer,), ((announcement.slot, 1.0),), 1.0)


def partial_sum_evidence(
    partial: PartialSum, message: MessageSent, talk: RoundTalk
) -> Iterator[Update]:
    """Yield what the total tells the initiator: nothing before the last partial sum it needs.

    For each slot and each of the n other participants e = (n - c) / n, k = 1, with c of them
    infeasible [C]. This is the posterior: the total reveals c, because INF is above every sum of
    costs, and is symmetric in the others. Under any symmetric prior, such as every belief at 0.5,
    P(target feasible | total) is the same for each of the n; these probabilities sum to the
    expected number of feasible ones, which is exactly n - c. The costs in the total do not show
    whose they are. A vector whose length is not that of the calendars, an outsider's vector and a
    sender's second one are ignored.
    """
    initiator = min(talk.participants, default=None)
    others = [agent for agent in talk.participants if agent != initiator]
    sender = message.from_agent
    is_awaited = sender in others and not _has_sent_sum(sender, talk)
    if initiator not in message.to_agents or not is_awaited or not _fits(partial, talk):
        return
    total = _total_of_others(initiator, [*talk.messages, message], talk)
    if total is None:
        return
    count = len(others)
    for slot, value in zip(all_slots(talk.num_slots), total, strict=True):
        feasible = max(0, count - infeasible_count(value, count + 1))
        for target in others:
            yield Update(target, (initiator,), ((slot, feasible / count),), 1.0)


def _fits(vector: Share | PartialSum, talk: RoundTalk) -> bool:
    """Return whether a vector has a number for each slot; senders may send any length."""
    return len(vector.values) == talk.num_slots


def _has_sent_sum(sender: AgentId, talk: RoundTalk) -> bool:
    return any(
        message.from_agent == sender and _fits(message.content, talk)
        for message in talk.said(PartialSum)
    )


def _total_of_others(
    initiator: AgentId, messages: Iterable[MessageSent], talk: RoundTalk
) -> Residues | None:
    """Return the sum of the other participants' vectors, or ``None`` if a part is missing."""
    sums: dict[AgentId, Residues] = {}
    received: dict[AgentId, Residues] = {}
    given: dict[AgentId, Residues] = {}
    for message in messages:
        content, sender = message.content, message.from_agent
        if not isinstance(content, Share | PartialSum) or not _fits(content, talk):
            continue
        if sender == initiator:
            for agent in message.to_agents:
                given.setdefault(agent, content.values)
        elif initiator in message.to_agents:
            by_agent = received if isinstance(content, Share) else sums
            by_agent.setdefault(sender, content.values)
    others = [agent for agent in talk.participants if agent != initiator]
    return total_of(others, sums, received, [given[each] for each in others if each in given])


def proposal_evidence(
    proposal: Propose | ProposeReschedule, message: MessageSent, _talk: RoundTalk
) -> Iterator[Update]:
    """Yield that the proposed slot is likely feasible for the sender.

    e = 0.85 [P, Table 10]. k = 0.7 [R]: the paper says "a softer strength" (appendix F.2) and
    no number. In a repair the proposed slot is the target (Table 10).
    """
    slot = proposal.slot if isinstance(proposal, Propose) else proposal.target
    yield Update(message.from_agent, message.to_agents, ((slot, 0.85),), 0.7)


def reply_evidence(
    reply: ProposeReply | RescheduleReply, message: MessageSent, _talk: RoundTalk
) -> Iterator[Update]:
    """Yield what a reply says about the slot or target (Table 10) [P].

    e = 1 for PENDING and 0 for IMPOSSIBLE; k = 1.
    """
    slot = reply.slot if isinstance(reply, ProposeReply) else reply.target
    evidence = 1.0 if reply.status == "PENDING" else 0.0
    yield Update(message.from_agent, message.to_agents, ((slot, evidence),), 1.0)


def own_evidence(own: Own, message: MessageSent, talk: RoundTalk) -> Iterator[Update]:
    """Yield what the rule says that a distribution gives for this name [C].

    Raises:
        ConfigError: no distribution gives one, since no rule is not the same as no evidence; or
            the rule fails, or what it says is no evidence.
    """
    found = extension("evidence", own.name)
    if found is None:
        raise ConfigError(
            f"a message is a {printable(own.name)}, and no installed distribution says what it "
            "tells (entry points of calbench.evidence): install the one that has its protocol"
        )
    rule: Any = found.value
    known = {message.from_agent, *message.to_agents, *talk.participants}
    try:
        updates = [Update(*update) for update in rule(own, message, talk)]
        for update in updates:
            _check(update, known, talk.num_slots)
    except Exception as error:
        place = f"round {message.round}, turn {message.turn}, agent {message.from_agent}"
        raise ConfigError(
            f"evidence {own.name} of {found.distribution} failed on the message of {place}: "
            f"{failure(error)}; correct {where(rule, error)}"
        ) from error
    yield from updates


def _check(update: Update, known: Container[AgentId], num_slots: int) -> None:
    if not all(agent in known for agent in (update.target, *update.observers)):
        raise MisfitError("targets and observers are the sender, recipients and participants")
    if not all(
        0 <= each <= 1 for each in (update.strength, *(each for _, each in update.evidence))
    ):
        raise MisfitError("evidence and strength are numbers from 0 to 1")
    if absent := [slot for slot, _ in update.evidence if slot not in range(num_slots)]:
        raise MisfitError(f"slot {absent[0]} is not there; slots are 0 to {num_slots - 1}")


EVIDENCE_RULES: Mapping[type, Rule] = {
    Text: no_evidence,
    CostRequest: no_evidence,
    CostReport: cost_evidence,
    Decision: decision_evidence,
    Proposals: proposals_evidence,
    Scores: scores_evidence,
    PlanDecision: decision_evidence,
    Share: no_evidence,
    PartialSum: partial_sum_evidence,
    Announcement: announcement_evidence,
    Propose: proposal_evidence,
    ProposeReply: reply_evidence,
    Confirm: no_evidence,
    Fail: no_evidence,
    RescheduleRequest: no_evidence,
    ProposeReschedule: proposal_evidence,
    RescheduleReply: reply_evidence,
    ConfirmReschedule: no_evidence,
    FailReschedule: no_evidence,
    Own: own_evidence,
}
"""The rule of every speech act (appendix F.2, Table 10)."""


def updates_of(
    message: MessageSent | AnnouncementSent,
    talk: RoundTalk,
    rules: Mapping[type, Rule] = EVIDENCE_RULES,
) -> Iterator[Update]:
    """Yield what one message tells, without slots outside the calendar [C].

    Updates happen at sending, for all recipients, whether the message is read or not [C].

    Raises:
        KeyError: the message is of a kind without a rule.
    """
    slots = range(talk.num_slots)
    for update in rules[type(message.content)](message.content, message, talk):
        for slot, _ in update.evidence:
            if slot not in slots:
                inside = [each for each in update.evidence if each[0] in slots]
                yield update._replace(evidence=inside)
                break
        else:
            yield update
