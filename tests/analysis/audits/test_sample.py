"""The detectors on messages labelled by reading; see the README beside the sample."""

import csv
import shutil
from dataclasses import astuple
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from calbench.analysis.audit_sample import (
    CROSSED,
    DETECTORS,
    FIRST,
    KEPT,
    OTHERS,
    OURS,
    UNSEEN,
    Quality,
    Samples,
    kappa,
    quality,
    read_samples,
    read_unseen,
    sample_table,
    write_sample_table,
)
from calbench.errors import FileError
from calbench.metrics.speech.leakage import leaks_in
from calbench.metrics.speech.rules import ruled_slot
from calbench.metrics.speech.sample import PARTS, read_others, read_sample
from tests.studies.detectors import unseen_text

FOLDER = Path(__file__).parents[3] / "data" / "audit_sample"
SAMPLE = FOLDER / "messages.jsonl"
OTHER = FOLDER / "others.jsonl"


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


@pytest.mark.parametrize(
    ("detector", "part", "least"),
    [
        *(("semantic_leakage", part, 0.8) for part in OTHERS),
        *(("cost_or_constraint", part, 0.75) for part in OTHERS),
        *(("proposal", part, 0.75) for part in OTHERS),
        *(("availability", part, 0.75) for part in OTHERS),
        ("semantic_leakage", "ours", 0.95),
        *((name, "ours", 0.9) for name in ("proposal", "availability", "cost_or_constraint")),
    ],
)
def test_unseen_labels_are_mostly_found_and_right(detector: str, part: str, least: float) -> None:
    samples = read_samples(FOLDER)
    assert quality(samples.of(part), detector, samples.found(part)).f1 >= least


def test_every_detector_finds_more_than_the_first_rules_did() -> None:
    samples = read_samples(FOLDER)
    for (part, detector), first in samples.first.items():
        if part in OTHERS:
            now = quality(samples.of(part), detector, samples.found(part))
            assert now.f1 >= first.f1, (part, detector)


def test_quoted_messages_of_models_are_judged_as_published() -> None:
    """Messages of the paper's first version: the terms that its audit marked, and no others."""
    quotes = [each for each in read_sample(SAMPLE) if "CC BY 4.0" in each.source]
    for each in quotes:
        labels = [label.private_label_of() for label in each.labels]
        told = {leak.label_id for leak in leaks_in(each.text, labels, each.known)}
        assert told == set(each.leaks), each.text


def test_quality_by_hand() -> None:
    first, *_ = read_sample(SAMPLE)
    there = [True, False, True, False]
    messages = [
        first.model_copy(update={"text": f"{place}", "proposal": proposal})
        for place, proposal in enumerate(there)
    ]
    said = [{"proposal"}, {"proposal", "availability"}, {"errand-001"}, set[str]()]
    keys = [message.key for message in messages]
    found = dict(zip(keys, map(frozenset, said), strict=True))
    assert quality(messages, "proposal", found) == Quality(1, 1, 1)
    # Wilson's interval of 1 in 2: 1/2 -+ z sqrt(2 + z^2) / (2 (2 + z^2)), z = 1.95996.
    half = quality(messages, "proposal", found)
    assert half.precision == half.recall == pytest.approx((0.5, 0.09453, 0.90547), abs=5e-6)
    assert half.f1 == 0.5


def test_precision_and_recall_are_of_other_denominators() -> None:
    found = Quality(3, 1, 2)
    assert (found.precision.value, found.recall.value) == (3 / 4, 3 / 5)
    assert np.isnan([*Quality(0, 0, 2).precision, *Quality(0, 2, 0).recall]).all()


def test_what_was_never_found_has_no_precision_in_the_table() -> None:
    (line, *_) = sample_table(Samples([], [], {}, {CROSSED: {}, KEPT: {}})).to_dict("records")
    assert (line["messages"], line["true_positives"]) == (0, 0)
    assert all(
        np.isnan(line[f"{name}{end}"])
        for name in ("precision", "recall")
        for end in ("", "_low", "_high")
    )
    assert all(np.isnan(line[name]) for name in ("f1", "kappa", "first_precision", "first_f1"))


