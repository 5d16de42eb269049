"""``calbench verify --partial``: the games that a run was stopped in."""

import shutil
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.engine.batch import begun_game
from calbench.errors import OutputError
from calbench.files import STORE
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.replies.ledger import BegunGame
from calbench.llm.replies.store import ReplyStore
from calbench.llm.transport import Transport
from calbench.runs.play import execute, load_suites, planned
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig
from tests.cli.recording import recording, spoken
from tests.cli.runs import SMALL, without_progress
from tests.llm.asking import put, recorded

Capture = pytest.CaptureFixture[str]

GAMES = (*SMALL, "suite.num_scenarios=2", "suite.num_candidates=2", "games_at_once=1")

REPLIES = 15


def stopping(most: int) -> Transport:
    """Return a transport that fails for good after so many replies."""
    asked = count()

    async def ask(request: Request, _endpoint: Endpoint) -> Completion:
        if next(asked) >= most:
            raise OutputError("the disk is full")
        return await spoken(request)

    return ask


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that was stopped in its second game."""
    out = tmp_path_factory.mktemp("begun") / "run"
    for most in count(REPLIES):
        with pytest.raises(OutputError):
            execute(recording(str(out), *GAMES), stopping(most))
        if (out / "traces").exists():
            return out
    raise AssertionError


def sole_game(out: Path) -> tuple[Scenario, GameConfig]:
    spec = recording(str(out), *GAMES)
    job = planned(spec, load_suites(spec.suites))[0]
    return job.scenario, job.config


def test_game_without_a_trace_is_listed(begun: Path, capsys: Capture) -> None:
    assert answer(["verify", "--partial", str(begun)]) == 0
    listed, verdict = capsys.readouterr().out.splitlines()
    assert verdict == "1 of the games begun have no trace; all hold"
    played = next((begun / "traces").glob("*/*.json"))
    assert listed == f"{played.parent.name} on taste-varied-001: begun, and has no trace"
    assert played.stem == "taste-varied-000"

    assert answer(["verify", "-q", "--partial", str(begun / STORE)]) == 0
    assert capsys.readouterr().out == "2 of the games begun have no trace; all hold\n"


@pytest.mark.parametrize("text", ["{}", "another game"])
def test_trace_of_no_game_that_was_begun_counts_as_none(
    begun: Path, tmp_path: Path, capsys: Capture, text: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(begun, run)
    played = next((run / "traces").glob("*/*.json"))
    if text == "another game":
        text = played.read_text()
    played.rename(played.with_name("taste-varied-009.json"))
    played.with_name("taste-varied-001.json").write_text(text)
    assert answer(["verify", "-q", "--partial", str(run)]) == 0
    assert capsys.readouterr().out == "2 of the games begun have no trace; all hold\n"


def note(path: Path, scenario: Scenario, config: GameConfig) -> Path:
    """Write a store that says that a game was begun."""
    with ReplyStore.open(path) as store, store.writing():
        store.begin(begun_game(scenario, config))
    return path


def seated(config: GameConfig, **seat: object) -> GameConfig:
    """Return the game with another seat beside its model."""
    team = config.team
    other = type(team.seats[0]).model_validate({"player": "other", **seat})
    return config.updated(team=team.model_copy(update={"seats": (other, *team.seats)}))


def test_nothing_is_imported_for_a_store(tmp_path: Path, capsys: Capture) -> None:
    scenario, config = sole_game(tmp_path / "run")
    strange = seated(config, kind="custom", settings={"agent": "antigravity:fly"})

    assert answer(["verify", "--partial", str(note(tmp_path / "r.sqlite", scenario, strange))]) == 0

    assert "taste-varied-000: begun, and has no trace" in capsys.readouterr().out
    assert "antigravity" not in sys.modules


def other_rules(scenario: Scenario, config: GameConfig) -> tuple[str, str, str]:
    game = begun_game(scenario, config)
    return game.id.replace(game.id[0], "0"), game.scenario, game.config


BROKEN: dict[str, Callable[[Scenario, GameConfig], tuple[str, str, str]]] = {
    "was begun under other rules": other_rules,
    "Invalid JSON": lambda scenario, config: ("1", "{", begun_game(scenario, config).config),
    "team_id: String should match": lambda scenario, config: (
        "1",
        begun_game(scenario, config).scenario,
        begun_game(scenario, config).config.replace('"team_id":"', '"team_id":"../../'),
    ),
}


@pytest.mark.heavy
@pytest.mark.parametrize("problem", BROKEN)
def test_game_that_cannot_be_read_is_one_line(
    tmp_path: Path, capsys: Capture, problem: str
) -> None:
    path = tmp_path / "r.sqlite"
    with ReplyStore.open(path) as store, store.writing():
        store.begin(BegunGame(*BROKEN[problem](*sole_game(tmp_path / "run"))))
    capsys.readouterr()

    assert answer(["verify", "--partial", str(path)]) == 1

    out, err = capsys.readouterr()
    assert out == "0 of the games begun have no trace; 1 cannot be read\n"
    (line,) = without_progress(err)
    assert line.startswith(f"error: {path}: game ")
    assert problem in line


def test_what_holds_no_store_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    text = tmp_path / "r.sqlite"
    text.write_text("no store at all, but long enough to be read as one" * 10)
    for path, problem in (
        (tmp_path, "holds no reply store; name a run that has replies.sqlite, or its file"),
        (tmp_path / "nothing", "holds no reply store; name a run"),
        (text, ""),
    ):
        assert answer(["verify", "--partial", str(path)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"error: {path}: {problem}")
        assert err.count("\n") == 1


def test_store_of_earlier_runs_says_that_it_notes_no_games(tmp_path: Path, capsys: Capture) -> None:
    with ReplyStore.open(tmp_path / STORE) as store:
        put(store, *recorded("Hi"))

    assert answer(["verify", "--partial", str(tmp_path)]) == 0

    assert "notes no games" in capsys.readouterr().err
