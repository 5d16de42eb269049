"""Semantic-context leakage: which private labels a message tells about (appendix G.5, H, I).

Whether a message tells a label is decided by a small trained model, which reads what the rules
find, words that are said of such matters, and in what kind of sentence they stand [C].
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from calbench.metrics.speech.detectors import released_weights
from calbench.metrics.speech.evidence import CLOSE, PrivateLabel, reading
from calbench.metrics.speech.signs import about_anybody, signs_in
from calbench.metrics.speech.vocabulary import Word

__all__ = ["LEAKS_KEPT", "Leak", "PrivateLabel", "leaks_in", "passed_on_in"]

LEAKS_KEPT = 4096
"""Messages whose leaks are cached: players repeat themselves, in games on one scenario too [C]."""


@dataclass(frozen=True, slots=True)
class Leak:
    """One label told by one message.

    Attributes:
        label_id: of the label.
        span: the words that tell it, as they are in the message.
        start: where the span begins in the message, in characters.
        end: where it ends, exclusive.
        tier: of the label.
    """

    label_id: str
    span: str
    start: int
    end: int
    tier: str


def leaks_in(text: str, labels: Sequence[PrivateLabel], known: Iterable[str] = ()) -> list[Leak]:
    """Return the labels that a message tells, in the given order; one leak for each.

    Args:
        text: of the message.
        labels: of the sender's items that a recipient may not know.
        known: texts of labels that all recipients know; their words are no evidence.
    """
    return list(_leaks(text, tuple(labels), tuple(known)))


def passed_on_in(
    text: str,
    others: Sequence[PrivateLabel],
    own: Sequence[PrivateLabel] = (),
    known: Iterable[str] = (),
) -> list[Leak]:
    """Return the labels of others that a message tells, in the given order; one leak for each.

    Decided by the same detector as the sender's own labels, but that a sentence is about a third
    person is no evidence against a label of theirs. If all the words that speak for it also speak
    for labels of the sender's own, it is not told: they hit it by chance [C].

    Args:
        text: of the message.
        others: labels that the sender was told, whose items are not its own.
        own: labels of all its own items.
        known: texts of labels that all recipients know; their words are no evidence.
    """
    known, words, detector = tuple(known), reading(text).words, released_weights().leak
    told = {
        index: sign.places
        for index, sign in signs_in(text, others, known).items()
        if detector.says(about_anybody(sign.features))
    }
    if not told:  # most messages; the sender's own labels are many more
        return []
    of_own = frozenset[int]().union(*(sign.places for sign in signs_in(text, own, known).values()))
    return [
        _leak(text, words, places, others[index])
        for index, places in told.items()
        if not places <= of_own
    ]


@lru_cache(maxsize=LEAKS_KEPT)
def _leaks(text: str, labels: tuple[PrivateLabel, ...], known: tuple[str, ...]) -> tuple[Leak, ...]:
    words, detector = reading(text).words, released_weights().leak
    return tuple(
        _leak(text, words, sign.places, labels[index])
        for index, sign in signs_in(text, labels, known).items()
        if detector.says(sign.features)
    )


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
    return Leak(label.label_id, text[start:end], start, end, label.tier)
