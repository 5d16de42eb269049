"""Presets of protocols: data that a seat names, and that a team may vary."""

from typing import Any

import pytest

from calbench.config.composition import compose, compose_team
from calbench.config.groups import known_names
from calbench.engine.seating import seat_policies, team_of
from calbench.errors import ConfigError
from calbench.protocols.dsm.settings import DsmSettings
from calbench.protocols.registry import POLICIES
from calbench.traces.models import Seat, Team

# Table 9 of the paper; "exhaustive search: no" is a single batch.
TABLE_9: dict[str, dict[str, Any]] = {
    "dsm-welfare": {
        "lmin": 1,
        "lmax": 12,
        "beta": 1.0,
        "theta": 0.0,
        "w": 1.0,
        "depth": 2,
        "targets": 4,
        "batches": "exhaustive",
    },
    "dsm-private": {
        "lmin": 1,
        "lmax": 2,
        "beta": 0.25,
        "theta": 10.0,
        "w": 0.25,
        "depth": 1,
        "targets": 2,
        "batches": "single",
    },
}


def teams(*overrides: str) -> tuple[Team, ...]:
    return compose(overrides).teams


@pytest.mark.parametrize("name", known_names("protocol"))
def test_every_preset_can_be_seated(name: str) -> None:
    seat = compose_team(name).seats[0]
    assert seat.player in POLICIES
    assert len(seat_policies(Team(team_id=name, seats=(seat,)), 5)) == 5


@pytest.mark.parametrize("name", TABLE_9)
def test_preset_is_table_9(name: str) -> None:
    (team,) = teams(f"teams={name}")
    assert team == Team(
        team_id=name, seats=(Seat(player="dsm", kind="protocol", settings=TABLE_9[name]),)
    )


def test_defaults_of_the_policy_are_those_of_welfare() -> None:
    assert DsmSettings().model_dump() == TABLE_9["dsm-welfare"]


def test_player_of_a_team_is_overridden_by_its_place() -> None:
    key = "teams.dsm-welfare.players.dsm"
    imap, varied = teams("teams=[imap,dsm-welfare]", f"{key}.theta=0.1", f"{key}.lmax=3")
    assert imap.team_id == "imap"
    assert varied.team_id == "dsm-welfare"
    assert varied.seats[0].settings == TABLE_9["dsm-welfare"] | {"theta": 0.1, "lmax": 3}


def test_team_written_in_place_plays_beside_the_chosen_ones() -> None:
    mine = "{players: {a: {protocol: imap}, b: {scripted: candid}}, seats: [a, b], rotation: true}"
    imap, own = teams("teams=[imap]", f"+teams.mine={mine}")
    assert imap.team_id == "imap"
    assert own == Team(
        team_id="mine",
        seats=(
            Seat(player="imap", kind="protocol"),
            Seat(player="candid", kind="scripted", settings={"style": "candid"}),
        ),
        rotation=True,
    )
    assert teams("teams=[]", f"+teams.mine={mine}") == (own,)


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_team_in_place_has_what_its_protocol_needs(name: str) -> None:
    (team,) = teams("teams=[]", f"+teams.mine={{players: {{p: {{protocol: {name}}}}}, seats: [p]}}")
    assert team == team_of(name).model_copy(update={"team_id": "mine"})


@pytest.mark.parametrize(
    ("team", "problem"),
    [
        ("{}", r"teams\.x: seats: Field required"),
        ("{seats: []}", r"teams\.x: seats: Tuple should have at least 1 item.*"),
        ("{seats: [a]}", r"teams\.x\.seats: a is not one of the players; there are none"),
        (
            "{players: {dsm: {protocol: dsm}}, seats: [dms]}",
            r"teams\.x\.seats: dms is not one of the players; did you mean dsm\?",
        ),
        (
            "{players: {a: {protocol: dmap}}, seats: [a]}",
            r"teams\.x\.players\.a: there is no protocol 'dmap'; did you mean sd-map or imap\?",
        ),
        (
            "{players: {a: {protocol: dsm, scripted: candid}}, seats: [a]}",
            r"teams\.x\.players\.a: a player names one of protocol, scripted, agent, name",
        ),
        (
            "{players: {a: {}}, seats: [a]}",
            r"teams\.x\.players\.a: a player names one of protocol, scripted, agent, name",
        ),
        (
            "{players: {a: {scripted: candid, colour: 1}}, seats: [a]}",
            r"teams\.x\.players\.a: colour: is not a known key; known are scripted",
        ),
        (
            "{players: {a: {name: m, colour: 1}}, seats: [a]}",
            r"teams\.x\.players\.a: colour: is not a known key; known are .*",
        ),
        (
            "{players: {a: {protocol: imap}}, seats: [a], colour: 1}",
            r"teams\.x: colour: is not a known key; known are .*players, seats.*",
        ),
        (
            "{team_id: imap, players: {a: {protocol: dsm}}, seats: [a]}",
            r"teams: imap is named twice",
        ),
        (
            "{players: {a: {protocol: mediator}, b: {scripted: candid}}, seats: [a, b]}",
            r"configuration: teams\.1: .*mediator seats protocols and baselines only",
        ),
    ],
)
def test_team_that_does_not_fit_is_refused_in_one_line(team: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{problem}$"):
        teams("teams=[imap]", f"+teams.x={team}")


def test_setting_that_does_not_fit_is_refused_when_the_team_is_seated() -> None:
    (team,) = teams("teams=dsm-private", "teams.dsm-private.players.dsm.lmax=0")
    with pytest.raises(
        ConfigError, match=r"^team dsm-private: settings of player dsm do not fit: lmax: .*0$"
    ):
        seat_policies(team, 5)
