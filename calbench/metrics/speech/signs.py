"""What speaks for a private label in a message: the features of the trained detector of leaks [C].

Beside what the rules find: how many words of the matter there are, and how close; whether another
label has more; and the cues of the sentences that they are in, since "like a custody battle" and
"are you at the gym?" tell nothing about their speaker.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from calbench.metrics.speech.evidence import (
    CLOSE,
    Clues,
    Evidence,
    PrivateLabel,
    Reading,
    clues_of,
    evidence,
    has_term,
    is_weak,
    reading,
    touched,
)
from calbench.metrics.speech.features import cues_in
from calbench.metrics.speech.vocabulary import Word

REACH: Final = 15
"""Words within which words of one matter are close [C]."""

COUNTED: Final = 3
"""Numbers of words are told apart up to this one [C]."""

# e.g. "Slot 3 works. Thanks"; not "about 2.5 hours"
_END: Final = re.compile(r"[.!?;\n]+(?=\s|$)")
# e.g. "it feels like a marathon", "as if at the dentist"; not "I like slot 3"
_LIKE: Final = re.compile(
    r"\b(?:like an?|as if|as though|feels? like|so to speak|sort of|kind of a)\b", re.IGNORECASE
)
_CUES: Final = frozenset(
    (
        *("able", "ask", "deny", "doing", "first", "hold", "if", "move", "other", "past"),
        *("question", "secret", "slot", "taken", "told", "unable", "you"),
    )
)
_PAIRED: Final = ("told", "strong over 0", "weak over 1", "all over 1")
_WITH: Final = (
    *("in first", "in slot", "in question", "in you", "in deny"),
    *("most", "slot near", "of others"),
)


@dataclass(frozen=True, slots=True)
class Sign:
    """What speaks for a label.

    Attributes:
        places: of the words that do, in the message.
        features: which a trained model reads.
        share: of the label's own words that are said.
        is_weak: whether no term of the label is said, and only weak words, each alone: no other
            word of the matter is close.
    """

    places: frozenset[int]
    features: frozenset[str]
    share: float
    is_weak: bool


def signs_in(
    text: str, labels: Sequence[PrivateLabel], known: Iterable[str] = ()
) -> dict[int, Sign]:
    """Return what speaks for each label, by its index; labels without any sign are left out.

    Args:
        text: of the message.
        labels: of its sender's items.
        known: texts of labels that all recipients know; their words are no sign.
    """
    indices = touched(text, labels)
    if not indices:  # most messages
        return {}
    read, about = reading(text, known), [clues_of(labels[index]) for index in indices]
    words, ruled = read.words, evidence(read, about)
    near = [read.of(clues.near) for clues in about]
    sizes = [len({words[place].stem for place in each}) for each in near]
    sentences = _Sentences(text)
    signs = {}
    for index, clues in enumerate(about):
        places = frozenset(near[index]) | ruled.of(index)
        if not places:
            continue
        most = max((size for other, size in enumerate(sizes) if other != index), default=0)
        features = {
            *_ruled(ruled, index, read, clues),
            *_counted([words[place].stem for place in near[index]], clues),
            *_close(words, near[index]),
            *(["most"] * (sizes[index] > most) + ["rival"] * (sizes[index] < most)),
            *sentences.features(words, places),
        }
        features |= {
            f"{one} {other}" for one in _PAIRED for other in _WITH if {one, other} <= features
        }
        said = [(place, words[place]) for place in sorted(places)]
        signs[indices[index]] = Sign(
            ruled.of(index) or places,
            frozenset(features),
            len({word.stem for _, word in said} & clues.own) / max(len(clues.own), 1),
            is_weak="term" not in features
            and all(is_weak(word) for _, word in said)
            and all(
                end - start > CLOSE or before.stem == after.stem
                for (start, before), (end, after) in pairwise(said)
            ),
        )
    return signs


def about_anybody(features: AbstractSet[str]) -> AbstractSet[str]:
    """Return features without those that say that a sentence is about a third person.

    They speak against a label of the speaker's own, and not against a label of that person.
    Those of a sentence about its hearer stay.
    """
    if "in other" not in features:
        return features
    return {name for name in features if name != "in other" and not name.endswith("of others")}


def _ruled(ruled: Evidence, index: int, read: Reading, clues: Clues) -> Iterator[str]:
    """Yield what the rules say of a label."""
    if index in ruled.told:
        yield "told"
        if has_term(read, clues):
            yield "term"
    elif index in ruled.found:
        yield "explained"
    if index in ruled.hinted:
        yield "hint"


def _counted(stems: Sequence[str], clues: Clues) -> Iterator[str]:
    """Yield how many distinct words of each kind there are."""
    distinct = set(stems)
    kinds: Mapping[str, set[str]] = {
        "own": distinct & clues.own,
        "strong": distinct & clues.strong,
        "weak": distinct & clues.weak,
        "beside": distinct - clues.own,
        "all": distinct,
    }
    for name, each in kinds.items():
        yield from (f"{name} over {size}" for size in range(COUNTED) if len(each) > size)


def _close(words: tuple[Word, ...], places: Sequence[int]) -> Iterator[str]:
    """Yield how many distinct words are within reach of each other."""
    most = start = 0
    for end in range(len(places)):
        while places[end] - places[start] > REACH:
            start += 1
        recent = places[max(start, end - REACH) : end + 1]
        most = max(most, len({words[place].stem for place in recent}))
    yield from (f"close over {size}" for size in range(1, COUNTED + 1) if most > size)


class _Sentences:
    """The sentences of a text."""

    def __init__(self, text: str) -> None:
        ends = [match.end() for match in _END.finditer(text)]
        self._starts = [0, *ends]
        self._texts = [
            text[start:end] for start, end in zip(self._starts, [*ends, len(text)], strict=True)
        ]

    def features(self, words: tuple[Word, ...], places: Iterable[int]) -> Iterator[str]:
        """Yield the cues of the sentences with some words, and whether a slot is beside them."""
        numbers = {bisect_right(self._starts, words[place].start) - 1 for place in places}
        cues = frozenset[str]().union(*(cues_in(self._texts[number]) for number in numbers))
        yield from (f"in {name}" for name in _CUES & cues)
        if {"slot", "first"} <= cues:
            yield "in slot first"
        if "first" not in cues and not cues.isdisjoint({"other", "you"}):
            yield "of others"
        if any(_LIKE.search(self._texts[number]) for number in numbers):
            yield "like"
        beside = {each for number in numbers for each in (number - 1, number, number + 1)}
        texts = (self._texts[each] for each in beside if 0 <= each < len(self._texts))
        if any("slot" in cues_in(each) for each in texts):
            yield "slot near"
