"""A function from messages to text sits as a language model does, and is blamed for itself."""

import asyncio
import functools
import json
import re
import signal
import threading
import time
import traceback
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from calbench import evaluate, play_game, score_game
from calbench.agents.scripted import STYLES
from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.domain.canary import LINE
from calbench.domain.randomness import derived_seed
from calbench.errors import AgentError
from calbench.llm.completion import ChatMessage
from calbench.runs.verification import verify_trace
from calbench.scenarios.labels import assign_labels, read_label_bank
from calbench.traces.events import DmSent, Reflection, ReplyNote, TurnEnd, TurnStart
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from calbench.types import Completion, Player, Usage
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])
Messages = list[dict[str, str]]


def greet(messages: Messages) -> str:
    """Say hello to agent 1, once."""
    first = len(messages) == 2
    actions = [{"type": "dm", "to": 1, "content": "Hello."}] if first else []
    return json.dumps({"thinking": "Politeness.", "actions": actions})


def scripted(style: str, seed: int, agent: int) -> Callable[[Messages], str]:
    """Return a scripted speaker as somebody's own function."""
    speaker = ScriptedSpeaker(STYLES[style], derived_seed(seed, "scripted", agent))

    def candid(messages: Messages) -> str:
        return speaker.reply([ChatMessage(**message) for message in messages])  # type: ignore[arg-type]

    return candid


def later(function: Callable[[Messages], str]) -> Callable[[Messages], Any]:
    async def waiting(messages: Messages) -> str:
        await asyncio.sleep(0)
        return function(messages)

    return functools.wraps(function)(waiting)


def without_seats(trace: Trace) -> list[dict[str, Any]]:
    """Return the events without names of players, canary, and tokens, which are estimated."""
    whole = trace_bytes(trace).decode().replace(f"\\n\\n{LINE}", "")
    events: list[dict[str, Any]] = json.loads(whole)["events"]
    return [
        {key: value for key, value in event.items() if key not in {"player", "usage"}}
        for event in events
    ]


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("style", sorted(STYLES))
def test_function_plays_the_game_that_a_speaker_of_ours_plays(style: str, waits: bool) -> None:
    scenario = canonical_scenario(2)
    agents = range(scenario.num_agents)
    players = [scripted(style, scenario.seed, agent) for agent in agents]
    own = [later(player) for player in players] if waits else players
    trace = play_game(scenario, own, reflection=True)
    verify_trace(trace)
    team = play_game(scenario, style, reflection=True)
    assert without_seats(trace) == without_seats(team)
    assert not any(isinstance(event, ReplyNote) for event in trace.events)
    assert sum(isinstance(event, Reflection) for event in trace.events) > 0
    assert trace.config.team.seats[0].player == "candid"


def test_function_talks_to_a_protocol_and_its_tokens_are_marked_as_estimated() -> None:
    trace = play_game(SCENARIO, [greet, "imap", "silent"])
    verify_trace(trace)
    (sent,) = [e for e in trace.events if isinstance(e, DmSent) and e.from_agent == 0]
    assert sent.content.kind == "text"
    usages = [e.usage for e in trace.events if isinstance(e, TurnEnd) and e.agent_id == 0]
    assert all(usage is not None and usage.is_estimated for usage in usages)
    tokens = score_game(trace).agents[0].tokens
    assert tokens.calls == tokens.estimated_calls > 0


def test_function_is_handed_its_own_conversation_and_nothing_else() -> None:
    handed: list[Messages] = []

    def listening(messages: Messages) -> str:
        handed.append([dict(message) for message in messages])
        messages.clear()  # what it does to its copy changes no conversation
        return '{"thinking": "", "actions": []}'

    trace = play_game(SCENARIO, [listening, "silent", "silent"])
    assert {frozenset(message) for call in handed for message in call} == {
        frozenset({"role", "content"})
    }
    for before, after in pairwise(handed):
        assert after[: len(before)] == before
    assert [message["role"] for message in handed[1]] == ["system", "user", "assistant", "user"]
    prompts = [e.prompt for e in trace.events if isinstance(e, TurnStart) and e.agent_id == 0]
    assert handed[0][-1]["content"] == prompts[0]

    labels = assign_labels(SCENARIO, read_label_bank("v1"))
    text = "\n".join(message["content"] for message in handed[-1])
    for agent, calendar in enumerate(SCENARIO.shown_calendars):
        for item in calendar:
            if item is not None:
                assert (labels.label_of(item.item_id).text in text) == (agent == 0)


def test_one_function_in_several_seats_keeps_their_conversations_apart() -> None:
    systems: dict[str, int] = {}

    def shared(messages: Messages) -> str:
        who = re.findall(r"agent (\d)", messages[0]["content"])[0]
        assert len(messages) == 2 * systems.get(who, 0) + 2
        systems[who] = systems.get(who, 0) + 1
        return '{"thinking": "", "actions": []}'

    play_game(SCENARIO, [shared] * 3)
    assert sorted(systems) == ["0", "1", "2"]


