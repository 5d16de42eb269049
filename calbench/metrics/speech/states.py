"""What a clause says of a state of slots: which, denied or not, whose, when, how firmly (G.5) [C].

*Availability* needs a slot, a state of it, a polarity, and a speaker who means itself. Each is read
by grammar and a thesaurus of general English (``words/states.txt``), so expressions that no
training message has count as what they mean. Words are read once from left to right, each with a
bounded number of neighbours.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Final

from calbench.metrics.speech.clauses import Clause
from calbench.metrics.speech.vocabulary import STATES

STATED: Final = "state "
"""How features begin that say what states a clause tells."""

MAX_WORDS: Final = 200
"""Words of one clause that are read, far above any clause [C]."""

DENIAL: Final = 4
"""Words before a state in which its denial stands [C]."""

REACH: Final = 8
"""Words around a state in which its slot, or what makes it uncertain, stands [C]."""

_TOKEN: Final = re.compile(r"[A-Z]{4,}|[a-z]+(?:['-][a-z]+)*|[,:=]")
_KINDS: Final = ("open", "fits", "taken", "reply")
_LENGTHS: Final = {
    kind: {
        first: sorted({len(each) for each in expressions if each[0] == first}, reverse=True)
        for first in {each[0] for each in expressions}
    }
    for kind, expressions in STATES.items()
}
"""Lengths of the expressions of a kind by their first words, so that few are tried."""

_PERSONS: Final = ("me", "us", "them")
_BREAKS: Final = frozenset({",", "because", "since", "so", "and", "as", "but", "or"})
_CELL: Final = frozenset({"SLOT", ":", "="})
_NUMBERED: Final = re.compile(r"(?<![\w.#:-])\d{1,2} ?(?=[:=] ?[a-z])")
"""A slot at the head of a cell, "4: yes", which rules for running prose do not read as one."""

_FUTURE: Final = frozenset({"i'd", "i'll", "won't"})
_NEAR: Final = frozenset({"for", "with", "on", "to", "from", "in"})
_LOCAL: Final = frozenset({"slot", "it", "calendar", "cell", "start"})
_SAYING: Final = _LOCAL | {"act", "verb", "me", "has"}
"""Links by which a state is said of a slot, of the speaker, or of the speaker's calendar."""

_VERDICTS: Final = {
    **dict.fromkeys(("open", "fits", "able", "yes"), ("can", "cannot")),
    **dict.fromkeys(("unable", "no"), ("cannot", "cannot")),
    **dict.fromkeys(("taken",), ("cannot", "can")),
    "lack": ("can", "can"),
    "reply": ("reply", "reply"),
}
"""What a kind of state says, and what its denial says."""


@dataclass(frozen=True, slots=True)
class _State:
    """One state in a clause: its kind, and the places of its first word and after its last."""

    kind: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def states_of(clause: Clause, is_named: bool) -> frozenset[str]:
    """Return the features of the states that a clause tells.

    Args:
        clause: of a message.
        is_named: whether an earlier clause of the message names a slot.
    """
    words = _TOKEN.findall(_NUMBERED.sub("SLOT", clause.text))[:MAX_WORDS]
    found = {
        feature
        for state in _states(words)
        for feature in _features(words, state, clause.is_question, is_named)
    }
    for kind in ("rest", "move"):
        if found and _has(words, kind):
            found |= {f"{kind} {each}" for each in ("can", "cannot", "says") if each in found}
            found.add(kind)
    if "says" in found and "move" not in found:
        found.add("says unmoved")
    return frozenset(found)


def _features(
    words: Sequence[str], state: _State, is_question: bool, is_named: bool
) -> Iterator[str]:
    """Yield what is said of one state, and whether it is availability by the definition."""
    kind, verdict = state.kind, _VERDICTS[state.kind][_is_denied(words, state.start)]
    link = _link(words, state)
    who, when = _who(words, state, link), _when(words, state.start, is_named)
    mode = _mode(words, state, is_question)
    yield from (verdict, f"{kind} {verdict}", f"{kind} {link}", f"{verdict} {who}")
    yield from (f"{verdict} {when}", f"{verdict} {mode}", f"{verdict} {who} {mode}")
    if who != "them" and when != "never" and mode == "plain" and link in _SAYING:
        yield from ("says", f"says {verdict}", f"says {kind}", f"says {who} {verdict}")
        yield from (f"says {link}", f"says {when}")


def _is(kind: str, *words: str) -> bool:
    return words in STATES[kind]


def _has(words: Sequence[str], kind: str) -> bool:
    """Whether words hold an expression of a kind."""
    return any(_length(words, start, kind) for start in range(len(words)))


def _length(words: Sequence[str], start: int, kind: str) -> int:
    """Return the length of the longest expression of a kind at a place, or 0."""
    lengths = _LENGTHS[kind].get(words[start], ())
    return next((each for each in lengths if _is(kind, *words[start : start + each])), 0)


def _states(words: Sequence[str]) -> Iterator[_State]:
    """Yield the states, the longest expression at each place."""
    start = 0
    while start < len(words):
        state = _longest(words, start)
        if state.kind:
            yield state
        start = state.end


def _longest(words: Sequence[str], start: int) -> _State:
    length, kind = max(((_length(words, start, kind), kind) for kind in _KINDS), key=itemgetter(0))
    if length:
        return _State(kind, start, start + length)
    return _State(_word_kind(words, start), start, start + 1)


