"""How good the detectors are: precision and recall on a sample labelled by reading (G.5).

A sample is a file of one JSON object a line: a message with its sender's labels as the audit
command takes them, and what a reader found: ``leaks`` (label ids), ``proposal``,
``availability``, ``cost_or_constraint``. It is cut in two by the hash of the text, so that
detectors can be tuned on one half and judged on the other; messages written later, at two times,
are further parts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.analysis.tables.registry import Declared
from calbench.errors import FileError
from calbench.facts.columns import Column, count, keyed, number, text
from calbench.facts.frames import cast, csv_text
from calbench.files import first_problem, printable, read_bytes, write_atomically
from calbench.metrics.speech.leakage import leaks_in
from calbench.metrics.speech.lines import LabelLine
from calbench.metrics.speech.own_slot import own_slot
from calbench.stats.proportions import Proportion, wilson
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec

Part = Literal[
    "tuning", "held-out", "later", "fresh", "fresh 2", "fresh 3", "fresh 4", "fresh 5", "last"
]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""Detectors were tuned on the first. Errors in each of the others were read, and rules changed,
only after the part had been judged by rules that were older than it."""

WRITTEN: Final[dict[str, Part]] = {
    "written later": "later",
    "written fresh": "fresh",
    "written fresh 2": "fresh 2",
    "written fresh 3": "fresh 3",
    "written fresh 4": "fresh 4",
    "written fresh 5": "fresh 5",
    "written last": "last",
}
"""Parts by the source of their messages."""

DETECTORS: Final = ("semantic_leakage", "proposal", "availability", "cost_or_constraint")
"""What is judged, in the order of the table."""

_END = "end of the Wilson 95% interval"

COLUMNS: Final[tuple[Column, ...]] = (
    text("part", "tuning or held-out (by hash), later, fresh to fresh 5, last, or all", "C"),
    text("label", "semantic_leakage (of labels), or an own-slot label", "P"),
    count("messages", "messages", "messages of the part"),
    count("true_positives", "", "found, and right by reading"),
    count("false_positives", "", "found, and wrong"),
    count("false_negatives", "", "missed"),
    number("precision", "share", "right of those found", "found", "P"),
    number("precision_low", "share", f"lower {_END}", "found", "P"),
    number("precision_high", "share", f"upper {_END}", "found", "P"),
    number("recall", "share", "found of those there", "there by reading", "P"),
    number("recall_low", "share", f"lower {_END}", "there", "P"),
    number("recall_high", "share", f"upper {_END}", "there", "P"),
)
"""Of ``audit_sample.csv``."""

SAMPLE: Final = Declared(
    "audit_sample.csv",
    keyed(COLUMNS, "part label"),
    "Precision and recall of the detectors of language on messages labelled by reading.",
    is_large=False,
)


class LabelledMessage(BaseModel):
    """One message of a sample, and what a reader found in it.

    Attributes:
        source: where it is from: written for the sample, played by whom, or a paper with its
            licence.
        text: of the message.
        labels: of its sender's items.
        known: texts of labels that everybody addressed knows.
        leaks: ids of the labels that it tells.
        proposal: whether it puts a slot forward.
        availability: whether it says if its sender could be there.
        cost_or_constraint: whether it says how hard that is, or what is in the way.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    text: str
    labels: tuple[LabelLine, ...]
    known: tuple[str, ...] = ()
    leaks: tuple[str, ...]
    proposal: Annotated[bool, Field(strict=True)]
    availability: Annotated[bool, Field(strict=True)]
    cost_or_constraint: Annotated[bool, Field(strict=True)]

    @property
    def part(self) -> Part:
        """Which part of the sample it belongs to."""
        if self.source in WRITTEN:
            return WRITTEN[self.source]
        return PARTS[sha256(self.text.encode()).digest()[3] % 2 == 0]


def read_sample(path: Path) -> list[LabelledMessage]:
    """Read a labelled sample.

    Raises:
        FileError: naming the file, the line and the field that does not fit.
    """
    messages = []
    for place, line in enumerate(read_bytes(path).splitlines(), 1):
        try:
            messages.append(LabelledMessage.model_validate_json(line))
        except ValidationError as error:
            file = printable(str(path))
            raise FileError(f"{file}, line {place}: {first_problem(error)}") from error
    return messages


@dataclass(frozen=True, slots=True)
class Quality:
    """How a detector did: labels found and right, found and wrong, missed."""

    true_positives: int
    false_positives: int
    false_negatives: int

    def precision(self, spec: AnalysisSpec = DEFAULT_ANALYSIS) -> Proportion | None:
        """Return the share right of those found; ``None`` if nothing was."""
        return wilson(self.true_positives, self.true_positives + self.false_positives, spec)

    def recall(self, spec: AnalysisSpec = DEFAULT_ANALYSIS) -> Proportion | None:
        """Return the share found of those there; ``None`` if there are none."""
        return wilson(self.true_positives, self.true_positives + self.false_negatives, spec)


def quality(messages: Iterable[LabelledMessage], detector: str) -> Quality:
    """Judge a detector of :data:`DETECTORS`; leakage by labels, the others by messages."""
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
    """Return how good each detector is on every part and on all, with :data:`COLUMNS`."""
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
