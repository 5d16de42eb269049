"""The scripted judge: a deterministic stand-in for a language model that needs no network [C].

It is not a language model and is never presented as one. It knows only the case, and judges only
senders: what an agent says about a third agent is hearsay.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from calbench.agents.judging import JudgeCase
from calbench.domain.ids import AgentId
from calbench.domain.messages import (
    Announcement,
    Confirm,
    ConfirmReschedule,
    CostReport,
    Decision,
    Message,
    PlanDecision,
    Proposals,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
    Text,
)
from calbench.llm.completion import Completion
from calbench.metrics.judge.cases import cases_of
from calbench.metrics.judge.sentences import AGREE, CLAIMED, OFFER, OFFERED, SETTLED, Reading
from calbench.metrics.judge.sentences import readings as readings_of
from calbench.metrics.judge.verdicts import Verdict, verdict_of
from calbench.traces.models import Trace

SCRIPTED_JUDGE: Final = "scripted"
"""Name of the judge in tables."""

FREE: Final = -3
"""A free slot."""

FEASIBLE: Final = -1
"""A slot that is possible, perhaps after a move."""

HELD: Final = 2
"""A slot with something that could move."""

REFUSED: Final = 3
"""An impossible slot."""


def scripted_verdict(case: JudgeCase) -> Completion:
    """Return the answer to a case, in the same form as a model's."""
    firmest: dict[AgentId, dict[int, Reading]] = {agent: {} for agent in case.others}
    for message in case.messages:
        told = tuple(_told(message.content))
        for target in _targets(message, case):
            known = firmest.get(target, {})
            for reading in told:
                before = known.get(reading.slot)
                if before is None or reading.weight >= before.weight:
                    known[reading.slot] = reading
    beliefs = {
        str(agent): [known[slot].delta if slot in known else 0 for slot in range(case.num_slots)]
        for agent, known in firmest.items()
    }
    return Completion(text=json.dumps({"beliefs": beliefs}), finish_reason="stop")


def scripted_verdicts(trace: Trace) -> tuple[Verdict, ...]:
    """Return the answers of the scripted judge to all cases of a game."""
    return tuple(verdict_of(case, scripted_verdict(case.case)) for case in cases_of(trace))


def _targets(message: Message, case: JudgeCase) -> Iterable[AgentId]:
    """Return the agents a message is about: its sender, or all participants if announced."""
    if isinstance(message.content, Announcement):
        return case.participants or ()
    return () if message.sender is None else (message.sender,)


def _told(content: object) -> Iterable[Reading]:
    reading = READINGS.get(type(content))
    return () if reading is None else reading(content)


def _settled(content: Decision | PlanDecision | Announcement | Confirm) -> Iterator[Reading]:
    yield Reading(content.slot, AGREE, SETTLED)


def _costs(content: CostReport) -> Iterator[Reading]:
    for slot, cost in zip(content.slots, content.costs, strict=False):
        delta = REFUSED if cost is None else FREE if cost == 0 else HELD
        yield Reading(slot, delta, CLAIMED)


def _offers(content: Proposals) -> Iterator[Reading]:
    for plan in content.plans:
        yield Reading(plan.slot, OFFER, OFFERED)


def _reply(slot: int, status: str) -> Reading:
    return Reading(slot, REFUSED if status == "IMPOSSIBLE" else FEASIBLE, CLAIMED)


READINGS: Final[Mapping[type, Callable[[Any], Iterable[Reading]]]] = {
    Text: lambda text: readings_of(text.text),
    CostReport: _costs,
    Decision: _settled,
    Announcement: _settled,
    Propose: lambda act: [Reading(act.slot, OFFER, OFFERED)],
    ProposeReply: lambda act: [_reply(act.slot, act.status)],
    Confirm: _settled,
    RescheduleRequest: lambda act: [Reading(act.slot, HELD, CLAIMED)],
    ProposeReschedule: lambda act: [Reading(act.target, OFFER, OFFERED)],
    RescheduleReply: lambda act: [_reply(act.target, act.status)],
    ConfirmReschedule: lambda act: [Reading(act.target, AGREE, SETTLED)],
    Proposals: _offers,
    PlanDecision: _settled,
}
"""What each speech act says of its sender's slots; one without an entry tells the judge nothing.
Scores are such: they name plans whose slots are in messages that this judge does not see."""
