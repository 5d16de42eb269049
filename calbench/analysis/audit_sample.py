"""Precision and recall of the detectors on samples labelled by reading (G.5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from calbench.analysis.registry import Declared
from calbench.errors import FileError
from calbench.facts.columns import Column, columns, keyed
from calbench.facts.frames import cast, csv_text
from calbench.files import write_atomically
from calbench.metrics.speech.sample import PARTS, Found, LabelledMessage, read_others, read_sample
from calbench.stats.proportions import Proportion, wilson
from calbench.stats.spec import DEFAULT_ANALYSIS

DETECTORS: Final = (
    "semantic_leakage",
    "proposal",
    "availability",
    "cost_or_constraint",
    "exact_cost",
)
"""Detectors, in the order of the table."""

OTHERS: Final = ("others", "others, development", "others, kept")
"""Parts of the messages of others: all, those that were read, and those that were not."""

OURS: Final = (*PARTS, "ours")
"""Parts of our messages, and all of them."""

CONFIDENCE: Final = DEFAULT_ANALYSIS.confidence
"""Of the intervals of ``audit_sample.csv``, which no run's settings change."""

FIRST: Final = "first_judgement.csv"
"""What the rules found before they were changed, kept for ever; see the README of the sample."""

UNSEEN: Final = "unseen.csv"
"""What detectors find that were trained without the message; ``make detectors`` makes it."""

CROSSED: Final = "crossed"
"""Detectors trained on four fifths of all messages judge the fifth part, by hash."""

KEPT: Final = "kept"
"""Detectors trained without the half of others that nobody read judge that half."""

Unseen = Mapping[str, Mapping[str, frozenset[str]]]
"""By :data:`CROSSED` and :data:`KEPT`, and by message: own-slot labels, and ids of labels told."""

COLUMNS: Final[tuple[Column, ...]] = columns("""
    part (text; C): others (all), and of them development and kept (by hash); of ours tuning or
        held-out (by hash), later, fresh to fresh 5, last, and ours (all). No message is judged by a
        detector that was trained on it, and those kept by one trained on none of them
    label (text; P): semantic_leakage (of labels), or an own-slot label
    messages (count, messages): messages of the part
    true_positives (count): found, and present by reading
    false_positives (count): found, but not present
    false_negatives (count): missed
    precision (wilson; P): correct labels of those found // found
    recall (wilson; P): labels found of those present // present by reading
    f1 (number, share): harmonic mean of precision and recall
    kappa (number): Cohen's kappa of two readers (of leakage: whether a message tells any label);
        empty where one person read them
    first_precision (number, share): precision of the rules before any was changed for others
    first_recall (number, share): recall of the same rules
    first_f1 (number, share): harmonic mean of the two
    """)
"""Of ``audit_sample.csv``."""

SAMPLE: Final = Declared(
    "audit_sample.csv",
    keyed(COLUMNS, "part label"),
    "Precision and recall of the detectors of language on messages labelled by reading.",
)


