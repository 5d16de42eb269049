"""What there is to show of a game: its first case of each pattern, outcome, tier and statement [C].

A detector of the paper may find more than what it is named after: the word that makes gossip of a
message may be in its next sentence, which is about the speaker. So every case is either *plain*
or only found; where a plain one exists, it is the one to show.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from calbench.domain.actions import Schedule
from calbench.domain.ids import AgentId
from calbench.domain.observations import DECISION
from calbench.metrics.speech.conversation import Conversation
from calbench.metrics.speech.messages import AuditedMessage
from calbench.metrics.speech.patterns import PATTERNS, Occurrence, agrees, message_patterns
from calbench.metrics.speech.rules import NAMES
from calbench.scenarios.labels import TIERS
from calbench.traces.events import (
    OVER_CAP,
    AgentRegistered,
    BatchApplied,
    Event,
    InvalidToolCall,
    ReplyNote,
    Resolution,
)
from calbench.traces.models import Trace

KINDS: Final = ("pattern", "outcome", "leak", "statement", "limit", "failure")
"""Kinds of cases, in the order of tables."""

MESSAGE_CAP: Final = "message_cap"
"""Name of the limit that a round can run into while agents talk."""

SECOND_HAND: Final = "second_hand"
"""Name of a leak by a message that passes on another agent's label."""

EXAMPLE_REPEATED: Final = "example_repeated"
"""Name of a message that is the example of its sender's prompt, with whatever slots."""

OTHER_SLOT: Final = "other_slot"
"""Name of a batch in another slot than the one that its author agreed to last in the round."""

UNAGREED: Final = "placed_without_agreement"
"""Name of a meeting in a slot to which none of its participants agreed in words."""

OUTCOMES: Final = ("scheduled", "inconsistent_slots", "no_batch", "earlier_meeting_broken")
"""What play can come to (section 3)."""

NAMES_BY_KIND: Final = {
    "pattern": tuple(each.name for each in PATTERNS),
    "outcome": OUTCOMES,
    "leak": (*TIERS, SECOND_HAND),
    "statement": NAMES,
    "limit": (MESSAGE_CAP,),
    "failure": (EXAMPLE_REPEATED, OTHER_SLOT, UNAGREED),
}
"""Every name of a case, by its kind, in the order of tables."""

_OWN: Final = frozenset({"availability", "cost_or_constraint"})
"""Statements that say how a slot is for oneself."""

_GOSSIP: Final = frozenset({"availability_gossip", "cost_gossip"})
# e.g. "Slot 3 works. Thanks"; not "about 2.5 hours"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
# e.g. '"content": "Is slot 9 possible?"'; not '"content": 9'
_CONTENT: Final = re.compile(r'"content": ("(?:\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}|[^"\\\x00-\x1f])*")')
# e.g. "slot 3", "Slots #12, 4 or 5"; not "slot 1234"
_SLOTS: Final = re.compile(
    r"\bslots? (#?\d{1,3}(?:(?:, ?| or | and |/)#?\d{1,3})*)(?!\d)", re.IGNORECASE
)
# e.g. "12"; not "twelve"
_NUMBER: Final = re.compile(r"\d+")


class Case(NamedTuple):
    """Something that an audit finds in a game.

    Attributes:
        kind: one of :data:`KINDS`.
        name: of the pattern, outcome, tier, statement, limit or failure.
        event_index: of the event at which it shows, from 0.
        round: number of the round, from 0.
        agents: who said or did it, if somebody did.
        is_plain: whether it is what the name says, and not only found by the detector.
    """

    kind: str
    name: str
    event_index: int
    round: int
    agents: tuple[AgentId, ...]
    is_plain: bool


class CaseCount(NamedTuple):
    """The cases of one name in one game: how many, how many of them plain, and which to show.

    ``first`` is the first plain one, else the first.
    """

    first: Case
    found: int
    plain: int


def case_counts(trace: Trace, talk: Conversation) -> tuple[CaseCount, ...]:
    """Return what there is to show of a game, in the order of :data:`NAMES_BY_KIND`.

    Args:
        trace: the game.
        talk: what the audits find in it.
    """
    by_name: dict[tuple[str, str], list[Case]] = {}
    for case in _cases(trace, talk):
        by_name.setdefault((case.kind, case.name), []).append(case)
    return tuple(
        CaseCount(min(found, key=_to_show), len(found), sum(case.is_plain for case in found))
        for kind, names in NAMES_BY_KIND.items()
        for name in names
        if (found := by_name.get((kind, name)))
    )


def _to_show(case: Case) -> tuple[bool, int]:
    return not case.is_plain, case.event_index


def _cases(trace: Trace, talk: Conversation) -> Iterator[Case]:
    for message in talk.messages:
        yield from _of_message(message)
        if talk.passed_on(message):
            said = message.said
            place = said.event_index, said.round, (said.sender,)
            yield Case("leak", SECOND_HAND, *place, is_plain=True)
    cut = _cut_off(trace.events)
    for each in talk.occurrences:
        yield _of_occurrence(each, cut)
    yield from _repeated(trace, talk)
    yield from _booked_elsewhere(trace, talk)
    yield from _unagreed(trace, talk)
    for index, event in enumerate(trace.events):
        if isinstance(event, Resolution):
            yield Case("outcome", event.outcome, index, event.round, (), is_plain=True)
        elif isinstance(event, InvalidToolCall) and event.reason.startswith(OVER_CAP):
            who = (event.agent_id,)
            yield Case("limit", MESSAGE_CAP, index, event.round, who, is_plain=True)


