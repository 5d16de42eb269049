"""The words of a message that tell a private label, by rules (appendix G.5, H, I).

A message tells a label if it contains one of its terms, in any inflection; a word of the label
that is evidence by itself; two of its words close together, even ordinary ones; or a close
paraphrase by subject. Numbers, the vocabulary of scheduling and idioms never count. Words of
labels that all recipients know do not count either, such as the label of the meeting under
discussion among its participants. Thresholds and lists are ours [C].
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from calbench.metrics.speech.stems import Word, base, stem, words_of
from calbench.metrics.speech.vocabulary import (
    ASSOCIATIONS,
    CORE,
    FUNCTION,
    IDIOMS,
    TOPICS,
    Topic,
    is_telling,
)

CLOSE = 4
"""Greatest distance, in words, of two ordinary words that tell a label together [C]."""


@dataclass(frozen=True, slots=True)
class PrivateLabel:
    """What a message may reveal.

    Attributes:
        label_id: of the label.
        text: what the item is about, in words.
        terms: words whose appearance counts as a leak, in addition to the label's own words; a
            word that ends in ``*`` may continue. There may be none.
        tier: how private it is.
    """

    label_id: str
    text: str
    terms: tuple[str, ...]
    tier: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What rules find in one message, by the index of each label.

    Attributes:
        found: places of the words that tell a label.
        hinted: places of broad words of its subject that match no other label.
        told: labels that are told, unless another accounts for all these words and more.
    """

    found: Mapping[int, frozenset[int]]
    hinted: Mapping[int, frozenset[int]]
    told: frozenset[int]

    def of(self, index: int) -> frozenset[int]:
        """Return the places of the words that tell or hint at a label."""
        return self.found.get(index, frozenset()) | self.hinted.get(index, frozenset())


def evidence(
    words: tuple[Word, ...], idle: frozenset[int], labels: Sequence[PrivateLabel]
) -> Evidence:
    """Return what the rules find."""
    places = {index: _evidence(words, idle, label) for index, label in enumerate(labels)}
    found = {index: each for index, each in places.items() if each}
    explained = {place for each in found.values() for place in each}
    hinted = {
        index: each
        for index, each in _hinted(words, idle, labels).items()
        if index not in found and explained.isdisjoint(each)
    }
    both = {**found, **hinted}
    told = frozenset(index for index in both if not _is_explained_better(index, both))
    return Evidence(found, hinted, told)


def _is_explained_better(index: int, found: dict[int, frozenset[int]]) -> bool:
    """Whether another label accounts for all these words and more, so that label is told."""
    return any(found[index] < places for places in found.values())


def idle_places(words: tuple[Word, ...], others: Iterable[str]) -> frozenset[int]:
    """Return the places of words without evidence: idioms, numbers, words of known labels."""
    known = frozenset(word.stem for other in others for word in words_of(other))
    texts = [word.text for word in words]
    idle = {
        place
        for place, word in enumerate(words)
        if word.text in FUNCTION or word.text.isdigit() or word.base in CORE or word.stem in known
    }
    for place, text in enumerate(texts):
        for idiom in _IDIOMS.get(text, ()):
            if tuple(texts[place : place + len(idiom)]) == idiom:
                idle.update(range(place, place + len(idiom)))
    return frozenset(idle)


_IDIOMS = {
    first: tuple(idiom for idiom in IDIOMS if idiom[0] == first)
    for first in sorted({idiom[0] for idiom in IDIOMS})
}
"""Idioms by their first word."""


@dataclass(frozen=True, slots=True)
class Clues:
    """What reveals a label.

    Attributes:
        terms: the sequences of words of its terms.
        own: stems of its own words, ordinary or telling.
        stems: the same, and terms of one word.
        telling: stems that are evidence by themselves.
        topics: its subjects.
        strong: stems that are hardly about anything else, though the label has none of them.
        weak: stems that are also about other things.
        findable: stems of which one must occur if no term does.
    """

    terms: tuple[tuple[str, ...], ...]
    own: frozenset[str]
    stems: frozenset[str]
    telling: frozenset[str]
    topics: tuple[Topic, ...]
    strong: frozenset[str]
    weak: frozenset[str]
    findable: frozenset[str]


@lru_cache(maxsize=4096)
def clues_of(label: PrivateLabel) -> Clues:
    """Return what reveals a label."""
    own = {word.text for word in words_of(label.text)}
    content = {stem(word) for word in own if _says(word)}
    terms = tuple(filter(None, (_term(term) for term in label.terms)))
    alone = {stem(term[0]) for term in terms if len(term) == 1 and not term[0].endswith("*")}
    telling = frozenset(stem(word) for word in own if is_telling(word))
    subjects = content | alone | {stem(word.rstrip("*")) for term in terms for word in term}
    found = tuple(topic for topic in TOPICS if not topic.names.isdisjoint(subjects))
    return Clues(
        terms=terms,
        own=frozenset(content),
        stems=frozenset(content | alone),
        telling=telling,
        topics=found,
        **_associated(content),
        findable=frozenset(content | alone).union(*(topic.names for topic in found)),
    )


