"""A game driven by hand: the same game, and wrong answers told in one line."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from calbench import play
from calbench.agents.example import Announcer
from calbench.api import play_game
from calbench.domain.actions import DirectMessage, Turn
from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.domain.observations import Observation, Phase
from calbench.domain.replies import Beliefs, Reply
from calbench.domain.usage import Usage
from calbench.engine.drivers import OutsideGame
from calbench.errors import AgentError, ConfigError, UnavailableError
from calbench.protocols.imap import Imap
from calbench.runs.verification import verify_trace
from calbench.traces.events import AgentRegistered, GameHalted, Reflection, TurnEnd
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])
Answer = Callable[[Observation], Turn | Reply]


def driven(game: OutsideGame, answer: Answer) -> Trace:
    try:
        asked = next(game)
        while True:
            asked = game.send({agent: answer(seen) for agent, seen in asked.items()})
    except StopIteration as end:
        trace: Trace = end.value
        return trace


@pytest.mark.parametrize("uses_language", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_game_driven_by_hand_is_the_game_of_the_same_objects(
    seed: int, uses_language: bool
) -> None:
    scenario = canonical_scenario(seed)
    agent = Announcer()
    count = scenario.num_agents
    game = play(scenario, players=["Announcer"] * count, uses_language=uses_language)
    whole = play_game(scenario, [agent] * count, uses_language=uses_language)
    assert trace_bytes(driven(game, agent.act)) == trace_bytes(whole)


def test_record_names_team_and_players_and_verifies() -> None:
    names = ["one", "two", "three"]
    prompts = ["You are one.", None, None]
    game = play(
        SCENARIO,
        team="mine",
        players=names,
        channels=("all_agent_groupchat", "dm"),
        limits={"max_turns_per_round": 2},
        system_prompts=prompts,
    )
    trace = driven(game, Imap().act)
    assert trace.config.team.team_id == "mine"
    assert trace.config.channels == ("dm", "all_agent_groupchat")
    assert trace.config.limits.max_turns_per_round == 2
    registered = [event for event in trace.events if isinstance(event, AgentRegistered)]
    assert [event.player for event in registered] == names
    assert [event.system_prompt for event in registered] == prompts
    verify_trace(trace)


def test_reply_is_recorded_with_how_it_came_about() -> None:
    usage = Usage(input_tokens=7, cached_tokens=0, output_tokens=2)

    def answer(seen: Observation) -> Reply:
        if seen.phase is not Phase.REFLECTION:
            return Reply(Turn(), prompt="What now?", usage=usage)
        others = [str(agent) for agent in seen.agent_ids if agent != seen.agent_id]
        return Reply(Turn(), beliefs=Beliefs(dict.fromkeys(others, (0,) * 4)))

    trace = driven(play(SCENARIO, uses_language=True, reflection=True), answer)
    assert {event.usage for event in trace.events if isinstance(event, TurnEnd)} == {usage}
    assert sum(isinstance(event, Reflection) for event in trace.events) == 6
    verify_trace(trace)


def test_nobody_is_handed_more_than_an_observation_and_asked_for_it_alone() -> None:
    game = play(SCENARIO)
    asked = next(game)
    assert asked == {0: asked[AgentId(0)]}
    assert type(asked[AgentId(0)]) is Observation
    assert asked[AgentId(0)].labels == {}
    asked.clear()  # what the caller does to what it was handed changes no game
    assert list(game.send({AgentId(0): Turn()})) == [1]


def test_game_that_cannot_go_on_is_recorded_where_it_stands() -> None:
    game = play(SCENARIO)
    next(game)
    with pytest.raises(StopIteration) as end:
        game.throw(UnavailableError("provider_fault", "my server is down"))
    trace = end.value.value
    (halted,) = (event for event in trace.events if isinstance(event, GameHalted))
    assert (halted.agent_id, halted.detail) == (0, "my server is down")
    verify_trace(trace)


HERE = "team own, scenario test-000, agent 0, round 0, CHEAP_TALK: "
WANTED = "send {agent: Turn} for every agent asked"
HALF = Turn((DirectMessage(AgentId(1), Text(text="half a \ud83d")),))


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (None, f"the game was sent NoneType; {WANTED}"),
        (Turn(), f"the game was sent Turn; {WANTED}"),
        ({}, f"there is no answer; {WANTED}"),
        ({0: Turn(), 1: Turn()}, f"the answer is for 1, asked were 0; {WANTED}"),
        ({"0": Turn()}, f"the answer is for '0', asked were 0; {WANTED}"),
        ({0: None}, "the game was sent NoneType; send a Turn or a Reply"),
        ({0: "slot 3"}, "the game was sent str; send a Turn or a Reply"),
        ({0: Reply("no")}, "the game was sent a misfit Turn: it is of type str"),  # type: ignore[arg-type]
        ({0: HALF}, "the game was sent a misfit Turn: str is not valid UTF-8"),
    ],
)
def test_wrong_answer_is_told_with_its_place(answers: Any, said: str) -> None:
    game = play(SCENARIO)
    next(game)
    with pytest.raises(AgentError, match=f"^{re.escape(HERE + said)}") as told:
        game.send(answers)
    assert str(told.value).isprintable()
    assert told.value.__cause__ is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"players": ["one"]}, "players: 1 for 3 agents: give one for each"),
        ({"players": []}, "players: 0 for 3 agents"),
        ({"players": "a/b"}, "team and players: player: .* got 'a/b'"),
        ({"team": "../x"}, "team and players: team_id: "),
        ({"channels": ["dms"]}, "there is no channel 'dms'; known are dm, participant_groupchat,"),
        ({"limits": {"turns": 3}}, "limits: turns: is not a known key"),
        ({"limits": {"dm_cap": -1}}, "limits: dm_cap: "),
        ({"system_prompts": ["one"]}, "system_prompts: 1 for 3 agents"),
    ],
)
def test_what_does_not_fit_is_told_before_anybody_is_asked(
    settings: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{said}"):
        play(SCENARIO, **settings)
