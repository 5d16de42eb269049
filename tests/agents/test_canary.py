"""Who is told the canary, and that a recording made without it still replays."""

from dataclasses import replace
from pathlib import Path

import pytest

from calbench import play, play_game
from calbench.config.composition import compose
from calbench.domain.actions import PASS
from calbench.domain.canary import CANARY, LINE
from calbench.domain.observations import Briefing
from calbench.llm.replies.record import named
from calbench.llm.replies.shards import is_recorded_without, merge_into
from calbench.llm.replies.store import ReplyStore
from calbench.runs.verification import verify_trace
from calbench.traces.events import AgentRegistered
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from tests.api.test_play_game import driven
from tests.llm.asking import put, record, request
from tests.metrics.games import canonical_scenario

SCENARIO = canonical_scenario(0)
MODEL = ("teams=[my-model,imap,candid]", "model=gpt-5.4-mini")


def passing(_: list[dict[str, str]]) -> str:
    return '{"thinking": "", "actions": []}'


def prompts(trace: Trace) -> list[str | None]:
    return [each.system_prompt for each in trace.events if isinstance(each, AgentRegistered)]


def test_asked_agents_are_told_and_the_trace_says_so() -> None:
    trace = play_game(SCENARIO, [passing, *["imap"] * (SCENARIO.num_agents - 1)])
    assert trace.config.canary
    assert str(prompts(trace)[0]).endswith(f"\n\n{LINE}")
    assert not any(prompts(trace)[1:])
    verify_trace(trace)


@pytest.mark.parametrize("team", ["imap", "candid"])
def test_games_of_ours_say_nothing_of_it(team: str) -> None:
    assert b"canary" not in trace_bytes(play_game(SCENARIO, team))


def test_own_object_is_told_in_its_briefing() -> None:
    told: list[Briefing] = []

    class Told:
        def introduce(self, briefing: Briefing) -> None:
            told.append(briefing)

        def act(self, observation: object, prompt: str) -> str:  # noqa: ARG002 - as it is called
            return passing([])

    play_game(SCENARIO, [Told] * SCENARIO.num_agents)
    assert {each.canary for each in told} == {CANARY}


def test_who_drives_a_game_says_whether_its_players_were_told() -> None:
    for said in (False, True):
        trace = driven(play(SCENARIO, canary=said), lambda _: PASS)
        assert trace.config.canary is said


def test_new_run_with_a_model_is_told_and_no_other_team_of_it(tmp_path: Path) -> None:
    spec = compose([*MODEL, f"out={tmp_path}"])
    assert [config.canary for config in spec.game_configs] == [True, False, False]
    for told in (False, True):
        said = compose([*MODEL, f"out={tmp_path}", f"prompts.canary={told}"])
        assert [config.canary for config in said.game_configs] == [told, False, False]


@pytest.mark.parametrize("as_shards", [False, True])
@pytest.mark.parametrize("is_told", [False, True])
def test_recording_is_replayed_as_it_was_made(
    tmp_path: Path, as_shards: bool, is_told: bool
) -> None:
    path = tmp_path / "replies.sqlite"
    system = f"You are agent 0.\n\n{LINE}" if is_told else "You are agent 0."
    with ReplyStore.open(path) as store:
        asked = request("Slot 4?")
        first = asked.messages[0]._replace(content=system)
        told = named(replace(asked, messages=(first, *asked.messages[1:])))
        put(store, told, record(told))
        if as_shards:
            merge_into(tmp_path / "shards", store)
    source = tmp_path / "shards" if as_shards else path
    assert is_recorded_without(source, CANARY) is not is_told
    spec = compose([*MODEL, "replies.mode=replay", f"replies.path={source}"])
    assert spec.game_configs[0].canary is is_told
    goes_on = compose([*MODEL, f"out={tmp_path}"])  # its store is there
    assert goes_on.game_configs[0].canary is is_told


@pytest.mark.parametrize(
    "name",
    [
        "smollm2",
        "smollm2-v1",
        "smollm2-everyone",
        "delegates",
        "delegates-paper",
        "delegates-paper-seats",
        "delegates-everyone",
    ],
)
def test_recorded_experiments_say_that_they_are_without(name: str) -> None:
    spec = compose([f"+experiment={name}", "replies.path=/nowhere"])
    assert not any(config.canary for config in spec.game_configs)
