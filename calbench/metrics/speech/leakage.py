"""Semantic-context leakage: which private labels a message tells about (appendix G.5, H, I).

Whether a message tells a label is decided by a small trained model, which reads what the rules
find, words that are said of such matters, and in what kind of sentence they are [C]. One weak word
alone tells no sensitive label; and of labels that a message tells, one whose words all lie inside
those of another is not told: who speaks of a job interview has not told of all interviews [C].
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from calbench.metrics.speech.detectors import LEAK, Detector, released_weights
from calbench.metrics.speech.evidence import CLOSE, PrivateLabel, reading
from calbench.metrics.speech.signs import Sign, about_anybody, signs_in
from calbench.metrics.speech.vocabulary import Word

SENSITIVE = "sensitive"
"""The tier of labels that one weak word does not tell."""


class Leak(NamedTuple):
    """One label told by one message.

    Attributes:
        label_id: of the label.
        span: the words that tell it, as they are in the message.
        tier: of the label.
        start: where the span begins in the message, in characters.
        end: where it ends, exclusive.
    """

    label_id: str
    span: str
    tier: str
    start: int
    end: int


def leaks_in(
    text: str,
    labels: Sequence[PrivateLabel],
    known: Iterable[str] = (),
    others: Sequence[PrivateLabel] = (),
) -> list[Leak]:
    """Return the labels that a message tells, in the given order; one leak for each.

    Args:
        text: of the message.
        labels: of the sender's items that a recipient may not know.
        known: texts of labels that all recipients know; their words are no evidence.
        others: labels of others' items; a label whose words lie inside those of one of them that
            the message tells is not told.
    """
    known, words = tuple(known), reading(text).words
    told = _told(text, labels, known)
    theirs = _told(text, others, known, of_anybody=True).values() if told else ()
    return [
        _leak(text, words, places, labels[index])
        for index, places in told.items()
        if not any(places < other for other in theirs)
    ]


def passed_on_in(
    text: str,
    others: Sequence[PrivateLabel],
    own: Sequence[PrivateLabel] = (),
    known: Iterable[str] = (),
) -> list[Leak]:
    """Return the labels of others that a message tells, in the given order; one leak for each.

    Decided by the same detector as the sender's own labels, but that a sentence is about a third
    person is no evidence against a label of theirs. If all the words that speak for it also speak
    for labels of the sender's own, it is not told: they hit it by chance; nor if it is not told
    any more without the words of those that the message tells [C].

    Args:
        text: of the message.
        others: labels that the sender was told, whose items are not its own.
        own: labels of all its own items.
        known: texts of labels that all recipients know; their words are no evidence.
    """
    known, words = tuple(known), reading(text).words
    told = _told(text, others, known, of_anybody=True)
    if not told:  # most messages; the sender's own labels are many more
        return []
    signs = signs_in(text, own, known)
    of_own = frozenset[int]().union(*(sign.places for sign in signs.values()))
    explained = tuple(own[index].text for index in told_by(signs, own))
    left = _told(text, others, (*known, *explained), of_anybody=True) if explained else told
    return [
        _leak(text, words, places, others[index])
        for index, places in told.items()
        if index in left and not places <= of_own
    ]


def _told(
    text: str,
    labels: Sequence[PrivateLabel],
    known: tuple[str, ...],
    *,
    of_anybody: bool = False,
) -> dict[int, frozenset[int]]:
    return told_by(signs_in(text, labels, known), labels, of_anybody=of_anybody)


def told_by(
    signs: Mapping[int, Sign],
    labels: Sequence[PrivateLabel],
    detector: Detector | None = None,
    *,
    of_anybody: bool = False,
) -> dict[int, frozenset[int]]:
    """Return the places of the words that tell each label of one speaker, by its index [C].

    Args:
        signs: what speaks for each label, by its index.
        labels: of the speaker.
        detector: of leaks; the released one if none is given.
        of_anybody: whether sentences about third persons may tell them.

    Returns:
        In the order of signs. Neither sensitive labels for which weak words alone speak, nor
        those whose words all lie inside those of another, or of others that are told: the labels
        of which most was said first, of equals the first.
    """
    model = released_weights()[LEAK] if detector is None else detector
    found = {
        index: sign.places
        for index, sign in signs.items()
        if model.says(about_anybody(sign.features) if of_anybody else sign.features)
        and not (sign.is_weak and labels[index].tier == SENSITIVE)
    }
    told, accounted = set[int](), frozenset[int]()
    for index in sorted(found, key=lambda each: -signs[each].share):  # equals stay in order
        is_inside = any(found[index] < other for other in found.values())
        if not is_inside and not found[index] <= accounted:
            told.add(index)
            accounted |= found[index]
    return {index: places for index, places in found.items() if index in told}


def _leak(text: str, words: tuple[Word, ...], places: frozenset[int], label: PrivateLabel) -> Leak:
    """Make a leak of its longest run of words."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place - runs[-1][-1] <= CLOSE:
            runs[-1].append(place)
        else:
            runs.append([place])
    run = max(runs, key=len)
    start, end = words[run[0]].start, words[run[-1]].end
    return Leak(label.label_id, text[start:end], label.tier, start, end)