def test_table_has_the_messages_of_others_first_then_every_part_of_ours(tmp_path: Path) -> None:
    samples = read_samples(FOLDER)
    path = tmp_path / "audit_sample.csv"
    write_sample_table(samples, path)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["part"], row["label"]) for row in rows] == [
        *((part, detector) for part in OTHERS for detector in DETECTORS),
        *((part, detector) for part in OURS for detector in DETECTORS if detector != "exact_cost"),
    ]
    sizes = {row["part"]: int(row["messages"]) for row in rows}
    assert sizes["others"] == sum(sizes[part] for part in OTHERS[1:]) == len(samples.others) == 200
    assert sizes["ours"] == sum(sizes[part] for part in PARTS) == len(samples.ours)


def test_first_judgement_stays_as_it_was_made() -> None:
    """The rules of that time are gone, so nobody can make these numbers again."""
    first = (FOLDER / FIRST).read_bytes()
    assert sha256(first).hexdigest()[:16] == "3ef46b28c1b3a4cf"
    made = read_samples(FOLDER).first
    assert made["others", "proposal"] == Quality(39, 2, 28)
    assert made["others", "availability"] == Quality(26, 3, 55)
    for detector in DETECTORS:
        halves = [made[part, detector] for part in OTHERS[1:]]
        assert made["others", detector] == Quality(
            *map(sum, zip(*map(astuple, halves), strict=True))
        )


def test_two_readers_of_the_messages_of_others_agree() -> None:
    messages = read_others(OTHER)
    assert all(0.9 <= kappa(messages, detector) <= 1 for detector in DETECTORS)
    assert len({message.text for message in messages}) >= 195
    assert np.isnan(kappa(read_sample(SAMPLE), "proposal"))


def test_kappa_by_hand() -> None:
    """Both yes 4, both no 3, one yes 1, other yes 2: p = .7, e = .5 * .6 + .5 * .4."""
    (message, *_) = read_others(OTHER)
    assert message.second is not None
    pairs = [(True, True)] * 4 + [(False, False)] * 3 + [(True, False)] + [(False, True)] * 2
    messages = [
        message.model_copy(
            update={"proposal": one, "second": message.second.model_copy(update={"proposal": two})}
        )
        for one, two in pairs
    ]
    assert kappa(messages, "proposal") == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert np.isnan(kappa(messages[:4], "proposal"))


def test_label_that_the_bank_has_not_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "others.jsonl"
    (line, *_) = OTHER.read_text().splitlines()
    path.write_text(f"{line}\n{line.replace('errand-077', 'errand-777')}\n")
    with pytest.raises(FileError, match=r"line 2, field label_ids: .*'errand-777'"):
        read_others(path)


def test_what_is_found_in_unseen_messages_is_read_as_written(tmp_path: Path) -> None:
    found = read_unseen(FOLDER / UNSEEN)
    assert unseen_text(found) == (FOLDER / UNSEEN).read_text()
    assert set(found[KEPT]) == {each.key for each in read_others(OTHER) if each.is_kept}
    shutil.copytree(FOLDER, tmp_path / "sample")
    lines = (FOLDER / UNSEEN).read_text().splitlines()
    (tmp_path / "sample" / UNSEEN).write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(FileError, match=r"unseen.csv: lacks m-\d+; run `make detectors`"):
        read_samples(tmp_path / "sample")


def test_published_table_is_that_of_the_samples(tmp_path: Path) -> None:
    write_sample_table(read_samples(FOLDER), tmp_path / "audit_sample.csv")
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
    assert ruled_slot(text).availability is is_told


def test_broken_sample_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    path.write_text("{}\n")
    with pytest.raises(FileError, match="line 1: source"):
        read_sample(path)
