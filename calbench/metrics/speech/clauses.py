"""A message split into clauses, with its slots separated from other numbers (appendix G.5).

In a clause a slot is written as ``SLOT`` and an agent as ``AGENT``, so patterns contain only
words; the numbers are kept separately. Numbers that name agents, meetings, errands, costs, turns
or counts are not slots; a bare number is one only if it can mean nothing else.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

STATE: Final = (
    r"(?:free|open|available|unavailable|clear|feasible|infeasible|possible|impossible|fine|good|"
    r"great|perfect|ok|okay|workable|doable|eas(?:y|ier|iest)|busy|booked|taken|occupied|out|"
    r"problem|issue|works?|working|work|best|better|ideal|suitable|acceptable|bad|conflict|option|"
    r"off the table|off limits|ruled out|clean|vacant|empty|unoccupied|convenient|no-?go|a no|a yes|"
    r"viable|manageable)"
)
HERE: Final = r"(?:free|open|available|clear|vacant|empty|unoccupied)"
SURELY: Final = r"(?:also|still|all|both|each|only|currently|already|completely|fully|totally|entirely|definitely|perfectly|really|wide|indeed|certainly|not|now|actually)"


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that matches where any of the given ones does."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def rewriting(*rows: tuple[str, str, str]) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Return what :func:`rewritten` does one after the other: patterns and replacements.

    Each has a text before it that is in all that its pattern matches: to look for that is twenty
    times as fast.
    """
    return tuple((within, re.compile(pattern), new) for within, pattern, new in rows)


def rewritten(text: str, rows: Iterable[tuple[str, re.Pattern[str], str]]) -> str:
    """Return a text with everything replaced that patterns match."""
    for within, pattern, new in rows:
        if within in text:
            text = pattern.sub(new, text)
    return text


# e.g. "AGENT, are you free in SLOT"; not "you are free in SLOT"
ASKS_OTHERS: Final = re.compile(
    r"^(?:(?:and|so|also|or|then|hi|hello|hey|please),? ?)?(?:AGENT,? )?(?:are|is|do|does|did|would|will|can|"
    r"could|which|what|when|have|any|who|how)\b"
)
"""A question to another agent."""

# e.g. "AGENT is free in SLOT"; not "meeting with AGENT in SLOT"
OTHERS: Final = re.compile(r"(?<!\bwith )\bAGENT\b|\b(?:them|their|they|theirs|your|you)\b")
"""Another agent in a clause, except as a partner of a meeting."""


# e.g. "i can't do SLOT", "SLOT is not free"; not "nothing in SLOT"
NEGATION: Final = re.compile(
    r"\b(?:not|no|none|never|can't|cannot|couldn't|doesn't|don't|won't|isn't|aren't|unable)\b"
)
"""Words that turn what a clause says into its opposite."""

MAX_CHARS: Final = 4_000
"""Characters of a message that are read, far above any message; bounds the work [C]."""

