"""The small Python interface of the README: suites by name or path, games as a run makes them."""

import gzip
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from calbench import load_suite, play_game, score_game
from calbench.agents.example import Announcer
from calbench.errors import ConfigError, FileError
from calbench.metrics.game import GameScore
from calbench.runs.verification import verify_trace
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from calbench.traces.storage import read_trace
from tests.cli.runs import REPO, python, rows
from tests.factories import make_scenario


def test_readme_shows_python_that_runs(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (REPO / "README.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert 'load_suite("varied")' in block
    exec(block.replace('"varied"', repr(str(suite))), {})  # noqa: S102 - our own README
    assert re.fullmatch(r"\[-?\d+(, -?\d+){2}\]\n", capsys.readouterr().out)


def code_on_page(page: str, anchor: str, suite: Path) -> list[str]:
    """Return the Python in one section of a page, with a suite that is there."""
    section = (REPO / "site" / "docs" / page).read_text().split(f"{{#{anchor}}}\n", 1)[1]
    text = section.split("\n## ", 1)[0]
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)
    sources = [re.sub("^ {4}", "", block, flags=re.MULTILINE) for block in blocks]
    return [each.replace('"varied"', repr(str(suite))) for each in sources if "import" in each]


def test_page_shows_an_agent_that_plays(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = code_on_page("extend.md", "try", suite)
    exec(source, {})  # noqa: S102 - our own page
    assert re.fullmatch(r"\d \[-?\d+(, -?\d+){2}\]\n", capsys.readouterr().out)


def test_page_shows_a_mixed_team_and_a_loop_that_play(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite.jsonl"
    write_suite(suite, [make_scenario(["....", "E...", ".E..", "..E.", "...E"], [(0, 1), (2, 3)])])
    team, loop = code_on_page("evaluate.md", "python", suite)
    exec(team, {"my_client": SimpleNamespace(chat=str)})  # noqa: S102 - our own page
    assert re.fullmatch(r"\[-?\d+(, -?\d+){4}\]\n", capsys.readouterr().out)
    after: dict[str, Any] = {"my_turn": Announcer().act}
    exec(loop, after)  # noqa: S102
    verify_trace(after["trace"])
    assert {seat.player for seat in after["trace"].config.team.seats} == {"my-framework"}


@pytest.mark.heavy
def test_public_functions_measure_a_game_as_the_run_does(suite: Path, finished: Path) -> None:
    scenario = load_suite(suite)[1]
    trace = play_game(scenario, "imap")
    assert trace == read_trace(finished / f"traces/imap/{scenario.scenario_id}.json")
    score = score_game(trace)
    assert isinstance(score, GameScore)
    table = [
        row
        for row in rows(finished / "tables/agent_games.csv")
        if (row["team"], row["scenario_id"]) == ("imap", scenario.scenario_id)
    ]
    assert [int(row["excess_cost"]) for row in table] == [a.excess_cost for a in score.agents]
    assert [int(row["messages_sent"]) for row in table] == [a.messages_sent for a in score.agents]


def test_public_names_are_those_of_the_package() -> None:
    package = sys.modules["calbench"]
    assert set(package.__all__) | {"errors", "types"} == set(dir(package))
    assert all(getattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


HEAVY = """
import sys

def heavy():
    return sorted({"litellm", "pandas", "pyarrow"} & set(sys.modules))
"""

PLAYING = f"""{HEAVY}
import calbench.runs.results
from calbench import load_suite, play, play_game, read_results, read_run, score_game
from calbench.agents.example import Announcer
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.scenarios.suites import build_suite

shape = dict(num_agents=3, num_slots=6, num_meetings=2, participants_per_meeting=2)
parameters = ScenarioParameters(density=0.5, blocked=0, **shape)
drawn = sample_scenario(parameters, seed=1, scenario_id="drawn-000", setting="drawn")
(scenario, *_) = load_suite(sys.argv[1])
for each in (drawn, scenario):
    for team in ("imap", "candid", ["imap", Announcer(), lambda messages: "no"]):
        play_game(each, team, reflection=True)
    next(play(each))
print(heavy())
"""

SOLVING = f"""{HEAVY}
import ortools.sat.python.cp_model

before = heavy()
from calbench import load_suite, play_game, score_game

(scenario, *_) = load_suite(sys.argv[1])
score_game(play_game(scenario.updated(oracle=None), "imap"))
print(before == heavy())
"""


@pytest.mark.heavy
def test_drawing_and_playing_load_neither_frames_nor_model_clients(suite: Path) -> None:
    ended = python("-c", PLAYING, suite)
    assert (ended.err, ended.out) == ("", "[]\n")


@pytest.mark.heavy
def test_solving_and_scoring_load_no_more_than_the_solver_does(suite: Path) -> None:
    ended = python("-c", SOLVING, suite)
    assert (ended.err, ended.out) == ("", "True\n")


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
