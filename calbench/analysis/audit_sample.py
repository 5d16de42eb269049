"""Precision and recall of the detectors on a sample labelled by reading (G.5)."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from calbench.analysis.tables.registry import Declared
from calbench.facts.columns import Column, count, independent_proportion, keyed, text
from calbench.facts.frames import cast, csv_text
from calbench.files import write_atomically
from calbench.metrics.speech.leakage import leaks_in
from calbench.metrics.speech.own_slot import own_slot
from calbench.metrics.speech.sample import PARTS, LabelledMessage
from calbench.stats.proportions import Proportion, wilson
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec

DETECTORS: Final = ("semantic_leakage", "proposal", "availability", "cost_or_constraint")
"""Detectors, in the order of the table."""

CONFIDENCE: Final = DEFAULT_ANALYSIS.confidence
"""Of the intervals of ``audit_sample.csv``, which no run's settings change."""

COLUMNS: Final[tuple[Column, ...]] = (
    text("part", "tuning or held-out (by hash), later, fresh to fresh 5, last, or all", "C"),
    text("label", "semantic_leakage (of labels), or an own-slot label", "P"),
    count("messages", "messages", "messages of the part"),
    count("true_positives", "", "found, and present by reading"),
    count("false_positives", "", "found, but not present"),
    count("false_negatives", "", "missed"),
    *independent_proportion("precision", "correct labels of those found", "found", "P"),
    *independent_proportion("recall", "labels found of those present", "present by reading", "P"),
)
"""Of ``audit_sample.csv``."""

SAMPLE: Final = Declared(
    "audit_sample.csv",
    keyed(COLUMNS, "part label"),
    "Precision and recall of the detectors of language on messages labelled by reading.",
    is_large=False,
)


@dataclass(frozen=True, slots=True)
class Quality:
    """Numbers of labels: found and present, found but not present, missed."""

    true_positives: int
    false_positives: int
    false_negatives: int

    def precision(self, spec: AnalysisSpec = DEFAULT_ANALYSIS) -> Proportion | None:
        """Return the share of correct labels among those found; ``None`` if none was found."""
        return wilson(self.true_positives, self.true_positives + self.false_positives, spec)

    def recall(self, spec: AnalysisSpec = DEFAULT_ANALYSIS) -> Proportion | None:
        """Return the share of present labels that was found; ``None`` if none is present."""
        return wilson(self.true_positives, self.true_positives + self.false_negatives, spec)


def quality(messages: Iterable[LabelledMessage], detector: str) -> Quality:
    """Count the results of one of :data:`DETECTORS`; leakage by labels, the others by messages."""
    right = wrong = missed = 0
    for message in messages:
        found, there = _found(message, detector), _there(message, detector)
        right += len(found & there)
        wrong += len(found - there)
        missed += len(there - found)
    return Quality(right, wrong, missed)


def _found(message: LabelledMessage, detector: str) -> set[str]:
    if detector == "semantic_leakage":
        labels = [label.private_label_of() for label in message.labels]
        return {leak.label_id for leak in leaks_in(message.text, labels, message.known)}
    return {detector} if getattr(own_slot(message.text), detector) else set()


def _there(message: LabelledMessage, detector: str) -> set[str]:
    if detector == "semantic_leakage":
        return set(message.leaks)
    return {detector} if getattr(message, detector) else set()


def sample_table(
    messages: Sequence[LabelledMessage], spec: AnalysisSpec = DEFAULT_ANALYSIS
) -> pd.DataFrame:
    """Return the quality of each detector on every part and on all, with :data:`COLUMNS`."""
    rows = []
    for part in (*PARTS, "all"):
        own = [message for message in messages if part in {message.part, "all"}]
        for detector in DETECTORS:
            found = quality(own, detector)
            counts = {"part": part, "label": detector, "messages": len(own), **asdict(found)}
            precision = _interval("precision", found.precision(spec))
            rows.append({**counts, **precision, **_interval("recall", found.recall(spec))})
    return cast(pd.DataFrame(rows), COLUMNS)


def _interval(name: str, found: Proportion | None) -> dict[str, float]:
    value, low, high = found or (np.nan, np.nan, np.nan)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def write_sample_table(
    messages: Sequence[LabelledMessage], path: Path, spec: AnalysisSpec = DEFAULT_ANALYSIS
) -> None:
    """Write ``audit_sample.csv``: every part and all, detector by detector.

    Raises:
        OutputError: the folder cannot be written.
    """
    write_atomically(path, "".join(csv_text([sample_table(messages, spec)], COLUMNS)).encode())
