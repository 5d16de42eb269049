"""The detectors on messages labelled by reading; see the README beside the sample."""

from pathlib import Path

import numpy as np
import pytest

from calbench.analysis.audit_sample import (
    DETECTORS,
    Quality,
    quality,
    sample_table,
    write_sample_table,
)
from calbench.errors import FileError
from calbench.metrics.speech.own_slot import own_slot
from calbench.metrics.speech.sample import PARTS, read_sample
from calbench.stats.spec import AnalysisSpec

SAMPLE = Path(__file__).parents[3] / "data" / "audit_sample" / "messages.jsonl"


def test_sample_is_large_and_mixed() -> None:
    messages = read_sample(SAMPLE)
    assert len(messages) >= 200
    assert len({message.text for message in messages}) == len(messages)
    sizes = [sum(message.part == part for message in messages) for part in PARTS]
    assert min(sizes[:2]) >= 100
    assert sizes[2] >= 60
    quotes = [m for m in messages if "CC BY 4.0" in m.source]
    assert len(quotes) == 12
    assert sum(bool(message.leaks) for message in quotes) == 8


def test_leaks_are_found_and_little_else() -> None:
    found = quality(read_sample(SAMPLE), "semantic_leakage")
    precision, recall = found.precision(), found.recall()
    assert precision is not None
    assert recall is not None
    assert precision.value >= 0.95
    assert recall.value >= 0.90


@pytest.mark.parametrize("detector", ["proposal", "availability"])
def test_own_slot_labels_are_right_and_mostly_found(detector: str) -> None:
    found = quality(read_sample(SAMPLE), detector)
    precision, recall = found.precision(), found.recall()
    assert precision is not None
    assert recall is not None
    assert precision.value >= 0.95
    assert recall.value >= 0.80


def test_quality_by_hand(tmp_path: Path) -> None:
    def line(text: str, *, proposal: bool) -> str:
        flags = '"availability": false, "cost_or_constraint": false'
        return (
            f'{{"source": "written", "text": "{text}", "labels": [], "leaks": [], '
            f'"proposal": {str(proposal).lower()}, {flags}}}\n'
        )

    path = tmp_path / "sample.jsonl"
    path.write_text(
        line("How about slot 5?", proposal=True)
        + line("How about slot 6?", proposal=False)
        + line("Perhaps a word on 9 afterwards", proposal=True)
        + line("Hello", proposal=False)
    )
    found = quality(read_sample(path), "proposal")
    assert found == Quality(1, 1, 1)
    # Wilson's interval of 1 in 2: 1/2 -+ z sqrt(2 + z^2) / (2 (2 + z^2)), z = 1.95996.
    assert found.precision() == found.recall()
    assert found.precision() == pytest.approx((0.5, 0.09453, 0.90547), abs=5e-6)


def test_precision_and_recall_are_of_other_denominators() -> None:
    found = Quality(3, 1, 2)
    precision, recall = found.precision(), found.recall()
    assert precision is not None
    assert recall is not None
    assert (precision.value, recall.value) == (3 / 4, 3 / 5)
    narrow = found.precision(AnalysisSpec(confidence=0.5))
    assert narrow is not None
    assert precision.low < narrow.low < 3 / 4 < narrow.high < precision.high
    assert Quality(0, 0, 2).precision() is None
    assert Quality(0, 2, 0).recall() is None


def test_what_was_never_found_has_no_precision_in_the_table() -> None:
    (line, *_) = sample_table([]).to_dict("records")
    assert (line["messages"], line["true_positives"]) == (0, 0)
    assert all(
        np.isnan(line[f"{name}{end}"])
        for name in ("precision", "recall")
        for end in ("", "_low", "_high")
    )


def test_table_of_the_sample_has_both_halves(tmp_path: Path) -> None:
    messages = read_sample(SAMPLE)
    path = tmp_path / "audit_sample.csv"
    write_sample_table(messages, path)
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    assert [row[:2] for row in rows] == [
        [part, detector] for part in (*PARTS, "all") for detector in DETECTORS
    ]
    sizes = {row[0]: int(row[2]) for row in rows}
    assert sum(sizes[part] for part in PARTS) == sizes["all"] == len(messages)


def test_published_table_is_that_of_the_sample(tmp_path: Path) -> None:
    write_sample_table(read_sample(SAMPLE), tmp_path / "audit_sample.csv")
    published = SAMPLE.parents[1] / "release" / "tables" / "audit_sample.csv"
    assert (tmp_path / "audit_sample.csv").read_bytes() == published.read_bytes()


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("I have to clear my desk in slot 4.", False),
        ("I have slot 4 clear.", True),
        ("I could only take slot 3 by cancelling something dear to me.", False),
        ("I can only take slot 3.", True),
        ("I'm trying to find an option in 3 that is good for all of us.", False),
        ("Slot 3 is good for all of us.", True),
        ("Not possible in slot 6.", True),
        ("I have physiotherapy at slot 6, so can't do that one.", True),
        ("I'd need to call somebody before slot 5, fine for me.", False),
        ("Slot 5 is fine for me.", True),
    ],
)
def test_availability_is_a_statement_about_a_slot_as_it_stands(text: str, is_told: bool) -> None:
    assert own_slot(text).availability is is_told


def test_broken_sample_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    path.write_text("{}\n")
    with pytest.raises(FileError, match="line 1: source"):
        read_sample(path)
