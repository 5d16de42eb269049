"""Seats by name, object and function, mixed as one likes."""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from calbench import score_game
from calbench.agents.example import Announcer
from calbench.api import Player, play_game
from calbench.config.groups import known_names
from calbench.domain.actions import Turn
from calbench.domain.observations import Observation
from calbench.errors import ConfigError
from calbench.protocols.imap import Imap
from calbench.runs.verification import verify_trace
from calbench.traces.models import Limits, Trace
from calbench.traces.storage import trace_bytes
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])
NO_PLAYERS = {
    "guarded-red-team",
    "mixed-erring",
    "mixed5",
    "mixed-scripted",
    "my-model",
    "my-model-among-protocols",
    "my-model-dspy",
    "my-model-nosy",
    "my-model-red-team",
    "oversharer-nosy",
    "slice-careless",
    "slice-gossip",
    "slice-wrangler",
    "smollm2",
    "trusting-nosy",
    "trusting-red-team",
    "smollm2-among-imap",
    "smollm2-among-speakers",
    "smollm2-v1",
}
"""Teams of models, or of several seats."""


class Watcher:
    """Passes, and keeps whatever it is handed."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    async def act(self, *handed: object) -> Turn:
        await asyncio.sleep(0)
        self.seen += handed
        return Turn()


def speaker(_messages: list[dict[str, str]]) -> str:
    return '{"thinking": "", "actions": []}'


def played(*players: Player, **settings: Any) -> Trace:
    trace = play_game(SCENARIO, players, **settings)
    verify_trace(trace)
    return trace


def without_team(trace: Trace) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(trace_bytes(trace))
    del data["config"]["team"], data["game_id"]
    return data


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(set(known_names("teams")) - NO_PLAYERS))
def test_one_name_for_each_agent_is_the_team_of_that_name(name: str) -> None:
    for scenario in (SCENARIO, canonical_scenario(1)):
        listed = play_game(scenario, [name] * scenario.num_agents)
        team = play_game(scenario, name)
        assert without_team(listed) == without_team(team)
        assert listed.config.team.seats == team.config.team.seats * scenario.num_agents
        verify_trace(listed)


def test_protocols_without_a_file_have_names_too() -> None:
    assert [seat.player for seat in played("dsm", "imap", "dsm").config.team.seats] == [
        "dsm",
        "imap",
        "dsm",
    ]


def test_known_player_and_an_object_that_plays_it_play_the_same_game() -> None:
    named, own = played("imap", "imap", "imap"), played("imap", Imap(), "imap")
    first, second = json.loads(trace_bytes(named)), json.loads(trace_bytes(own))
    for data in (first, second):
        for event in data["events"]:
            event.pop("player", None)
    assert first["events"] == second["events"]


def test_trace_says_what_sat_in_each_seat() -> None:
    trace = played("imap", Announcer(), speaker)
    assert [(seat.player, seat.kind) for seat in trace.config.team.seats] == [
        ("imap", "protocol"),
        ("Announcer", "protocol"),
        ("speaker", "custom"),
    ]
    assert (trace.config.prompt_version, trace.config.label_bank) == ("v1", "v1")
    assert score_game(trace).agents[2].tokens.calls > 0


def test_objects_get_observations_of_their_own_seat_and_nothing_else() -> None:
    watchers = [Watcher(), Watcher()]
    trace = played("imap", *watchers, channels=("all_agent_groupchat", "dm"))
    for agent, watcher in enumerate(watchers, start=1):
        assert {type(seen) for seen in watcher.seen} == {Observation}
        for seen in watcher.seen:
            assert isinstance(seen, Observation)
            assert (seen.agent_id, dict(seen.labels)) == (agent, {})
            assert seen.calendar == trace.scenario.shown_calendars[agent]


def test_labels_are_shown_to_objects_only_where_asked_for() -> None:
    for uses_language in (True, False):
        watcher = Watcher()
        trace = played(watcher, speaker, "imap", uses_language=uses_language)
        labelled = [bool(seen.labels) for seen in watcher.seen if isinstance(seen, Observation)]
        assert set(labelled) == {uses_language}
        kind = "custom" if uses_language else "protocol"
        assert trace.config.team.seats[0].kind == kind


def test_private_chance_stays_with_the_seat_that_asks_for_it() -> None:
    watcher = Watcher()
    trace = played("secure-sum", watcher, "secure-sum")
    assert [seat.private_chance for seat in trace.config.team.seats] == [True, False, True]
    seeds = {seen.private_seed for seen in watcher.seen if isinstance(seen, Observation)}
    assert seeds == {None}


def test_mediator_comes_with_a_player_that_needs_it() -> None:
    assert played("mediator", Announcer(), "imap").config.team.mediator
    assert not played("silent", Announcer(), "imap").config.team.mediator


def test_weights_reach_a_player_in_a_mixed_team_and_must_be_enough() -> None:
    weights = Limits(sd_model=(1.0, 2.0, 1.0))
    assert played("sd-map", Announcer(), "sd-map", limits=weights).config.limits == weights
    with pytest.raises(ConfigError, match=r"limits\.sd_model: 1 weights for 3 agents"):
        played("sd-map", Announcer(), "sd-map", limits=Limits(sd_model=(1.0,)))


def test_game_is_played_beside_a_running_loop() -> None:
    async def notebook() -> Trace:
        return played("imap", Watcher(), speaker)

    assert trace_bytes(asyncio.run(notebook())) == trace_bytes(played("imap", Watcher(), speaker))


def test_channels_may_come_in_any_order_and_one_alone_as_a_text() -> None:
    open_channels = ["all_agent_groupchat", "dm"]
    assert played(*["imap"] * 3, channels=open_channels).config.channels == (
        "dm",
        "all_agent_groupchat",
    )
    assert played(*["imap"] * 3, channels="dm").config.channels == ("dm",)
    with pytest.raises(ConfigError, match="there is no channel 'chat'"):
        play_game(SCENARIO, "imap", channels=["chat"])  # type: ignore[list-item]


class Both:
    """An agent, though it can be called."""

    def __call__(self, _messages: object) -> str:
        raise AssertionError("called as a function")

    def act(self, _observation: Observation) -> Turn:
        return Turn()


def test_what_acts_is_an_agent_even_if_it_can_be_called() -> None:
    assert played(Both(), "imap", "imap").config.team.seats[0].kind == "protocol"


@pytest.mark.parametrize(
    ("team", "said"),
    [
        (["imap"], "1 players for 3 agents: give one for each"),
        ([], "0 players for 3 agents"),
        (None, "the team is of type NoneType: give a team's id, or a list of players"),
        (Both(), "the team is of type Both: "),
        (["imap", "imapp", "imap"], "agent 1: there is no player 'imapp'; known are candid, "),
        (["imap", "\x1b", "imap"], r"agent 1: there is no player '\\x1b'; "),
        (["mixed-scripted"] * 3, "agent 0: mixed-scripted is a team of 5 seats, not one player"),
        (["imap", "imap", "smollm2"], "agent 2: smollm2 is a model, which only a run can ask"),
        (["my-model"] * 3, "agent 0: .*say which model"),
        (["imap", Both, "imap"], r"agent 1: Both is a class: give an object of it, Both\(\)"),
        (["imap", 5, "imap"], "agent 1: int is no player: give a name, an object with act"),
        (
            ["candid", "imap", "mediator"],
            "agent 2: mediator needs a mediator, and agent 0, candid, uses language",
        ),
        (["mediator", speaker, "imap"], "agent 0: mediator needs .* agent 1, speaker, uses lang"),
    ],
)
def test_team_that_does_not_fit_is_told_in_one_line(team: Sequence[Player], said: str) -> None:
    with pytest.raises(ConfigError, match=f"^{said}") as told:
        play_game(SCENARIO, team)
    assert str(told.value).isprintable()


def test_object_without_letters_in_its_name_is_still_recorded() -> None:
    odd = type("Ærlig", (Both,), {})
    nameless = type("_", (Both,), {})
    players = [seat.player for seat in played(odd(), nameless(), "imap").config.team.seats]
    assert players == ["rlig", "own", "imap"]
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", player) for player in players)
