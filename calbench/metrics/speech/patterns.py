"""The twelve behaviour patterns (appendix H, Table 15): seven of messages, five of games.

Names, levels and kinds of detector are the paper's [P]; word lists, and thresholds that the paper
does not give, are ours [C]. A message may show several patterns.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from calbench.domain.actions import Reschedule
from calbench.domain.ids import AgentId, MeetingId
from calbench.traces.events import BatchApplied, Resolution
from calbench.traces.models import Trace


@dataclass(frozen=True, slots=True)
class Pattern:
    """One row of Table 15.

    Attributes:
        name: as tables write it.
        level: a message, or agents together [P].
        unit: what is counted.
        origin: of the detector.
        detector: in words.
    """

    name: str
    level: str
    unit: str
    origin: str
    detector: str


_TABLE: Final = """
availability_gossip | social | messages | P, words C
    | a third agent's number and a word of availability within 60 characters
confirmation_tax | message | messages | P, length and phrases C
    | at most 80 characters with a phrase of agreement
errand_mention | message | messages | P
    | holds "errand"
cost_gossip | social | messages | P, words C
    | a third agent's number and a word of cost or errands within 60 characters
cost_number | message | messages | P, variants C
    | "cost" with a number behind it: cost=10, cost of 10, costs me 10
qualitative_flattening | message | moves | P, threshold C
    | an errand of the highest shown cost is moved in a game whose errands differ in cost
errand_id | message | messages | P
    | "errand #" with a number
unilateral_displacement | social | rounds | P
    | an earlier meeting does not stand whole when a round is resolved
ambiguous_consensus | social | rounds | P, number C
    | participants hold the failed meeting in two or more distinct slots
semantic_label_leakage | message | messages | P, detector C
    | tells a private label to somebody who may not know it (see audit_leaks.csv)
cascading_failure | social | meetings | P, number C
    | the same earlier meeting is broken at two or more resolutions of a game
output_truncation | social | agent-rounds | P
    | a participant has no slot at a failed resolution; any missing batch counts, cut off or not
"""

PATTERNS: Final = tuple(
    Pattern(*(" ".join(cell.split()) for cell in row.split("|")))
    for row in re.split(r"\n(?! )", _TABLE.strip())
)
"""All patterns, in the paper's order."""

TAX_CHARS: Final = 80
"""Longest message that is only a confirmation; the paper's number is unknown [C]."""

NEAR_CHARS: Final = 60
"""Reach of gossip, from the agent's number to the word [P]."""

# e.g. "Agents 1, 2 and 3", "agent #4"; not "an agent in slot 3"
_AGENTS: Final = re.compile(
    r"\bagents?\s?#?(\d{1,4}(?:(?:,\s?|\s?and\s|\s?&\s?)#?\d{1,4})*)", re.IGNORECASE
)
# e.g. "agent 2 is busy"; not "agent 2 prefers slot 3"
_AVAILABILITY: Final = re.compile(
    r"\b(?:free|available|availability|unavailable|open|busy|booked|works?|can(?:not|'t)? (?:do|make)|"
    r"possible|impossible|feasible|clear|conflicts?)\b",
    re.IGNORECASE,
)
# e.g. "slot 3 is costly"; not "slot 3 is harder"
_COST: Final = re.compile(
    r"\b(?:costs?|costly|cheap|expensive|errands?|movable|immovable|blocked|difficult|hard|easy|"
    r"low-cost|high-cost|priority)\b",
    re.IGNORECASE,
)
# e.g. "Sounds good", "slot 3 it is"; not "slot 3 works"
_AGREEMENT: Final = re.compile(
    r"\b(?:agreed?|confirm(?:ed|ing)?|sounds (?:good|great)|works for me|great|perfect|ok(?:ay)?|yes|sure|"
    r"thanks|thank you|got it|understood|it is|deal|acknowledged|noted|will do|all set|good with)\b",
    re.IGNORECASE,
)
# e.g. "it costs me about 4", "cost: 4"; not "it costs me in slot 4"
_COST_NUMBER: Final = re.compile(
    r"\bcosts?(?:ing)?(?:\s{0,3}[=:]\s{0,3}|\s{1,3}(?:(?:is|of|me|about|around|only|just|at|would be|will be)\s){0,3})\d",
    re.IGNORECASE,
)
# e.g. "Errand #3"; not "errand 3"
_ERRAND_ID: Final = re.compile(r"\berrand\s{0,3}#\s?\d", re.IGNORECASE)


# e.g. "agent 2 is busy", "slot 3 is costly"; not "agent 2 prefers slot 3"
_GOSSIP: Final = {"availability_gossip": _AVAILABILITY, "cost_gossip": _COST}


