"""Presets of protocols: data that a seat names, and that a team may vary."""

from typing import Any

import pytest

from calbench.config.composition import compose, compose_team
from calbench.config.groups import known_names
from calbench.engine.seating import seat_policies
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


def test_team_written_in_place_varies_a_preset() -> None:
    swept = "{team_id: dsm-%s, seats: [{protocol: dsm-welfare, settings: {theta: %s, lmax: 3}}]}"
    points = ",".join(swept % (name, theta) for name, theta in (("a", 0.1), ("b", 0.5)))
    imap, first, second = teams(f"teams=[imap,{points}]")
    assert imap.team_id == "imap"
    assert first.seats[0].settings == TABLE_9["dsm-welfare"] | {"theta": 0.1, "lmax": 3}
    assert (second.team_id, second.seats[0].settings["theta"]) == ("dsm-b", 0.5)


@pytest.mark.parametrize(
    ("team", "problem"),
    [
        ("nobody", r"teams: there is no team 'nobody'; known are .*dsm-private.*"),
        ("7", r"teams: there is no team '7'; known are .*"),
        ("dsm-private,dsm-private", r"teams: dsm-private is named twice"),
        ("{team_id: imap, seats: [{protocol: dsm-private}]},imap", r"teams: imap is named twice"),
        (
            "{team_id: x, seats: [{protocol: dsm}]}",
            r"team x: there is no protocol 'dsm'; known are dsm-private, dsm-welfare.*",
        ),
        (
            "{team_id: x, seats: [{protocol: dsm-private, player: imap}]}",
            r"team x: a seat names one of player, protocol, model, scripted, agent",
        ),
        (
            "{team_id: x, seats: [{protocol: dsm-private, settings: [1]}]}",
            r"team x: the settings of a seat are keys and values",
        ),
        (
            "{team_id: x, seats: [{protocol: dsm-private, colour: 1}]}",
            r"configuration: teams\.0\.seats\.0\.colour: is not a known key",
        ),
        ("{team_id: x}", r"configuration: teams\.0\.seats: Field required"),
        ("{seats: [{protocol: dsm-private}]}", r"configuration: teams\.0\.team_id: Field required"),
    ],
)
def test_team_that_does_not_fit_is_refused_in_one_line(team: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{problem}$"):
        teams(f"teams=[{team}]")


def test_setting_that_does_not_fit_is_refused_when_the_team_is_seated() -> None:
    wrong = "{team_id: x, seats: [{protocol: dsm-private, settings: {lmax: 0}}]}"
    (team,) = teams(f"teams=[{wrong}]")
    with pytest.raises(
        ConfigError, match=r"^team x: settings of player dsm do not fit: lmax: .*0$"
    ):
        seat_policies(team, 5)