def _word_kind(words: Sequence[str], start: int) -> str:
    """Return the kind of a word that is a state only beside certain others, or nothing."""
    word = words[start]
    if word in ("yes", "no") and _is_cell(words, start):
        return word
    if _is("lack", word) and _is_denied(words, start):
        return "lack"
    kind = next((each for each in ("able", "unable") if _is(each, word)), "")
    return kind if kind and _is_presence(words, start) else ""


def _is_cell(words: Sequence[str], start: int) -> bool:
    """Whether yes or no is said to a slot: ``SLOT: yes``, ``no to SLOT``, ``no SLOT``."""
    before = [each for each in words[max(0, start - 2) : start] if each not in ":=,"]
    after = [*words[start + 1 : start + 3], "", ""]
    if before[-1:] == ["or"]:
        return False
    return (
        before[-1:] == ["SLOT"]
        or (start == 0 and after[0] == "SLOT")
        or (after[1] == "SLOT" and (after[0] in _NEAR or after[0] in ("at", ":", "=")))
    )


def _is_presence(words: Sequence[str], start: int) -> bool:
    """Whether the ability at a place is one to be there; one without a verb is."""
    rest = words[start + 1 : start + 6]
    while rest and (_is("soft", rest[0]) or rest[0] == "to"):
        rest = rest[1:]
    if not rest or rest[0] in _BREAKS or rest[0] == "SLOT" or _is("there", rest[0]):
        return words[start] not in _FUTURE
    if words[start] in _FUTURE - {"won't"}:
        return False
    if rest[0] == "be" and (len(rest) == 1 or rest[1] in _BREAKS or rest[1] == "SLOT"):
        return True
    return _is("attend", rest[0]) or _is("attend", *rest[:2])


def _is_denied(words: Sequence[str], start: int) -> bool:
    for each in reversed(words[max(0, start - DENIAL) : start]):
        if each in _CELL or each == ",":
            return False
        if _is("deny", each):
            return True
    return False


def _link(words: Sequence[str], state: _State) -> str:
    """Return how a state is tied to what has it."""
    if state.kind in ("able", "unable"):
        return "act"
    if _is_of_a_deed(words, state):
        return "about"
    if _is("verb", *words[state.start : state.end]):
        return "verb"
    at = state.start - 1
    while at >= 0 and not _is("is", words[at]) and _is_passed(words[at]):
        at -= 1
    if at < 0 or words[at] in _BREAKS:
        return "aside" if words[state.end : state.end + 1] in ([], [","]) else "start"
    return _tied(words, state, at)


def _tied(words: Sequence[str], state: _State, at: int) -> str:
    """Return the tie that the word at a place makes."""
    if words[at] in _CELL:
        return "cell"
    if _is("is", words[at]):
        return _subject(words, at)
    if _is("has", words[at]):
        return "done" if _is_active(words, state) else "has"
    return "does" if _is("does", words[at]) else "other"


def _is_of_a_deed(words: Sequence[str], state: _State) -> bool:
    """Whether the speaker is fine with something other than a slot: "happy with moving it"."""
    after = [*words[state.end : state.end + 2], "", ""]
    is_slot = after[1] == "SLOT" or _is("pointing", after[1])
    return state.kind == "fits" and after[0] == "with" and not is_slot


def _is_active(words: Sequence[str], state: _State) -> bool:
    """Whether a participle is what somebody did: "I have booked it" says no state of a slot."""
    return words[state.start].endswith(("ed", "taken")) and _is("has", words[state.start - 1])


def _is_passed(word: str) -> bool:
    return word in ("a", "an", "any") or _is("soft", word) or _is("deny", word)


def _subject(words: Sequence[str], at: int) -> str:
    """Return what the verb at a place is said of."""
    if words[at] in ("i'm", "am", "we're"):
        return "me"
    if words[at] in ("it's", "that's"):
        return "it"
    at -= 1
    while at >= 0 and (_is("soft", words[at]) or _is("does", words[at])):
        if words[at] in _FUTURE:
            return "me"
        at -= 1
    if at < 0:
        return "start"
    if words[at] == "SLOT":
        return "slot"
    kinds = {"me": "me", "them": "them", "calendar": "calendar", "there": "it", "us": "it"}
    return next((link for kind, link in kinds.items() if _is(kind, words[at])), "noun")


def _who(words: Sequence[str], state: _State, link: str) -> str:
    """Return whose state it is: said after it, else the last person before it, else nobody's."""
    if state.kind not in ("able", "unable"):
        after = words[state.end : state.end + 4]
        if link == "verb" and after and _is("me", after[0]):
            return "me"
        for one, other in pairwise(after):
            if one in _NEAR and other != "them" and _person(other):
                return _person(other)
    for each in reversed(words[: state.start]):
        if each == "," and link in _LOCAL:
            return "none"
        if _person(each):
            return _person(each)
    return "none"


def _person(word: str) -> str:
    return next((who for who in _PERSONS if _is(who, word)), "")


def _when(words: Sequence[str], start: int, is_named: bool) -> str:
    """Return how the slot of a state is given."""
    near = words[max(0, start - REACH) : start + REACH]
    if "SLOT" in near:
        return "slot"
    if "SLOT" in words:
        return "far"
    if any(_is("there", each) for each in near):
        return "there"
    return "named" if is_named else "never"


def _mode(words: Sequence[str], state: _State, is_question: bool) -> str:
    """Return whether a state is asked for, uncertain, or said."""
    is_last = "," not in words[state.end :]
    if is_question and (is_last or _is("asking", words[0])):
        return "ask"
    first = max(0, state.start - REACH)
    before = words[first : state.start]
    for place in reversed(range(len(before))):
        if before[place] == ",":
            before = before[place + 1 :]
            break
    return "if" if _has(before, "open_ended") else "plain"