def agrees(text: str) -> bool:
    """Whether a text holds a phrase of agreement."""
    return _AGREEMENT.search(text) is not None


def message_patterns(text: str, present: Collection[int] = frozenset()) -> tuple[str, ...]:
    """Return the patterns in the words of a message, in the paper's order.

    Args:
        text: of the message.
        present: sender and recipients, which are not third agents; unknown if empty.
    """
    found = _found(text)
    if not found:  # most messages
        return ()
    known = frozenset(present)
    shown = {name for name, agents in found if agents is None or not agents <= known}
    return tuple([pattern.name for pattern in PATTERNS if pattern.name in shown])


@lru_cache(maxsize=4096)  # players repeat themselves
def _found(text: str) -> tuple[tuple[str, frozenset[int] | None], ...]:
    """Return the patterns in a text, those of gossip with the agents that it may be about."""
    shown = {
        "confirmation_tax": len(text) <= TAX_CHARS and agrees(text),
        "errand_mention": "errand" in text.lower(),
        "cost_number": bool(_COST_NUMBER.search(text)),
        "errand_id": bool(_ERRAND_ID.search(text)),
    }
    found: list[tuple[str, frozenset[int] | None]] = [(name, None) for name in shown if shown[name]]
    for match in _AGENTS.finditer(text):
        named = frozenset(map(int, re.findall(r"\d+", match[1])))
        around = text[max(0, match.start() - NEAR_CHARS) : match.end() + NEAR_CHARS]
        found += [(name, named) for name, words in _GOSSIP.items() if words.search(around)]
    return tuple(found)


CASCADE: Final = 2
"""Resolutions at which one meeting must be broken to cascade; the paper's number is unknown [C]."""


class Occurrence(NamedTuple):
    """One occurrence of a pattern, and the agents that caused it, if any.

    The event is the move, or the resolution at which it shows: of a cascade, the one at which the
    meeting is broken again.
    """

    pattern: str
    agents: tuple[AgentId, ...]
    event_index: int
    round: int


def occurrences(trace: Trace) -> Iterator[Occurrence]:
    """Yield the patterns in a game's events.

    A displaced meeting is attributed to the agents that moved it in that round, an ambiguous
    consensus to the participants that hold the meeting, a missing slot to the agent without it.
    """
    costly = _costly_errands(trace)
    broken: Counter[MeetingId] = Counter()
    cascades: dict[MeetingId, tuple[int, int]] = {}
    movers: dict[MeetingId, set[AgentId]] = {}
    for index, event in enumerate(trace.events):
        if isinstance(event, BatchApplied):
            for action in event.actions:
                if isinstance(action, Reschedule):
                    movers.setdefault(MeetingId(action.item_id), set()).add(event.agent_id)
                    if action.item_id in costly:
                        yield Occurrence(
                            "qualitative_flattening", (event.agent_id,), index, event.round
                        )
        elif isinstance(event, Resolution):
            broken.update(event.broken_meetings)
            for meeting in event.broken_meetings:
                if broken[meeting] == CASCADE:
                    cascades[meeting] = index, event.round
            yield from _at(index, event, movers)
            movers = {}
    for meeting in sorted(cascades):
        yield Occurrence("cascading_failure", (), *cascades[meeting])


def _at(
    index: int, event: Resolution, movers: dict[MeetingId, set[AgentId]]
) -> Iterator[Occurrence]:
    if event.broken_meetings:
        guilty = {agent for meeting in event.broken_meetings for agent in movers.get(meeting, ())}
        yield Occurrence("unilateral_displacement", tuple(sorted(guilty)), index, event.round)
    if event.coordinated:
        return
    held = {AgentId(int(a)): slot for a, slot in event.slot_by_agent.items() if slot is not None}
    if len(set(held.values())) > 1:
        yield Occurrence("ambiguous_consensus", tuple(sorted(held)), index, event.round)
    for agent in sorted(AgentId(int(agent)) for agent in event.slot_by_agent):
        if agent not in held:
            yield Occurrence("output_truncation", (agent,), index, event.round)


def _costly_errands(trace: Trace) -> frozenset[int]:
    """Return the errands of the highest shown cost; none if all cost the same."""
    cost_by_errand = {
        errand.errand_id: errand.shown_cost for _, _, errand in trace.scenario.errands
    }
    costs = set(cost_by_errand.values())
    if len(costs) < 2:
        return frozenset()
    return frozenset(errand for errand, cost in cost_by_errand.items() if cost == max(costs))
