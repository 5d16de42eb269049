"""Words that are no evidence alone, idioms, paraphrases by subject, and states of slots [C].

A label like "Return to work of a colleague after a stroke" shares "return", "work" and
"after" with talk about any meeting. The lists in ``words/`` keep such words apart. They were
written from general knowledge of English and of scheduling talk, not from one set of messages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calbench.metrics.speech.stems import base, stem


def _lines(name: str) -> list[str]:
    path = Path(__file__).with_name("words") / f"{name}.txt"
    return path.read_text("utf-8").splitlines()


def _words(name: str) -> Iterator[str]:
    return (word for line in _lines(name) for word in line.split())


FUNCTION: Final = frozenset(_words("function"))
"""Words that build sentences: no evidence at all."""

CORE: Final = frozenset(map(base, _words("core")))
"""Words of every calendar: no evidence, alone or together."""

COMMON: Final = CORE | frozenset(map(base, _words("common")))
"""Everyday words: evidence only beside a second word of the same label."""

IDIOMS: Final = tuple(tuple(line.split()) for line in _lines("idioms"))
"""Idioms whose words mean something else; they are skipped."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One subject of private life, as stems: words that paraphrase a label without its own words.

    The lists are small and general on purpose: a judge that reads (appendix I) finds what lists
    cannot.

    Attributes:
        names: words that name it, in a label or a message.
        hints: broader words that may stand for it in a message.
    """

    names: frozenset[str]
    hints: frozenset[str]


def _topic(line: str) -> Topic:
    names, _, hints = line.partition("|")
    return Topic(frozenset(map(stem, names.split())), frozenset(map(stem, hints.split())))


TOPICS: Final = tuple(map(_topic, _lines("topics")))


@dataclass(frozen=True, slots=True)
class Association:
    """What is said of a matter without naming it, as stems: *blood* and *machine* of a dialysis.

    Written label by label from the released bank and general knowledge. Such words are evidence
    for a trained model only, which weighs them with their number and their sentence.

    Attributes:
        keys: words of a label that is about the matter.
        strong: words that hardly stand for anything else in talk about a calendar.
        weak: words that stand for other things too.
    """

    keys: frozenset[str]
    strong: frozenset[str]
    weak: frozenset[str]


def _association(line: str) -> Association:
    return Association(*(frozenset(map(stem, part.split())) for part in line.split("|")))


ASSOCIATIONS: Final = tuple(map(_association, _lines("associations")))


def _kinds(name: str) -> Iterator[tuple[str, frozenset[tuple[str, ...]]]]:
    for line in _lines(name):
        kind, _, expressions = line.partition("|")
        yield kind.strip(), frozenset(tuple(each.split()) for each in expressions.split(","))


STATES: Final = dict(_kinds("states"))
"""Expressions by which states of slots are told, as words, by kind.

States are *open*, *fits*, *taken*, *reply*, and *lack* of what is named; *able* and *unable* count
with a verb of *attend*. The other kinds are the words around them: persons, verbs, denial, doubt.
"""


def is_telling(word: str) -> bool:
    """Whether a folded word is evidence by itself."""
    return (
        len(word) >= 2 and word not in FUNCTION and base(word) not in COMMON and not word.isdigit()
    )