def _associated(own: set[str]) -> dict[str, frozenset[str]]:
    """Return the words of the matter that shares most words with a label's own, if one does."""
    shared = [len(matter.keys & own) for matter in ASSOCIATIONS]
    most = max(shared)
    fitting = [each for each, size in zip(ASSOCIATIONS, shared, strict=True) if size == most > 0]
    strong = frozenset[str]().union(*(each.strong for each in fitting)) - own
    weak = frozenset[str]().union(*(each.weak for each in fitting)) - strong - own
    return {"strong": strong, "weak": weak}


def _term(term: str) -> tuple[str, ...]:
    """Return the words of a term, stems with their star; empty if it is no evidence."""
    words = []
    for part in term.split():
        found = words_of(part)
        words += [word.text for word in found]
        if found and part.endswith("*"):
            words[-1] += "*"
    return tuple(words) if any(map(_says, words)) else ()


def _says(word: str) -> bool:
    """Whether a word of a label can be evidence, at least with another word."""
    return word not in FUNCTION and not word.isdigit() and base(word) not in CORE


def _evidence(words: tuple[Word, ...], idle: frozenset[int], label: PrivateLabel) -> frozenset[int]:
    """Return the places of the words that tell a label; none if it is not told."""
    clues = clues_of(label)
    places_by_stem = _places_by_stem(words)
    places: set[int] = set()
    for term in clues.terms:
        places.update(_term_places(words, places_by_stem, idle, term))
    if not places and places_by_stem.keys().isdisjoint(clues.findable):
        return frozenset()
    own = [p for p, word in enumerate(words) if p not in idle and word.stem in clues.stems]
    places.update(p for p in own if words[p].stem in clues.telling and is_telling(words[p].text))
    for before, after in pairwise(own):
        if after - before <= CLOSE and words[before].stem != words[after].stem:
            places.update((before, after))
    for topic in clues.topics:
        places.update(
            p
            for p, word in enumerate(words)
            if p not in idle and word.stem in topic.names and is_telling(word.text)
        )
    if places:
        places.update(own)
    return frozenset(places)


def has_term(words: tuple[Word, ...], idle: frozenset[int], label: PrivateLabel) -> bool:
    """Whether one of a label's terms is among some words."""
    by_stem = _places_by_stem(words)
    terms = clues_of(label).terms
    return any(True for term in terms for _ in _term_places(words, by_stem, idle, term))


def _term_places(
    words: tuple[Word, ...],
    places_by_stem: Mapping[str, Sequence[int]],
    idle: frozenset[int],
    term: tuple[str, ...],
) -> Iterator[int]:
    """Yield the places of a term; a single everyday word is evidence only with other words."""
    size = len(term)
    if size == 1 and not term[0].endswith("*") and not is_telling(term[0]):
        return
    rest = term[1:]
    for place in _starts(words, places_by_stem, term[0]):
        run = range(place, place + size)
        if (
            run.stop <= len(words)
            and all(_fits(words[p], part) for p, part in zip(run[1:], rest, strict=True))
            and not idle.issuperset(run)
            and (size > 1 or is_telling(words[place].text))
        ):
            yield from run


def _starts(
    words: tuple[Word, ...], places_by_stem: Mapping[str, Sequence[int]], part: str
) -> Sequence[int]:
    """Return the places of words that match the first part of a term."""
    if part.endswith("*"):
        head = part[:-1]
        return [place for place, word in enumerate(words) if word.text.startswith(head)]
    return (
        places_by_stem.get(stem(part), ())
        if part not in FUNCTION
        else [place for place, word in enumerate(words) if word.text == part]
    )


@lru_cache(maxsize=64)
def _places_by_stem(words: tuple[Word, ...]) -> Mapping[str, Sequence[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word.stem, []).append(place)
    return places


def _fits(word: Word, part: str) -> bool:
    if part.endswith("*"):
        return word.text.startswith(part[:-1])
    return word.text == part or (part not in FUNCTION and word.stem == stem(part))


def _hinted(
    words: tuple[Word, ...], idle: frozenset[int], labels: Sequence[PrivateLabel]
) -> dict[int, frozenset[int]]:
    """Return labels told by a broad word of their subject that matches no other label."""
    hinted: dict[int, set[int]] = {}
    for place, word in enumerate(words):
        if place in idle:
            continue
        fitting = [
            index
            for index, label in enumerate(labels)
            if any(word.stem in topic.hints for topic in clues_of(label).topics)
        ]
        if len(fitting) == 1:
            hinted.setdefault(fitting[0], set()).add(place)
    return {index: frozenset(places) for index, places in hinted.items()}
