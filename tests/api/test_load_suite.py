"""A suite is a name or a path, and which of them is never in doubt."""

import gzip
import re
from pathlib import Path

import pytest

from calbench.api import load_suite
from calbench.errors import ConfigError, FileError
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from tests.factories import make_scenario

BARE = make_scenario(["E..B", ".E.E"], [(0, 1)])


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with one published suite, ``small``."""
    folder = tmp_path / "suites"
    write_suite(tmp_path / "suite.jsonl", [BARE])
    folder.mkdir()
    (folder / "small.jsonl.gz").write_bytes(gzip.compress((tmp_path / "suite.jsonl").read_bytes()))
    return folder


def loaded(suite: str | Path, published: Path) -> Scenario:
    (scenario,) = load_suite(suite, published=published)
    return scenario


def test_name_and_path_give_the_same_completed_scenarios(published: Path) -> None:
    scenario = loaded("small", published)
    assert scenario.oracle is not None
    assert scenario.difficulty is not None
    for path in (published.parent / "suite.jsonl", published / "small.jsonl.gz"):
        assert loaded(path, published) == loaded(str(path), published) == scenario


def test_existing_file_goes_before_a_name_and_a_folder_does_not(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(published.parent)
    Path("small").mkdir()
    assert loaded("small", published).scenario_id == BARE.scenario_id
    Path("small").rmdir()
    write_suite("small", [BARE.updated(scenario_id="mine-000")])
    assert loaded("small", published).scenario_id == "mine-000"


@pytest.mark.parametrize(
    "path", ["none.jsonl", "none.jsonl.gz", "./small", "no/small", Path("small"), "small/"]
)
def test_what_looks_like_a_path_is_never_a_name(
    published: Path, path: str | Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(published.parent)
    with pytest.raises(FileError, match="no such file"):
        load_suite(path, published=published)


@pytest.mark.parametrize("name", ["smal", "", "SMALL", "small\n", "nothing"])
def test_unknown_name_lists_those_that_are_known(published: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"there is no suite .*published are small; ") as told:
        load_suite(name, published=published)
    assert str(told.value).isprintable()
    assert ("did you mean small?" in str(told.value)) == (name in {"smal", "small\n"})


def test_checkout_without_published_suites_says_so(tmp_path: Path) -> None:
    line = "there is no suite 'varied': none is published here; a file of your own is given as"
    with pytest.raises(ConfigError, match=re.escape(line)):
        load_suite("varied", published=tmp_path / "none")