@dataclass(frozen=True, slots=True)
class Quality:
    """Numbers of labels: found and present, found but not present, missed."""

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> Proportion:
        """The share of correct labels among those found; no number if none was found."""
        return _share(self.true_positives, self.false_positives)

    @property
    def recall(self) -> Proportion:
        """The share of present labels that was found; no number if none is present."""
        return _share(self.true_positives, self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; not a number where nothing is there."""
        all_labels = 2 * self.true_positives + self.false_positives + self.false_negatives
        return 2 * self.true_positives / all_labels if all_labels else np.nan


def _share(right: int, wrong: int) -> Proportion:
    found = wilson(right, right + wrong, DEFAULT_ANALYSIS)
    return Proportion(np.nan, np.nan, np.nan) if found is None else found


@dataclass(frozen=True, slots=True)
class Samples:
    """The labelled messages.

    Attributes:
        others: written and labelled twice apart from this project.
        ours: written or played here, and labelled once.
        first: what the rules found at first, by part and detector.
        unseen: what detectors find that were trained without the message.
    """

    others: Sequence[LabelledMessage]
    ours: Sequence[LabelledMessage]
    first: Mapping[tuple[str, str], Quality]
    unseen: Unseen

    def found(self, part: str) -> Mapping[str, frozenset[str]]:
        """Return what is found in the messages of a part, by message."""
        return self.unseen[KEPT if part == OTHERS[2] else CROSSED]

    def of(self, part: str) -> list[LabelledMessage]:
        """Return the messages of one of :data:`OTHERS` or :data:`OURS`."""
        if part in OTHERS:
            is_kept = {OTHERS[0]: {False, True}, OTHERS[1]: {False}, OTHERS[2]: {True}}[part]
            return [message for message in self.others if message.is_kept in is_kept]
        return [message for message in self.ours if part in {message.part, OURS[-1]}]


def read_samples(folder: Path) -> Samples:
    """Read both samples and what was found in them from their folder.

    Raises:
        FileError: naming the file, and what does not fit.
    """
    first = pd.read_csv(folder / FIRST).set_index(["part", "label"])
    samples = Samples(
        read_others(folder / "others.jsonl"),
        read_sample(folder / "messages.jsonl"),
        {
            key: Quality(*map(int, row))
            for key, row in zip(first.index, first.to_numpy(), strict=True)
        },
        read_unseen(folder / UNSEEN),
    )
    for part in (*OTHERS, *OURS):
        if missing := [each for each in samples.of(part) if each.key not in samples.found(part)]:
            raise FileError(f"{folder / UNSEEN}: lacks {missing[0].key}; run `make detectors`")
    return samples


def read_unseen(path: Path) -> Unseen:
    """Read the file of what is found in unseen messages."""
    unseen: dict[str, dict[str, frozenset[str]]] = {CROSSED: {}, KEPT: {}}
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    columns = (map(str, frame[name]) for name in ("judged", "message", "found"))
    for judged, message, found in zip(*columns, strict=True):
        unseen[judged][message] = frozenset(found.split())
    return unseen


def quality(
    messages: Iterable[LabelledMessage], detector: str, found: Mapping[str, frozenset[str]]
) -> Quality:
    """Count the results of one of :data:`DETECTORS`; leakage by labels, the others by messages.

    Args:
        messages: labelled.
        detector: whose results.
        found: what is found in each, by :attr:`LabelledMessage.key`.
    """
    right = wrong = missed = 0
    for message in messages:
        said, there = _said(found[message.key], detector), _there(message, detector)
        right += len(said & there)
        wrong += len(said - there)
        missed += len(there - said)
    return Quality(right, wrong, missed)


def _said(found: frozenset[str], detector: str) -> frozenset[str]:
    return found.difference(DETECTORS) if detector == "semantic_leakage" else found & {detector}


def _there(message: LabelledMessage | Found, detector: str) -> set[str]:
    if detector == "semantic_leakage":
        return set(message.leaks)
    return {detector} if getattr(message, detector) else set()


def kappa(messages: Sequence[LabelledMessage], detector: str) -> float:
    """Return Cohen's kappa of the two readers; not a number where it is not defined."""
    seconds = [message.second for message in messages]
    pairs = [
        (bool(_there(message, detector)), bool(_there(second, detector)))
        for message, second in zip(messages, seconds, strict=True)
        if second is not None
    ]
    if not pairs:
        return np.nan
    agreed = sum(one == other for one, other in pairs)
    ones, others = sum(one for one, _ in pairs), sum(other for _, other in pairs)
    # Whole numbers: agreement by chance times the square of the number of pairs.
    size = len(pairs)
    chance = ones * others + (size - ones) * (size - others)
    return (size * agreed - chance) / (size * size - chance) if chance < size * size else np.nan


def sample_table(samples: Samples) -> pd.DataFrame:
    """Return the quality of each detector on every part, others first, with :data:`COLUMNS`."""
    rows = []
    for part in (*OTHERS, *OURS):
        messages = samples.of(part)
        for detector in DETECTORS if part in OTHERS else DETECTORS[:-1]:
            found = quality(messages, detector, samples.found(part))
            row = {"part": part, "label": detector, "messages": len(messages), **asdict(found)}
            for name in ("precision", "recall"):
                ends = (name, f"{name}_low", f"{name}_high")
                row |= zip(ends, getattr(found, name), strict=True)
            first = samples.first.get((part, detector), Quality(0, 0, 0))
            row |= {"first_precision": first.precision.value, "first_recall": first.recall.value}
            row |= {"f1": found.f1, "kappa": kappa(messages, detector), "first_f1": first.f1}
            rows.append(row)
    return cast(pd.DataFrame(rows), COLUMNS)


def write_sample_table(samples: Samples, path: Path) -> None:
    """Write ``audit_sample.csv``: every part, detector by detector.

    Raises:
        OutputError: the folder cannot be written.
    """
    write_atomically(path, "".join(csv_text([sample_table(samples)], COLUMNS)).encode())
