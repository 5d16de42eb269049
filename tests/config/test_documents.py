"""YAML files: what is short and means something huge is refused, in one line."""

from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.documents import read_yaml, refuse_huge
from calbench.errors import CalbenchError, ConfigError

LAUGHS = "\n".join(
    ["a0: &a0 [lol]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
)
"""A few lines that are a billion values."""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LAUGHS, ": not YAML: more than 100000 values, references written out"),
        ("a: &a [*a]", ": not YAML: a value holds itself"),
        ("[" * 100_000, ": nested too deeply"),
        ("a: !!python/object/apply:os.system [x]", ", line 1: not YAML: could not determine"),
        ("a: 1\n\tb: 2", ", line 2: not YAML: found character"),
        ("a: \x00", ": not YAML: unacceptable character"),
        ("9" * 5000, ": not YAML: "),
        ("a: {b: 1,\n  b: 2}", ", line 2: not YAML: key b is given twice"),
    ],
)
def test_document_that_does_not_fit_is_named_in_one_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_yaml(path)
    assert str(refused.value).startswith(f"{path}{problem}")
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500


def test_references_are_read(tmp_path: Path) -> None:
    path = tmp_path / "shared.yaml"
    path.write_text("a: &a [1, 2]\nb: *a\n")
    assert read_yaml(path) == {"a": [1, 2], "b": [1, 2]}
    refuse_huge(path)


def test_only_huge_documents_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "draft.yaml"
    path.write_text("a: [*b\n")
    refuse_huge(path)
    with pytest.raises(ConfigError, match="not YAML"):
        read_yaml(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LAUGHS, "mine.yaml: more than 100000 values"),
        ("imap:\n\tseats: [imap]", "mine.yaml, line 2: not YAML: found character"),
        (
            "imap: {seats: [imap]}\nimap: {seats: [imap]}",
            "mine.yaml, line 2: not YAML: key imap is given twice",
        ),
    ],
)
def test_broken_file_of_a_configuration_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "mine.yaml").write_text(text)
    with pytest.raises(CalbenchError) as refused:
        compose(["teams=[mine]"], tmp_path)
    assert problem in str(refused.value)
    assert str(refused.value).isprintable()


def test_draft_beside_what_is_chosen_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "draft.yaml").write_text("a: [")
    assert compose(["teams=[imap]"], tmp_path).teams[0].team_id == "imap"
