"""Label banks are read, or refused with file, line and field."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from calbench.errors import ConfigError, FileError
from calbench.scenarios.labels import known_label_banks, read_label_bank
from tests.scenarios.label_banks import BANK, small_bank, written


def test_small_bank_can_be_read(tmp_path: Path) -> None:
    written(tmp_path, small_bank())
    assert len(read_label_bank("v9", tmp_path).labels) == 6


def test_bank_is_what_its_file_says_now(tmp_path: Path) -> None:
    lines = small_bank()
    for text in ("A fair", "A walk"):  # as many bytes
        lines[1]["text"] = text
        written(tmp_path, lines)
        bank = read_label_bank("v9", tmp_path)
        assert bank.labels[0].text == text
        assert read_label_bank("v9", tmp_path) is bank


def refusal(folder: Path) -> str:
    """Return the one line with which the bank of a folder is refused."""
    with pytest.raises(FileError) as caught:
        read_label_bank("v9", folder)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    return message


Change = Callable[[list[dict[str, Any]]], Any]


@pytest.mark.parametrize(
    ("change", "place", "problem"),
    [
        (lambda b: b[0].update(schema_version=2, odd=1), "line 1, field schema_version", "reads v"),
        (lambda b: b[0].update(schema_version=True), "line 1, field schema_version", "integer"),
        (lambda b: b[0].pop("schema_version"), "line 1, field schema_version", "required"),
        (lambda b: b[0].update(version="v1"), "line 1, field version", "is 'v1', but the file"),
        (lambda b: b[0].update(note=""), "line 1, field note", "not a known key"),
        (lambda b: b.pop(0), "line 1, field schema_version", "required"),
        (lambda b: b[1].update(colour="red"), "line 2, field colour", "not a known key"),
        (lambda b: b[2].pop("terms"), "line 3, field terms", "required"),
        (lambda b: b[2].update(terms=["meadow"]), "line 3, field terms", "at least 2"),
        (lambda b: b[2].update(terms=["Meadow", "hay"]), "line 3, field terms.0", "'Meadow'"),
        (lambda b: b[2].update(terms=["hay", "ox*"]), "line 3, field terms.1", "'ox*'"),
        (lambda b: b[2].update(terms=["hay", "slot 3"]), "line 3, field terms.1", "'slot 3'"),
        (lambda b: b[2].update(terms="hay"), "line 3, field terms", "valid array"),
        (lambda b: b[2].update(id="errand-1"), "line 3, field id", "should match"),
        (lambda b: b[2].update(id="errand-000"), "line 3, field id", "also of errand-000"),
        (lambda b: b[2].update(id="meeting-009"), "line 3, field kind", "that the id names"),
        (lambda b: b[2].update(tier="secret"), "line 3, field tier", "'public', 'neutral'"),
        (lambda b: b[2].update(category="legal"), "line 3, field category", "no others"),
        (lambda b: b[3].pop("category"), "line 4, field category", "must be given"),
        (lambda b: b[3].update(category="odd"), "line 4, field category", "'medical'"),
        (lambda b: b[2].update(text="a 'quote'"), "line 3, field text", "without quotes"),
        (lambda b: b[2].update(text="two\nlines"), "line 3, field text", "one line"),
        (lambda b: b[2].update(text="right \u202eleft"), "line 3, field text", "control"),
        (lambda b: b[2].update(text=" spare  space"), "line 3, field text", "extra spaces"),
        (lambda b: b[2].update(text="cafe\u0301"), "line 3, field text", "NFC"),
        (lambda b: b[2].update(text="long " * 20), "line 3, field text", "at most 80"),
        (lambda b: b[2].update(text="about ERRANDPUBLICA"), "line 3, field text", "also of"),
        (lambda b: b[5].update(terms=b[1]["terms"]), "line 6, field terms", "also of errand-000"),
        (lambda b: b[5].update(terms=["hay", "hay"]), "line 6, field terms", "'hay' is also of"),
    ],
)
def test_broken_bank_is_refused_with_file_line_and_field(
    tmp_path: Path, change: Change, place: str, problem: str
) -> None:
    lines = small_bank()
    change(lines)
    path = written(tmp_path, lines)
    message = refusal(tmp_path)
    assert message.startswith(f"{path}, {place}: ")
    assert problem in message


@pytest.mark.parametrize("drop", range(1, 7))
def test_bank_with_uneven_tiers_is_refused(tmp_path: Path, drop: int) -> None:
    lines = small_bank()
    del lines[drop]
    path = written(tmp_path, lines)
    message = refusal(tmp_path)
    assert message.startswith(f"{path}, field tier: ")
    assert "equally many of each tier, got" in message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"id": "\xff"}', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"id": "errand-009", "id": "errand-008"}', "field id: is given twice"),
        (b'{"id": "\\ud800"}', "JSON"),
    ],
)
def test_line_that_is_no_object_is_refused(tmp_path: Path, line: bytes, problem: str) -> None:
    path = written(tmp_path, small_bank())
    path.write_bytes(path.read_bytes() + line + b"\n")
    message = refusal(tmp_path)
    assert message.startswith(f"{path}, line 8")
    assert problem in message


@pytest.mark.parametrize("version", ["v2", "", "../label_banks/v1", "v1.jsonl", "v\n1"])
def test_unknown_version_lists_the_known_ones(version: str) -> None:
    with pytest.raises(ConfigError, match=r"known are v1\b") as caught:
        read_label_bank(version)
    assert str(caught.value).isprintable()


def test_versions_are_known_in_their_order(tmp_path: Path) -> None:
    for name in ("v10", "v2", "v1"):
        (tmp_path / f"{name}.jsonl").touch()
    (tmp_path / "README.md").touch()
    assert known_label_banks(tmp_path) == ["v1", "v2", "v10"]
    assert known_label_banks(tmp_path / "nowhere") == []


def test_labels_and_banks_are_immutable() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        BANK.labels[0].text = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        BANK.version = "v2"  # type: ignore[misc]
