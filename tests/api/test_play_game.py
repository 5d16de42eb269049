"""Seats by name, object and function, mixed as one likes; and games that are driven by hand."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from calbench import play, play_game, score_game
from calbench.agents.example import Announcer
from calbench.config.composition import compose, compose_team
from calbench.config.groups import known_names
from calbench.domain.actions import DirectMessage, Turn
from calbench.domain.ids import AgentId
from calbench.domain.messages import CHANNELS, Text
from calbench.domain.observations import Observation, Phase
from calbench.domain.replies import Beliefs, Reply
from calbench.domain.usage import Usage
from calbench.engine.drivers import OutsideGame
from calbench.engine.replay import recorded_agents
from calbench.errors import AgentError, ConfigError, UnavailableError
from calbench.llm.completion import Completion, TokenLogprob
from calbench.protocols.imap import Imap
from calbench.runs.verification import verify_trace
from calbench.traces.events import AgentRegistered, GameHalted, Reflection, TurnEnd
from calbench.traces.models import Limits, Trace
from calbench.traces.storage import trace_bytes
from calbench.types import Player
from tests.cli.runs import python
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])


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


def is_player(name: str) -> bool:
    """Whether a team is one seat without a model; some have to be told which model."""
    if name.startswith(("my-model", "mixed5")):
        return False
    seats = compose_team(name).seats
    return len(seats) == 1 and seats[0].kind != "model"


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(known_names("teams")))
def test_one_name_for_each_agent_is_the_team_of_that_name_or_no_player(name: str) -> None:
    if not is_player(name):
        with pytest.raises(ConfigError, match="agent 0: "):
            play_game(SCENARIO, [name] * 3)
        return
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


def test_limits_and_channels_are_named_as_in_a_run() -> None:
    named = played("imap", Announcer(), "imap", limits="paper", channels="all").config
    assert (named.limits, named.channels) == (compose(["limits=paper"]).limits, CHANNELS)


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
        (None, "team: None is of type NoneType; give a name or a list or a mapping"),
        (Both(), "team: "),
        (["imap", "imapp", "imap"], "agent 1: there is no player 'imapp'; known are candid, "),
        (["imap", "\x1b", "imap"], r"agent 1: there is no player '\\x1b'; "),
        (["mixed-scripted"] * 3, "agent 0: mixed-scripted is a team of 5 seats, not one player"),
        (["imap", "imap", "smollm2"], "agent 2: smollm2 is a model, which only a run can ask"),
        (["my-model"] * 3, "agent 0: .*say which model"),
        (["imap", int, "imap"], "agent 1: int is no player: give a name, an object with act"),
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


def test_each_seat_of_a_class_gets_an_object_of_its_own() -> None:
    made: list[Any] = []

    class Counted(Watcher):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    class Broken(Both):
        def __init__(self, _wanted: int) -> None: ...

    trace = played(Counted, "imap", Counted)
    assert [seat.player for seat in trace.config.team.seats] == ["Counted", "imap", "Counted"]
    assert [{seen.agent_id for seen in each.seen} for each in made] == [{0}, {2}]
    with pytest.raises(AgentError, match=r"agent 1, before the first .*Broken\(\) raised TypeErr"):
        played("imap", Broken, "imap")


TOKENS = Usage(input_tokens=9, cached_tokens=1, output_tokens=2)


class Framework:
    """A model behind a framework: it is asked in words, and answers with a completion."""

    model = "vendor/model-7"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def introduce(self, _briefing: object, prompt: str) -> None:
        self.asked.append(prompt)

    async def act(self, observation: Observation, prompt: str) -> Completion:
        await asyncio.sleep(0)
        self.asked.append(prompt)
        text = speaker([])
        if observation.phase is Phase.REFLECTION:
            beliefs = {str(agent): [0] * 4 for agent in (0, 1, 2) if agent != observation.agent_id}
            text = json.dumps({"beliefs": beliefs})
        tokens = tuple(TokenLogprob(each, 0.0, ((each, 0.0),)) for each in text)
        return Completion(text=text, usage=TOKENS, logprobs=tokens)

    def complete(self, _messages: list[dict[str, str]]) -> Completion:
        return Completion(text=speaker([]), usage=TOKENS)


def test_object_that_takes_a_prompt_is_told_what_a_function_is_told() -> None:
    told: list[str] = []

    def function(messages: list[dict[str, str]]) -> str:
        told.extend(each["content"] for each in messages[:1] if len(messages) == 2)
        told.append(messages[-1]["content"])
        return speaker(messages)

    framework = Framework()
    trace = played(framework, "imap", "candid")
    played(function, "imap", "candid")
    recorded = recorded_agents(trace)[AgentId(0)]
    assert framework.asked == told
    assert framework.asked == [recorded.system_prompt, *(each.prompt for each in recorded.replies)]


def test_model_of_a_framework_is_counted_as_that_model_by_the_tokens_that_it_says() -> None:
    framework = Framework()
    trace = played(framework, framework.complete, "imap", reflection=True)
    seats = trace.config.team.seats
    assert [(seat.player, seat.kind) for seat in seats[:2]] == [("vendor-model-7", "custom")] * 2
    assert seats[0].settings != seats[1].settings
    for agent in score_game(trace).agents[:2]:
        calls = agent.tokens.calls
        assert agent.player.model == "vendor/model-7"
        assert (agent.tokens.input_tokens, agent.tokens.estimated_calls) == (9 * calls, 0)
        reflections = [reply.beliefs for reply in recorded_agents(trace)[agent.agent_id].replies]
        if agent.agent_id == 0:
            assert any(beliefs and beliefs.expected for beliefs in reflections)
        else:
            assert not any(reflections)


def test_object_that_takes_a_prompt_may_answer_with_a_turn_or_a_text() -> None:
    class Passing(Both):
        def act(self, observation: Observation, prompt: str = "") -> Any:
            assert prompt
            return Turn() if observation.agent_id == 0 else "no json"

    trace = played(Passing(), Passing(), "imap")
    problems = [
        {reply.unreadable and reply.unreadable.problem for reply in recorded.replies}
        for recorded in recorded_agents(trace).values()
    ]
    assert problems == [{None}, {"not_json"}, {None}]


def test_object_without_letters_in_its_name_is_still_recorded() -> None:
    odd = type("Ærlig", (Both,), {})
    nameless = type("_", (Both,), {})
    players = [seat.player for seat in played(odd(), nameless(), "imap").config.team.seats]
    assert players == ["rlig", "own", "imap"]
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", player) for player in players)


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
    is_told = uses_language  # as agents of one's own are
    names = ["Announcer"] * count
    game = play(scenario, players=names, uses_language=uses_language, canary=is_told)
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


def test_partners_answer_for_themselves_and_you_for_the_others() -> None:
    def with_partners(seats: Mapping[int, Player]) -> Trace:
        def answer(seen: Observation) -> Turn:
            assert seen.agent_id not in seats
            return Imap().act(seen)

        trace = driven(play(SCENARIO, players="imap", seats=seats), answer)
        verify_trace(trace)
        return trace

    loops = []

    class Waiting:
        async def act(self, observation: Observation) -> Turn:
            loops.append(asyncio.get_running_loop())
            await asyncio.sleep(0)
            return Imap().act(observation)

    def heard(trace: Trace) -> list[dict[str, Any]]:
        events = json.loads(trace_bytes(trace))["events"]
        return [{**event, "player": None} for event in events]

    whole = heard(play_game(SCENARIO, "imap"))
    for seats in ({1: "imap"}, {0: Waiting(), 2: Imap()}, {0: Waiting, 1: "imap", 2: Waiting}):
        trace = with_partners(seats)  # type: ignore[arg-type]
        assert heard(trace) == whole
        assert len(set(map(id, loops))) <= 1  # a client may be bound to its first loop
        loops.clear()
    assert [(seat.player, seat.kind) for seat in trace.config.team.seats] == [
        ("Waiting", "protocol"),
        ("imap", "protocol"),
        ("Waiting", "protocol"),
    ]

    async def notebook() -> Trace:
        return with_partners({0: Waiting()})

    assert heard(asyncio.run(notebook())) == whole


@pytest.mark.parametrize("seats", [None, {1: "imap"}])
def test_game_that_is_dropped_at_the_end_of_a_program_says_nothing(seats: object) -> None:
    lines = "game = calbench.play(calbench.load_suite('varied')[0], seats={})\nnext(game)"
    ended = python("-X", "dev", "-c", f"import calbench\n{lines.format(seats)}")
    assert (ended.status, ended.err) == (0, "")


def test_game_that_is_dropped_in_a_circle_is_collected() -> None:
    script = (
        "import gc, calbench\n"
        "scenario = calbench.load_suite('varied')[0]\n"
        "circle = [calbench.play(scenario, seats=dict.fromkeys(range(1, 5), 'candid'))]\n"
        "asked = next(circle[0])\n"
        "for _ in range(3):\n"
        "    asked = circle[0].send(dict.fromkeys(asked, calbench.types.PASS))\n"
        "circle.append(circle)\n"
        "del circle\n"
        "gc.collect()\n"
    )
    assert python("-c", script).status == 0


def test_partner_that_cannot_answer_ends_the_game_where_it_stands() -> None:
    def gone(_messages: object) -> str:
        raise UnavailableError("provider_fault", "no route")

    def wrong(_messages: object) -> str:
        raise KeyError("mine")

    trace = driven(play(SCENARIO, seats={1: gone, 2: "candid"}), lambda _: Turn())
    assert trace.halt is not None
    assert (trace.halt.agent_id, trace.halt.detail) == (1, "no route")
    with pytest.raises(AgentError, match="agent 1, round 0") as told:
        driven(play(SCENARIO, seats={1: wrong}), lambda _: Turn())
    assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(ConfigError, match=r"^seats: 3 is no agent; known are 0 to 2$"):
        play(SCENARIO, seats={3: "imap"})
    with pytest.raises(ConfigError, match=r"^agent 2: there is no player 'imapp'"):
        play(SCENARIO, seats={2: "imapp"})


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


def test_object_that_is_called_like_a_protocol_is_refused() -> None:
    """Its games would be verified as that one's, and not hold."""

    class Mine(Announcer):
        name = "imap"

    with pytest.raises(ConfigError, match=r"^agent 1: your imap is called like a protocol of Cal"):
        play_game(SCENARIO, ["imap", Mine(), "imap"])


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
        ({"limits": "papper"}, "limits: there is no papper; did you mean paper?"),
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
