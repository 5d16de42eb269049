"""The twelve behaviour patterns (appendix H, Table 15): seven of messages, five of games.

Names, levels and kinds of detector are the paper's [P]; word lists, and thresholds that the paper
does not give, are ours [C]. A message may show several patterns.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

Level = Literal["message", "social"]
Unit = Literal["messages", "moves", "rounds", "meetings", "agent-rounds"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One row of Table 15.

    Attributes:
        name: as tables write it.
        rank: in the paper's table.
        level: a message, or agents together [P].
        unit: what is counted.
        detector: in words.
        origin: of the detector.
    """

    name: str
    rank: int
    level: Level
    unit: Unit
    detector: str
    origin: str


PATTERNS: Final = (
    Pattern(
        "availability_gossip",
        1,
        "social",
        "messages",
        "a third agent's number and a word of availability within 60 characters",
        "P, words C",
    ),
    Pattern(
        "confirmation_tax",
        2,
        "message",
        "messages",
        "at most 80 characters with a phrase of agreement",
        "P, length and phrases C",
    ),
    Pattern("errand_mention", 3, "message", "messages", 'holds "errand"', "P"),
    Pattern(
        "cost_gossip",
        4,
        "social",
        "messages",
        "a third agent's number and a word of cost or errands within 60 characters",
        "P, words C",
    ),
    Pattern(
        "cost_number",
        5,
        "message",
        "messages",
        '"cost" with a number behind it: cost=10, cost of 10, costs me 10',
        "P, variants C",
    ),
    Pattern(
        "qualitative_flattening",
        6,
        "message",
        "moves",
        "an errand of the highest shown cost is moved in a game whose errands differ in cost",
        "P, threshold C",
    ),
    Pattern("errand_id", 7, "message", "messages", '"errand #" with a number', "P"),
    Pattern(
        "unilateral_displacement",
        8,
        "social",
        "rounds",
        "an earlier meeting does not stand whole when a round is resolved",
        "P",
    ),
    Pattern(
        "ambiguous_consensus",
        9,
        "social",
        "rounds",
        "participants hold the failed meeting in two or more distinct slots",
        "P, number C",
    ),
    Pattern(
        "semantic_label_leakage",
        10,
        "message",
        "messages",
        "tells a private label to somebody who may not know it (see audit_leaks.csv)",
        "P, detector C",
    ),
    Pattern(
        "cascading_failure",
        11,
        "social",
        "meetings",
        "the same earlier meeting is broken at two or more resolutions of a game",
        "P, number C",
    ),
    Pattern(
        "output_truncation",
        12,
        "social",
        "agent-rounds",
        "a participant has no slot at a failed resolution; any missing batch counts, cut off or not",
        "P",
    ),
)
"""All patterns, in the paper's order."""

TAX_CHARS: Final = 80
"""Longest message that is only a confirmation; the paper's number is unknown [C]."""

NEAR_CHARS: Final = 60
"""Reach of gossip, from the agent's number to the word [P]."""

_AGENTS: Final = re.compile(
    r"\bagents?\s?#?(\d{1,4}(?:(?:,\s?|\s?and\s|\s?&\s?)#?\d{1,4})*)", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"\d+")
_AVAILABILITY: Final = re.compile(
    r"\b(?:free|available|availability|unavailable|open|busy|booked|works?|can(?:not|'t)? (?:do|make)|"
    r"possible|impossible|feasible|clear|conflicts?)\b",
    re.IGNORECASE,
)
_COST: Final = re.compile(
    r"\b(?:costs?|costly|cheap|expensive|errands?|movable|immovable|blocked|difficult|hard|easy|"
    r"low-cost|high-cost|priority)\b",
    re.IGNORECASE,
)
_AGREEMENT: Final = re.compile(
    r"\b(?:agreed?|confirm(?:ed|ing)?|sounds (?:good|great)|works for me|great|perfect|ok(?:ay)?|yes|sure|"
    r"thanks|thank you|got it|understood|it is|deal|acknowledged|noted|will do|all set|good with)\b",
    re.IGNORECASE,
)
_COST_NUMBER: Final = re.compile(
    r"\bcosts?(?:ing)?(?:\s{0,3}[=:]\s{0,3}|\s{1,3}(?:(?:is|of|me|about|around|only|just|at|would be|will be)\s){0,3})\d",
    re.IGNORECASE,
)
_ERRAND_ID: Final = re.compile(r"\berrand\s{0,3}#\s?\d", re.IGNORECASE)


def message_patterns(text: str, present: Collection[int] = frozenset()) -> tuple[str, ...]:
    """Return the patterns in the words of a message, in the paper's order.

    Args:
        text: of the message.
        present: sender and recipients, which are not third agents; unknown if empty.
    """
    shown = {
        "availability_gossip": _is_gossip(text, present, _AVAILABILITY),
        "confirmation_tax": len(text) <= TAX_CHARS and bool(_AGREEMENT.search(text)),
        "errand_mention": "errand" in text.lower(),
        "cost_gossip": _is_gossip(text, present, _COST),
        "cost_number": bool(_COST_NUMBER.search(text)),
        "errand_id": bool(_ERRAND_ID.search(text)),
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def _is_gossip(text: str, present: Collection[int], words: re.Pattern[str]) -> bool:
    for match in _AGENTS.finditer(text):
        named = {int(number) for number in _NUMBER.findall(match[1])}
        if named <= set(present):
            continue
        around = text[max(0, match.start() - NEAR_CHARS) : match.end() + NEAR_CHARS]
        if words.search(around):
            return True
    return False