class Client:
    """A model behind a method, and an object that is called."""

    def ask(self, messages: Messages) -> str:
        return greet(messages)

    def __call__(self, messages: Messages) -> str:
        return greet(messages)


def test_functions_of_any_form_have_the_name_that_their_author_gave() -> None:
    forms: list[Player] = [
        greet,
        functools.partial(greet),
        Client().ask,
        Client(),
        lambda _messages: "no",
    ]
    scenario = make_scenario(["....."] * 5, [(0, 1)])
    trace = play_game(scenario, forms)
    seats = trace.config.team.seats
    assert [seat.player for seat in seats] == ["greet", "greet", "ask", "Client", "lambda"]
    assert {seat.kind for seat in seats} == {"custom"}


def test_text_that_is_no_reply_is_read_as_a_models() -> None:
    trace = play_game(SCENARIO, [lambda _messages: "I would rather not.", "imap", "imap"])
    verify_trace(trace)
    notes = [event for event in trace.events if isinstance(event, ReplyNote)]
    assert {(note.agent_id, note.kind) for note in notes} == {(0, "not_json")}


def no_key(messages: Messages) -> str:
    return messages[0]["no such\nkey"]


@pytest.mark.parametrize("function", [no_key, later(no_key)])
def test_what_it_raises_is_told_as_its_own(function: Callable[[Messages], Any]) -> None:
    with pytest.raises(AgentError) as told:
        play_game(SCENARIO, ["imap", "imap", function])
    line = str(told.value)
    place = "team own, scenario test-000, agent 2, round 0, CHEAP_TALK: no_key raised KeyError: "
    assert line.startswith(place)
    assert line.isprintable()
    cause = told.value.__cause__
    assert isinstance(cause, KeyError)
    frames = traceback.extract_tb(cause.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}


@pytest.mark.parametrize("text", [None, b"bytes", {"thinking": "", "actions": []}])
def test_what_is_no_text_is_told_in_one_line(text: Any) -> None:
    def odd(_messages: Messages) -> Any:
        return text

    kind = type(text).__name__
    line = f"agent 0, round 0, CHEAP_TALK: odd returned {kind}; return the text of the reply"
    with pytest.raises(AgentError, match=f"{re.escape(line)}$"):
        play_game(SCENARIO, [odd, "imap", "imap"])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": 3}, "text: is int, should be str"),
        ({"usage": {"prompt_tokens": 3}}, "usage.input_tokens: Field required"),
        ({"finish_reason": 7}, "finish_reason: Input should be a valid string, got 7"),
        ({"logprobs": 7}, "logprobs: Input should be a valid tuple, got 7"),
    ],
)
@pytest.mark.parametrize("is_prompted", [False, True])
def test_completion_that_no_trace_could_hold_is_refused_where_it_is_made(
    fields: dict[str, Any], said: str, is_prompted: bool
) -> None:
    def odd(_messages: Messages) -> Completion:
        return Completion(**{"text": PASSING, **fields})

    class Odd:
        def act(self, observation: Any, prompt: str) -> Completion:
            return odd([{str(observation): prompt}])

    player: Any = Odd() if is_prompted else odd
    name = "Odd.act" if is_prompted else "odd"
    line = f"agent 0, round 0, CHEAP_TALK: {name} returned a misfit Completion: {said}"
    with pytest.raises(AgentError, match=f"{re.escape(line)}$"):
        play_game(SCENARIO, [player, "imap", "imap"])


def test_completion_keeps_its_tokens_and_numbers_that_json_lacks() -> None:
    told = Usage(input_tokens=5, cached_tokens=0, output_tokens=2)

    def counted(_messages: Messages) -> Completion:
        likeliest = (("{", 0.0), ("[", float("-inf")))
        return Completion(text=PASSING, usage=told, logprobs=[("{", 0.0, likeliest)])  # type: ignore[arg-type]

    trace = play_game(SCENARIO, [counted, "imap", "imap"])
    (usage, *_) = [each.usage for each in trace.events if isinstance(each, TurnEnd) and each.usage]
    assert usage == told


PASSING = '{"thinking": "", "actions": []}'


@pytest.mark.parametrize("is_suite", [False, True])
def test_interrupted_game_beside_a_loop_asks_nobody_any_more(is_suite: bool) -> None:
    """As in a notebook: only the main thread is interrupted, and another one plays."""
    asked: list[int] = []

    def interrupting(messages: Messages) -> str:
        asked.append(len(messages))
        if len(asked) == 1:
            number = threading.main_thread().ident
            assert number is not None
            signal.pthread_kill(number, signal.SIGINT)
            interrupted.wait(10)
        else:  # the main thread may be held up between hearing it and telling the game to stop
            time.sleep(0.5)
        return PASSING

    interrupted = threading.Event()

    async def notebook() -> None:
        if is_suite:
            evaluate(interrupting, [SCENARIO])
        else:
            play_game(SCENARIO, [interrupting] * 3)

    def hears(_number: int, _frame: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hears)
    try:
        loop = asyncio.new_event_loop()
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(notebook())
        loop.close()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(asked) <= 3  # of one sweep at most, who were asked before it was heard
