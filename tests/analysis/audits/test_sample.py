"""The detectors on messages labelled by reading; see the README beside the sample."""

from pathlib import Path

import pytest

from calbench.analysis.audits.sample import (
    DETECTORS,
    HALVES,
    Quality,
    quality,
    read_sample,
    write_sample_table,
)
from calbench.errors import FileError

SAMPLE = Path(__file__).parent / "sample.jsonl"


def test_sample_is_large_and_mixed() -> None:
    messages = read_sample(SAMPLE)
    assert len(messages) >= 200
    assert len({message.text for message in messages}) == len(messages)
    for half in HALVES:
        assert sum(message.half == half for message in messages) >= 100
    quotes = [m for m in messages if "CC BY 4.0" in m.source]
    assert len(quotes) == 12
    assert sum(bool(message.leaks) for message in quotes) == 8


def test_leaks_are_found_and_little_else() -> None:
    found = quality(read_sample(SAMPLE), "semantic_leakage")
    assert found.precision.rate is not None
    assert found.recall.rate is not None
    assert found.precision.rate >= 0.95
    assert found.recall.rate >= 0.90


@pytest.mark.parametrize("detector", ["proposal", "availability"])
def test_own_slot_labels_are_right_and_mostly_found(detector: str) -> None:
    found = quality(read_sample(SAMPLE), detector)
    assert found.precision.rate is not None
    assert found.recall.rate is not None
    assert found.precision.rate >= 0.95
    assert found.recall.rate >= 0.80


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
    assert found.precision.rate == found.recall.rate == 0.5


def test_table_of_the_sample_has_both_halves(tmp_path: Path) -> None:
    messages = read_sample(SAMPLE)
    path = tmp_path / "audit_sample.csv"
    write_sample_table(messages, path)
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    assert [row[:2] for row in rows] == [
        [half, detector] for half in (*HALVES, "all") for detector in DETECTORS
    ]
    sizes = {row[0]: int(row[2]) for row in rows}
    assert sizes["tuning"] + sizes["held-out"] == sizes["all"] == len(messages)


def test_broken_sample_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    path.write_text("{}\n")
    with pytest.raises(FileError, match="line 1: source"):
        read_sample(path)
