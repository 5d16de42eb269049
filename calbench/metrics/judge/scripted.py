"""The scripted judge: a deterministic stand-in for a language model that needs no network [C].

It is not a language model and is never presented as one. It knows only the case, and judges only
senders: what an agent says about a third agent is hearsay. Its reader of sentences is independent
of the one with which scripted speakers understand each other and answer reflections: it uses the
clauses and own-slot patterns of the language audits.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

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
from calbench.metrics.judge.cases import Verdict, cases_of
from calbench.metrics.speech.availability import tells_availability, tells_cost
from calbench.metrics.speech.clauses import MAX_CHARS, NEGATION, Clause, clauses_of
from calbench.metrics.speech.rules import puts_forward
from calbench.traces.models import Trace

Weight = int
"""How firm a reading is; of two about one slot the later one counts, unless it is less firm."""

OFFERED: Final[Weight] = 0
CLAIMED: Final[Weight] = 1
SETTLED: Final[Weight] = 2
"""Ranks only: a proposal or question, what is said of a slot, and what is agreed [C]."""


class Reading(NamedTuple):
    """A slot of the sender, and how belief in its being occupied should move, -3..3."""

    slot: int
    delta: int
    weight: Weight


OFFER: Final = -1
"""A bare proposal: an agent that proposes a slot can probably meet then [C]."""

AGREE: Final = 3
"""The meeting of the round will be there, so the slot is surely occupied [C]."""

_WORDS: Final = (
    (3, r"impossible|infeasible|unavailable|unable|blocked|out|no good|off the table"),
    (3, r"busy|booked|taken|occupied|conflicts?|tied up"),
    (2, r"hard(?:er|est)?|difficult|tough|tricky|costly|expensive|painful|important|critical"),
    (1, r"inconvenient|awkward|not ideal|rather not|prefer not|reluctant|stretch"),
    (-3, r"free|open|available|clear|vacant|empty|unoccupied|nothing"),
    (
        -2,
        r"eas(?:y|ier|iest|ily)|works?|fine|good|great|perfect|suits?|fits?|ideal|convenient|ok|okay",
    ),
    (1, r"possible|doable|manage|manageable|acceptable|if needed|if necessary"),
    (-1, r"can|could|feasible|workable|flexible"),
)
"""Movements by words, searched in this order. On the scale that agents are told to use, from easy
to impossible, a slot that is not easy holds something."""

# e.g. "SLOT is hard", "i can do SLOT"; not "how about SLOT"
_DELTAS: Final = tuple((delta, re.compile(rf"\b(?:{words})\b")) for delta, words in _WORDS)
# e.g. "i could move it", "movable"; not "a movie in SLOT"
_MOVABLE: Final = re.compile(r"\b(?:mov(?:e|ing|able)|reschedul\w*|shift\w*)\b")
# e.g. "i have a class in SLOT", "in SLOT i'm at work"; not "i have nothing in SLOT"
_HOLDS: Final = re.compile(
    r"\b(?:i have|i've(?: got)?|my)\b(?!.*\b(?:free|open|available|nothing|no)\b)"
    r".*\b(?:in|at|on|during) SLOT"
    r"|\b(?:in|at|on|during) SLOT,? (?:i have|i've|i am|i'm)\b"
    r"(?!.*\b(?:free|open|available|nothing|no)\b)"
)
# e.g. "agreed on SLOT", "SLOT it is"; not "i disagree"
_SETTLES: Final = re.compile(
    r"\b(?:agreed?|confirm(?:ed|ing)?|settled?|final|finali[sz]e|lock(?:ed)?|booked in|deal)\b"
    r"|SLOT it is\b"
)
# e.g. "AGENT is free in SLOT"; not "all agents are free in SLOT"
_HEARSAY: Final = re.compile(r"\bAGENT\b")
# e.g. "SLOT is hard for me", "i'd move it"; not "SLOT is hard for them"
_MINE: Final = re.compile(r"\b(?:me|my|i|i'm|i'd|i'll|i've)\b")
# e.g. 'i have "school play" in SLOT'; not 'a 12" pipe'
_QUOTED: Final = re.compile(r'"[^"]*"')
# e.g. "SLOT is easy and SLOT is hard"; not "SLOT is free and easy"
_APART: Final = re.compile(r",? (?:and|or) (?=SLOT\b)")
# e.g. "could you move it from slot 3 to slots 5 or 6"; not "we moved it from slot 3 to slot 5"
_MOVE: Final = re.compile(
    r"\bmov(?:e|ing)\b[^.?!]{0,60}?\bfrom slot (\d{1,3})"
    r" to slots? (\d{1,3}(?:(?:, | and | or |, and |, or )\d{1,3})*)"
)


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[Reading, ...]:
    """Return what a message says, in its order; text that is not understood is ignored."""
    plain = _QUOTED.sub("something", text[:MAX_CHARS].lower())
    found: list[Reading] = []
    for sentence in re.split(r"(?<=[.?!])\s+|\n+", plain):
        moves = tuple(_moves(sentence))
        if moves:
            found += moves
            continue
        for clause in clauses_of(sentence):
            for part in _parts(clause):
                found += _clause(part)
    return tuple(found)


def _moves(sentence: str) -> Iterator[Reading]:
    """Yield what is said about an earlier meeting that moves: requested, or settled."""
    match = _MOVE.search(sentence)
    if match is None or NEGATION.search(sentence):
        return
    is_asked = sentence.rstrip().endswith("?")
    if is_asked:
        yield Reading(int(match[1]), 2, CLAIMED)
    for number in re.findall(r"\d+", match[2]):
        slot = int(number)
        yield Reading(slot, OFFER, OFFERED) if is_asked else Reading(slot, AGREE, SETTLED)


def _parts(clause: Clause) -> tuple[Clause, ...]:
    """Split a clause before each slot that has its own word; keep lists of slots together."""
    texts = _APART.split(clause.text)
    if len(texts) == 1 or not all(_delta(text) is not None for text in texts):
        return (clause,)
    parts, used = [], 0
    for text in texts:
        count = text.count("SLOT")
        slots = clause.slots[used : used + count]
        parts.append(Clause(text, slots, clause.is_question, clause.sentence))
        used += count
    return tuple(parts)


def _clause(clause: Clause) -> Iterator[Reading]:
    slots = sorted({slot for group in clause.slots for slot in group})
    meant = _meant(clause) if slots else None
    if meant is not None:
        for slot in slots:
            yield Reading(slot, *meant)


def _meant(clause: Clause) -> tuple[int, Weight] | None:
    """Return the movement that a clause means, and how firm it is."""
    text = clause.text
    is_denied = bool(NEGATION.search(text))
    if not clause.is_question and not is_denied and _SETTLES.search(text):
        return AGREE, SETTLED
    if _HEARSAY.search(text) and not _MINE.search(text):
        return None
    if tells_availability(clause) or tells_cost(clause):
        if _HOLDS.search(text):
            return 3, CLAIMED
        if _MOVABLE.search(text):  # what can be moved out of a slot is in it
            return 2, CLAIMED
        delta = _delta(text)
        return (2 if delta is None else delta), CLAIMED
    return (OFFER, OFFERED) if puts_forward(clause) else None


def _delta(text: str) -> int | None:
    """Return the movement by the first words that fit; a denied good word is the worst."""
    is_denied = bool(NEGATION.search(text))
    for delta, pattern in _DELTAS:
        if pattern.search(text):
            return delta if delta > 0 or not is_denied else 3
    return 3 if is_denied else None


SCRIPTED_JUDGE: Final = "scripted"
"""Name of the judge in tables."""

FREE: Final = -3
"""A slot that costs nothing, so it is free: the end of the scale [C]."""

FEASIBLE: Final = -1
"""A slot that is possible, perhaps after a move: weak evidence that it is free [C]."""

HELD: Final = 2
"""A slot with something that could move, so less than the whole scale [C]."""

REFUSED: Final = 3
"""An impossible slot: it holds something that cannot move [C]."""


def scripted_deltas(case: JudgeCase) -> dict[AgentId, tuple[int, ...]]:
    """Return the answer to a case: how belief in each agent's slots should move, -3..3."""
    firmest: dict[AgentId, dict[int, Reading]] = {agent: {} for agent in case.others}
    for message in case.messages:
        told = tuple(_told(message.content))
        for target in _targets(message, case):
            known = firmest.get(target, {})
            for reading in told:
                before = known.get(reading.slot)
                if before is None or reading.weight >= before.weight:
                    known[reading.slot] = reading
    return {
        agent: tuple([known[slot].delta if slot in known else 0 for slot in range(case.num_slots)])
        for agent, known in firmest.items()
    }


def scripted_verdicts(trace: Trace) -> tuple[Verdict, ...]:
    """Return the answers of the scripted judge to all cases of a game."""
    return tuple(
        Verdict(case, scripted_deltas(case.case), problem=None, recovered=None, key=None)
        for case in cases_of(trace)
    )


def texts_understood(trace: Trace) -> tuple[int, int]:
    """Return how many texts of a game tell this judge anything, and how many there are."""
    texts = {
        message.content.text
        for case in cases_of(trace)
        for message in case.case.messages
        if isinstance(message.content, Text)
    }
    return sum(bool(readings(text)) for text in texts), len(texts)


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
    Text: lambda text: readings(text.text),
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