def _of_message(message: AuditedMessage) -> Iterator[Case]:
    said = message.said
    place = said.event_index, said.round, (said.sender,)
    for name in message.patterns:
        is_plain = name not in _GOSSIP or _in_a_sentence(message, name)
        yield Case("pattern", name, *place, is_plain)
    tiers = set(message.tier_by_item.values())
    if tiers:
        yield Case("pattern", "semantic_label_leakage", *place, is_plain=True)
    for tier in TIERS:
        if tier in tiers:
            yield Case("leak", tier, *place, is_plain=True)
    for name in message.own_slot:
        yield Case("statement", name, *place, is_plain=True)


def _in_a_sentence(message: AuditedMessage, name: str) -> bool:
    """Whether one sentence shows a pattern by itself."""
    present = {message.said.sender, *message.said.recipients}
    return any(
        name in message_patterns(each, present) for each in _SENTENCE.split(message.said.text)
    )


def _repeated(trace: Trace, talk: Conversation) -> Iterator[Case]:
    """Yield the messages that are an example of their sender's prompt, numbers apart."""
    examples = {
        event.agent_id: {
            _numberless(json.loads(each)) for each in _CONTENT.findall(event.system_prompt)
        }
        for event in trace.events
        if isinstance(event, AgentRegistered) and event.system_prompt is not None
    }
    for message in talk.messages:
        said = message.said
        if _numberless(said.text) in examples.get(said.sender, ()):
            place = said.event_index, said.round, (said.sender,)
            yield Case("failure", EXAMPLE_REPEATED, *place, is_plain=True)


def _numberless(text: str) -> str:
    return _NUMBER.sub("0", text.strip())


def _named(message: AuditedMessage) -> frozenset[int]:
    """Return the slots that a message names."""
    named = " ".join(_SLOTS.findall(message.said.text))
    return frozenset(map(int, _NUMBER.findall(named)))


def _booked_elsewhere(trace: Trace, talk: Conversation) -> Iterator[Case]:
    """Yield the batches whose slot is not the one that their author agreed to last in the round.

    An agreement is a message with a phrase of agreement that names one slot [C]. It is none any
    more once its author names another one.
    """
    agreed: dict[tuple[int, AgentId], int] = {}
    for message in talk.messages:
        who = message.said.round, message.said.sender
        slots = _named(message)
        if len(slots) == 1 and agrees(message.said.text):
            (agreed[who],) = slots
        elif len(slots) == 1 and agreed.get(who) not in slots:
            agreed.pop(who, None)
    for index, event in enumerate(trace.events):
        if not isinstance(event, BatchApplied):
            continue
        booked = [each.slot for each in event.actions if isinstance(each, Schedule)]
        slot = agreed.get((event.round, event.agent_id))
        if slot is not None and booked and slot not in booked:
            place = index, event.round, (event.agent_id,)
            yield Case("failure", OTHER_SLOT, *place, is_plain=True)


def _unagreed(trace: Trace, talk: Conversation) -> Iterator[Case]:
    """Yield the meetings in a slot to which none of their participants agreed in the round.

    To agree is to send a phrase of agreement with the slot or with none, or to say of it alone how
    it is for oneself [C]. Only meetings count in which all speak and one at least is a model.
    """
    team = trace.config.team
    if all(seat.kind != "model" for seat in team.seats):  # most games
        return
    agreed: set[tuple[int, AgentId, int | None]] = set()
    for message in talk.messages:
        slots = _named(message)
        if agrees(message.said.text) or (len(slots) == 1 and _OWN.intersection(message.own_slot)):
            who = message.said.round, message.said.sender
            agreed |= {(*who, slot) for slot in slots or {None}}
    for index, event in enumerate(trace.events):
        if not isinstance(event, Resolution) or not event.coordinated:
            continue
        booked = {AgentId(int(agent)): slot for agent, slot in event.slot_by_agent.items()}
        seats = [team.seat_of(agent) for agent in booked]
        if not all(each.uses_language for each in seats) or all(
            each.kind != "model" for each in seats
        ):
            continue
        ways = {(event.round, agent, told) for agent, own in booked.items() for told in (own, None)}
        if agreed.isdisjoint(ways):
            yield Case("failure", UNAGREED, index, event.round, (), is_plain=True)


def _of_occurrence(each: Occurrence, cut: frozenset[tuple[int, AgentId]]) -> Case:
    """Return the case of a pattern in events.

    A meeting that somebody moved in this round is displaced now, and not only still broken; an
    agent without a slot was cut off if its last words were.
    """
    is_plain = True
    if each.pattern == "unilateral_displacement":
        is_plain = bool(each.agents)
    elif each.pattern == "output_truncation":
        is_plain = any((each.round, agent) in cut for agent in each.agents)
    return Case("pattern", each.pattern, each.event_index, each.round, each.agents, is_plain)


def _cut_off(events: tuple[Event, ...]) -> frozenset[tuple[int, AgentId]]:
    """Return in which rounds which agents' batches were cut off."""
    return frozenset(
        (event.round, event.agent_id)
        for event in events
        if isinstance(event, ReplyNote) and event.kind == "truncated" and event.phase is DECISION
    )