# e.g. "slot #3", "agents 1, 2 and 3", "3 pm"; not "3,4:free"
_REPLACED: Final = rewriting(
    ("", "[\u2018\u2019\u02bc`]", "'"),
    ("", "[\u2010-\u2015]", "-"),
    ("#", r"\bslots? ?#(?=\d)", "slot "),
    ("", "[\u201c\u201d\u201e\u00ab\u00bb]", '"'),
    (
        '"',
        r"\b(?:said|says|wrote|writes|replied|answered|told (?:me|us))[,:]? ?\"[^\"\n]{0,300}\"",
        "said",  # another's words
    ),
    ('"', r"\"([a-z_ ]{1,30})\" ?:", r"\1:"),  # a key of data; other quotation marks fence labels
    ("", r"[*_~()\[\]{}|\u2705\u274c]", " "),
    ("", r"[^\S\n]{2,}|[^\S\n ]", " "),  # a space alone stays as it is
    ("", r"^\s{0,9}(?:\d{1,2}[.)]|[-\u2022>#+])\s", ""),
    ("agent", r"\bagents? ?#?\d+(?:(?:,| and| or|, and|&| ?/) ?(?:agents? ?)?#?\d+)*\b", "AGENT"),
    ("", r"\b(?:meeting ?(?:id)? ?#?m?|m)\d+\b", "MEETING"),
    ("errand", r"\berrand ?(?:id)? ?#? ?\d+\b", "errand"),
    (
        "cost",
        r"\bcosts?(?:ing)?(?: ?[=:] ?| )(?:is |of |me |about |at |would be |only |just ){0,2}\d+",
        "cost NUMBER",
    ),
    (
        "",
        r"\b(?:turn|round|option|priority|level|version|step|plan|number|no\.|attempt) ?#?[:=]? ?\d+\b",
        "NUMBER",
    ),
    (
        "",
        r"#\d+|[$\u20ac\u00a3] ?\d+|\d+(?:\.\d+|%|:\d\d|st\b|nd\b|rd\b|th\b)|\b\d+ ?[ap]\.?m\b",
        "NUMBER",
    ),
    (
        "",
        r"(?<!slot )(?<!slots )\b\d+ (?:other |more |different |of (?:us|you|the) )?(?:agents?|people|participants?|persons?|slots?|meetings?|errands?|items?|minutes?|hours?|days?|turns?|rounds?|messages?|options?|units?|points?|times?|moves?|of us|of you|of them)\b",
        "NUMBER",
    ),
)
# e.g. "options:\n- slot 3", "2. slot 5"; not "2.5 hours"
_MULTILINE: Final = re.compile(r"^\s{0,9}(?:\d{1,2}[.)]|[-\u2022>#+])\s", re.MULTILINE)
# e.g. "slots 3, 4 and 5", "3-5"; not "2.5", "40%"
_SLOTS: Final = re.compile(
    r"\b(?:time)?slots?(?: numbers?| no\.?)? ?[#:(\[=-]{0,2} ?(\d{1,3}(?:\s?(?:,|and|or|to|through|thru|until|&|/|-|\+|, ?and|, ?or)\s?(?:slots? ?)?#?\d{1,3})*)\b"
    r"|(?<![\w.#-])(\d{1,3}(?:\s?(?:,|and|or|to|through|&|/|-|\+|, ?and|, ?or)\s?(?:slots? ?)?\d{1,3})*)(?![\w%:]|\.\d)"
)
# e.g. "3 to 5", "3-slot 5"; not "3, 5"
_RANGE: Final = re.compile(r"(\d{1,3})\s?(?:-|to|through|thru|until)\s?(?:slots? ?)?(\d{1,3})")
# e.g. "3, 5 and 11"; not "none"
_NUMBER: Final = re.compile(r"\d{1,3}")
# e.g. "SLOT works. thanks"; not "2.5 hours"
_END: Final = re.compile(r"[.!?;\n]+(?=\s|$)|\n")
# e.g. "SLOT is easy, but SLOT is hard", "SLOT works - thanks"; not "free but only in SLOT"
_JOINT: Final = re.compile(
    r",?\s(?:but(?! only)|while|whereas|however|although|though|unlike)\s|\s-\s|;\s|"
    r",\s?(?=(?:[a-z][a-z ]{0,20}: ?|proposed )SLOT)"
)
# e.g. "SLOT - free"; not "i like SLOT - a lot"
_ANNOUNCED: Final = re.compile(r"((?:^|[\n,;.!?]) ?SLOT) - (?=\w)")
"""A dash after a slot at the start of a line introduces a statement; others separate clauses."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence.

    Clauses are equal if they are worded alike, whichever slots they name: what is found in words is
    found once for all of them, and a function that is remembered by clause reads words alone.

    Attributes:
        text: small letters, with ``SLOT``, ``AGENT``, ``MEETING`` and ``NUMBER`` for what is
            named by number.
        slots: the numbers of each ``SLOT``, in order.
        is_question: whether its sentence ends in a question mark.
        sentence: number of its sentence, from 0.
    """

    text: str
    slots: tuple[tuple[int, ...], ...] = field(compare=False)
    is_question: bool
    sentence: int = field(compare=False)


@lru_cache(maxsize=4096)  # players repeat themselves, and several audits read a message
def clauses_of(message: str) -> tuple[Clause, ...]:
    """Split a message into clauses."""
    text = message[:MAX_CHARS].lower()
    text = rewritten(_MULTILINE.sub("", text), _REPLACED)
    groups: list[tuple[int, ...]] = []

    def take(match: re.Match[str]) -> str:
        groups.append(_numbers(match[1] or match[2]))
        return "SLOT"

    text = _ANNOUNCED.sub(r"\1: ", _SLOTS.sub(take, text))
    return tuple(_clauses(text, groups))


def _clauses(text: str, groups: list[tuple[int, ...]]) -> list[Clause]:
    clauses = []
    used = start = number = 0
    ends = [(match.start(), match.end()) for match in _END.finditer(text)] + [(len(text),) * 2]
    for stop, end in ends:
        is_question = "?" in text[stop:end]
        for part in _JOINT.split(text[start:stop]):
            clause = " ".join(part.split())
            count = clause.count("SLOT")
            if clause:
                slots = tuple(groups[used : used + count])
                clauses.append(Clause(clause, slots, is_question, number))
            used += count
        start, number = end, number + 1
    return clauses


@lru_cache(maxsize=4096)
def _numbers(text: str) -> tuple[int, ...]:
    """Return the slots of a list, with ranges expanded."""
    numbers: list[int] = []
    for match in _RANGE.finditer(text):
        low, high = int(match[1]), int(match[2])
        if low < high:
            numbers += range(low, high + 1)
    numbers += map(int, _NUMBER.findall(text))
    return tuple(sorted(set(numbers)))
