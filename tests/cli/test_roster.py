"""Who played is named by what the user configured; nothing of a stranger's trace is copied."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from calbench.cli.matchmake import Roster
from calbench.config.composition import compose
from calbench.errors import ConfigError
from calbench.traces.models import PromptVariant, Seat

ANNOUNCER = "calbench.agents.example:Announcer"


def custom(player: str, agent: object, **arguments: object) -> Seat:
    settings = {"agent": agent, "arguments": arguments}
    return Seat(player=player, kind="custom", settings=settings)


def team_file(folder: Path, name: str, players: Mapping[str, Any]) -> Path:
    path = folder / "teams" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({name: {"players": dict(players), "seats": [*players]}}))
    return folder


@pytest.fixture(scope="module")
def roster(tmp_path_factory: pytest.TempPathFactory) -> Roster:
    folder = tmp_path_factory.mktemp("mine")
    return Roster(team_file(folder, "mine", {"other": {"agent": ANNOUNCER, "arguments": {}}}))


@pytest.mark.heavy
@pytest.mark.parametrize(
    "seat",
    [
        custom("mine", "subprocess:check_output", args=["touch", "stolen"]),
        custom("announcer", "os:system", command="touch stolen"),
        custom("announcer", ANNOUNCER, patience="${oc.env:HOME}"),
        custom("announcer", ["calbench.agents.example", "Announcer"]),
        custom("announcer", {"_target_": "os.system"}),
        Seat(player="candid", kind="scripted", settings={"style": "${oc.env:HOME}"}),
        Seat(player="candid", kind="scripted", settings={"style": "candid", "agent": "os:system"}),
        Seat(player="imap", kind="protocol", settings={"distribution": "os:system"}),
    ],
    ids=lambda seat: f"{seat.kind}-{seat.player}",
)
def test_player_of_a_stranger_is_named_by_nothing(seat: Seat, roster: Roster) -> None:
    with pytest.raises(ConfigError, match=f"^player {seat.player}: nothing in conf/ or .* makes"):
        roster.entry(seat)


def test_advice_says_how_to_name_code_of_ones_own(roster: Roster) -> None:
    with pytest.raises(ConfigError, match=r"DIR/teams/NAME\.yaml, and say config_dir=DIR$"):
        roster.entry(custom("mine", "mine:Mine"))


def test_agent_of_conf_is_found(roster: Roster) -> None:
    entry = roster.entry(custom("announcer", ANNOUNCER))
    assert (entry.player, entry.keys) == ("announcer", {"agent": ANNOUNCER, "arguments": {}})


@pytest.mark.heavy
def test_agent_of_the_users_folder_is_written_as_the_user_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"agent": "mine:Mine", "arguments": {"key": "${oc.env:MY_KEY}", "text": "a: b\n#"}}
    team_file(tmp_path, "mine", {"mine": keys})
    monkeypatch.setenv("MY_KEY", "secret")
    (team,) = compose(["teams=[mine]"], tmp_path).teams
    assert team.seats[0].settings["arguments"] == {"key": "secret", "text": "a: b\n#"}

    assert Roster(tmp_path).entry(team.seats[0]).keys == keys

    monkeypatch.setenv("MY_KEY", "another")
    with pytest.raises(ConfigError, match="as it played"):
        Roster(tmp_path).entry(team.seats[0])


@pytest.mark.heavy
def test_one_of_several_teams_that_call_a_player_the_same_is_the_one_that_played(
    tmp_path: Path,
) -> None:
    for number in range(3):
        keys = {"agent": "mine:Mine", "arguments": {"patience": number}}
        team_file(tmp_path, f"team-{number}", {"mine": keys})
    entry = Roster(tmp_path).entry(custom("mine", "mine:Mine", patience=1))
    assert entry.keys["arguments"] == {"patience": 1}


@pytest.mark.heavy
def test_model_of_the_users_folder_is_found(tmp_path: Path) -> None:
    path = tmp_path / "model" / "mine.yaml"
    path.parent.mkdir()
    text = "# @package model\nname: openai/mine\nplayer: mine\n"
    path.write_text(text)
    (team,) = compose(["model=mine", "teams=[my-model]"], tmp_path).teams
    assert Roster(tmp_path).entry(team.seats[0]).model == "mine"
    with pytest.raises(ConfigError, match=re.escape("conf/model/NAME.yaml")):
        Roster().entry(team.seats[0])


def test_variant_that_no_configuration_names_is_not_looked_up(
    roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(name: str, version: str) -> None:
        del version
        asked.append(name)

    monkeypatch.setattr("calbench.config.teams.load_variant", note)
    variant = PromptVariant(name="theirs", version="v1", digest="0" * 64, is_nosy=False)
    seat = Seat(player="candid", kind="scripted", settings={"style": "candid"}, variant=variant)
    with pytest.raises(ConfigError, match=r"nothing in conf/ or .* makes it"):
        roster.entry(seat)
    assert asked == []


def test_rosters_are_told_apart_by_their_folder_alone(roster: Roster) -> None:
    assert {roster: 1}[Roster(roster.config_dir)] == 1
    assert roster != Roster()
