import re
from pathlib import Path

import pytest
import yaml

from calbench.cli.main import answer
from calbench.cli.matchmake import Roster
from calbench.config.composition import compose
from calbench.config.groups import known_names
from calbench.runs.play import execute
from calbench.traces.models import Seat
from tests.cli.runs import SMALL

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mixed") / "run"
    execute(compose([*SMALL, "teams=[mixed-scripted]", f"out={out}"]))
    return out


def test_proposal_composes_and_plays(mixed: Path, tmp_path: Path) -> None:
    file = tmp_path / "teams" / "next.yaml"
    assert answer(["matchmake", str(mixed), f"out={file}", "teams=2"]) == 0
    spec = compose([*SMALL, "teams=next", f"out={tmp_path / 'run'}"], tmp_path)
    assert len(spec.teams) == 2
    for team in spec.teams:
        assert team.rotation
        assert {seat.player for seat in team.seats} == {"candid", "guarded", "oversharer"}
    execute(spec)
    assert answer(["matchmake", str(mixed), str(tmp_path / "run")]) == 0


def test_same_games_give_the_same_file(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer(["matchmake", str(mixed / "traces")])
    first = capsys.readouterr().out
    answer(["matchmake", str(mixed)])
    assert capsys.readouterr().out == first
    written = yaml.safe_load(first)
    assert written.pop("defaults") == ["_self_"]
    ((name, team),) = written.items()
    assert name.startswith("match-")
    assert set(team) == {"rotation", "players", "seats"}


def test_quiet_proposal_is_the_team_file_or_one_line(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["-q", "matchmake", str(mixed)]) == 0
    said = capsys.readouterr()
    _, team = yaml.safe_load(said.out).values()
    assert (set(team), said.err) == ({"rotation", "players", "seats"}, "")
    file = tmp_path / "teams" / "next.yaml"
    assert answer(["matchmake", "-q", str(mixed), f"out={file}"]) == 0
    said = capsys.readouterr()
    assert said == (f"1 teams proposed from 3 games: {file}\n", "")


def test_entrants_that_never_played_are_seated(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "teams" / "next.yaml"
    arguments = [str(mixed), "pool=models", f"out={file}"]
    assert answer(["matchmake", *arguments]) == 2
    assert "0 players of pool models" in capsys.readouterr().err
    assert answer(["matchmake", *arguments, "entrants=gpt-5.4-mini,gemini-3-flash"]) == 0
    (team,) = compose([*SMALL, "teams=[next]"], tmp_path).teams
    assert {seat.player for seat in team.seats} == {"gpt-5.4-mini", "gemini-3-flash"}


def test_code_is_named_by_the_users_folder_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    (mine / "teams").mkdir(parents=True)
    agent = "calbench.agents.example:Announcer"
    players = {name: {"agent": agent, "arguments": {}} for name in ("one", "two", "three")}
    team = {"own": {"players": players, "seats": list(players)}}
    (mine / "teams" / "own.yaml").write_text(yaml.safe_dump(team))
    run = tmp_path / "run"
    execute(compose([*SMALL, "suite.num_scenarios=1", "teams=[own]", f"out={run}"], mine))

    assert answer(["matchmake", str(run)]) == 2
    assert "say config_dir=DIR" in capsys.readouterr().err
    assert answer(["-q", "matchmake", str(run), f"config_dir={mine}"]) == 0
    (_, written) = yaml.safe_load(capsys.readouterr().out).values()
    assert written["players"] == players
    file = mine / "teams" / "next.yaml"
    assert answer(["-q", "matchmake", str(run), f"out={file}"]) == 0
    (again,) = compose([*SMALL, "teams=[next]"], mine).teams
    assert {seat.settings["agent"] for seat in again.seats} == {agent}

    (trace,) = (run / "traces").rglob("*.json")
    trace.write_bytes(trace.read_bytes().replace(agent.encode(), b"subprocess:check_output"))
    file.unlink()
    assert answer(["matchmake", str(run), f"out={file}"]) == 2
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert "nothing in conf/ or" in said
    assert not file.exists()


def test_the_same_game_named_twice_is_refused(
    mixed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["matchmake", str(mixed), str(mixed)]) == 2
    said = capsys.readouterr().err
    assert re.search(
        r"\.json: this game, scenario \S+ of \S+, was named before; name it once", said
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in known_names("model") if n != "local"])
def test_every_model_of_conf_is_named_as_it_played(name: str) -> None:
    spec = compose([f"model={name}", "teams=[my-model,my-model-nosy]"])
    for team, variant in zip(spec.teams, (None, {"name": "nosy", "version": "v2"}), strict=True):
        entry = Roster().entry(team.seats[0])
        assert (entry.model, entry.variant) == (name, variant)


def test_a_model_that_conf_does_not_make_is_refused() -> None:
    seat = Seat(player="mine", kind="model", settings={"model": "openai/mine"})
    with pytest.raises(Exception, match=r"player mine: nothing in conf/.*conf/model/NAME\.yaml"):
        Roster().entry(seat)
