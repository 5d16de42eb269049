"""Whoever has ``act`` can sit beside models; what it raises and answers is told as its own."""

import asyncio
import re
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from calbench import play_game
from calbench.agents.base import Agent
from calbench.agents.own import OwnActing, OwnAgent, PolicyAgent
from calbench.domain.actions import PASS, Action, DirectMessage, Reschedule, Schedule, Turn
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import Text
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.domain.usage import Usage
from calbench.errors import AgentError, ConfigError, UnavailableError
from calbench.protocols.registry import build_policy
from calbench.runs.verification import verify_trace
from calbench.traces.events import GameHalted
from calbench.traces.storage import trace_bytes
from tests.factories import make_scenario
from tests.golden.prompts.samples import briefing, observation

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])
HERE = r"agent 2, round 1, CHEAP_TALK: "


class Raising:
    """Raises what it was made with, once asked for the second meeting."""

    def __init__(self, make: Callable[[], BaseException]) -> None:
        self.make = make

    def act(self, observation: Observation) -> Turn:
        if observation.round_index == 1 and observation.agent_id == 2:
            raise self.make()
        return Turn()


class RaisingLater(Raising):
    async def act(self, observation: Observation) -> Turn:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().act(observation)


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("even this fails")


def noted() -> ValueError:
    error = ValueError("two\nlines")
    error.add_note("a note")
    return error


def nested() -> ValueError:
    error = ValueError("x" * 1000)
    error.__cause__ = OSError("the depths")
    return error


RAISED: list[tuple[Callable[[], BaseException], str]] = [
    (KeyError, "KeyError"),
    (StopIteration, "StopIteration"),
    (lambda: SystemExit(3), "SystemExit: 3"),
    (asyncio.CancelledError, "asyncio.exceptions.CancelledError"),
    (TimeoutError, "TimeoutError"),
    (lambda: ExceptionGroup("both", [KeyError("a"), KeyError("b")]), "ExceptionGroup: both (2 sub"),
    (noted, "ValueError: two lines ("),
    (nested, f"ValueError: {'x' * 185}... ("),
    (lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "\x1b[31m"), r"\x1b[31m"),
    (MuteError, "tests.agents.test_own.MuteError: <exception str() failed> ("),
]


@pytest.mark.parametrize(
    ("kind", "make", "said"),
    [
        pytest.param(kind, make, said, id=f"{kind.__name__}-{said[:20]}")
        for kind in (Raising, RaisingLater)
        for make, said in RAISED
        if (kind, make) != (RaisingLater, StopIteration)  # Python's own: a RuntimeError by then
    ],
)
def test_whatever_it_raises_is_told_with_its_place_and_its_own_frames(
    kind: type[Raising], make: Callable[[], BaseException], said: str
) -> None:
    with pytest.raises(AgentError) as told:
        play_game(SCENARIO, [kind(make) for _ in range(3)])
    line = str(told.value)
    assert line.startswith(
        f"team own, scenario test-000, agent 2, round 1, CHEAP_TALK: {kind.__name__}.act raised "
    )
    assert said in line
    assert re.search(r"\(tests\.agents\.test_own, line \d+\)$", line)
    assert line.isprintable()
    cause = told.value.__cause__
    assert cause is not None
    frames = traceback.extract_tb(cause.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}


def test_one_that_cannot_be_had_ends_its_game_and_not_the_run() -> None:
    raising = Raising(lambda: UnavailableError("provider_fault", "my server is down"))
    trace = play_game(SCENARIO, [raising] * 3)
    (halted,) = (event for event in trace.events if isinstance(event, GameHalted))
    assert (halted.agent_id, halted.detail) == (2, "my server is down")


def test_cancellation_from_outside_is_not_told_as_the_agents() -> None:
    class Waiting:
        async def act(self, _observation: Observation) -> Turn:
            await asyncio.Event().wait()
            return Turn()

    async def cancelled() -> None:
        task = asyncio.ensure_future(OwnAgent(Waiting()).act(observation()))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_object_whose_act_does_not_fit_needs_no_traceback() -> None:
    class Unasked:
        def act(self) -> Turn:
            return Turn()

    with pytest.raises(AgentError, match=r"Unasked\.act raised TypeError: .*2 were given$") as told:
        play_game(SCENARIO, [Unasked() for _ in range(3)])  # type: ignore[misc]
    assert told.value.__cause__ is None


DM = DirectMessage(AgentId(0), Text(text="hello"))


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Turn(("slot 3",)), "actions.0: Input should be an object, got 'slot 3'"),  # type: ignore[arg-type]
        (Turn(None), "actions: Input should be a valid array"),  # type: ignore[arg-type]
        (Turn((), 5), "thinking: Input should be a valid string, got 5"),  # type: ignore[arg-type]
        (
            Turn((DM, Schedule(MeetingId(0), "1"))),  # type: ignore[arg-type]
            "actions.1.schedule.slot: Input should be a valid integer, got '1'",
        ),
        (
            Turn((DirectMessage(AgentId(0), "hello"),)),  # type: ignore[arg-type]
            "actions.0.dm.content: Input should be an object, got 'hello'",
        ),
        (
            Turn((DirectMessage(AgentId(0), {"kind": "text", "text": "hello"}),)),  # type: ignore[arg-type]
            "actions.0.content: is dict, should be Text",
        ),
        (
            Turn(({"type": "schedule", "meeting_id": 0, "slot": 1},)),  # type: ignore[arg-type]
            "actions.0: is dict, should be Schedule",
        ),
        (
            Turn((DirectMessage(AgentId(0), Text(text="half a \ud83d")),)),
            "str is not valid UTF-8: surrogates not allowed",
        ),
        (Turn((object(),)), "Type is not JSON serializable: object"),  # type: ignore[arg-type]
    ],
)
def test_turn_that_no_trace_could_hold_is_refused_where_it_is_made(turn: Turn, said: str) -> None:
    class Giving:
        def act(self, observation: Observation) -> Turn:
            return turn if (observation.agent_id, observation.round_index) == (2, 1) else Turn()

    line = f"team own, scenario test-000, {HERE}Giving.act returned a misfit Turn: {said}"
    with pytest.raises(AgentError, match=f"^{re.escape(line)}$"):
        play_game(SCENARIO, [Giving() for _ in range(3)])


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"usage": {"prompt_tokens": 3}}, "usage.input_tokens: Field required"),
        (
            {"usage": Usage(input_tokens=1.5, cached_tokens=0, output_tokens=1)},  # type: ignore[arg-type]
            "usage.input_tokens: Input should be a valid integer, got 1.5",
        ),
        ({"usage": object()}, "Type is not JSON serializable: object"),
        ({"prompt": "half a \ud83d"}, "str is not valid UTF-8: surrogates not allowed"),
        ({"recovered": 3}, "recovered: Input should be a valid string, got 3"),
        ({"unreadable": Unreadable("odd", "")}, "unreadable.problem: Input should be 'not_json'"),  # type: ignore[arg-type]
        ({"beliefs": 3}, "beliefs: Input should be an array or an object, got 3"),
        ({"beliefs": Beliefs({"1": (0, 0)})}, "beliefs.delta: give 4 numbers from -3 to 3 by"),
        ({"beliefs": Beliefs({"2": (0,) * 4})}, "beliefs.delta: give 4 numbers from -3 to 3 by"),
        ({"beliefs": Beliefs({}, None, {"0": (0, 0, 0, 101)})}, "beliefs.occupied: give 4 numbers"),
    ],
)
def test_reply_that_no_trace_could_hold_is_refused_where_it_is_made(
    beside: dict[str, Any], said: str
) -> None:
    class Giving:
        def act(self, observation: Observation) -> Reply:
            is_odd = (observation.agent_id, observation.round_index) == (2, 1)
            return Reply(Turn(), **beside) if is_odd else Reply(Turn())

    line = f"team own, scenario test-000, {HERE}Giving.act returned a misfit Reply: {said}"
    with pytest.raises(AgentError, match=f"^{re.escape(line)}"):
        play_game(SCENARIO, [Giving() for _ in range(3)])


def test_turn_is_played_as_it_was_when_it_was_given() -> None:
    """Whoever fills one list again, or one message, changes nothing that was recorded."""

    class Reusing:
        def __init__(self) -> None:
            self.actions: list[Action] = []
            self.message = DirectMessage(AgentId(0), Text(text="hello"))

        def act(self, observation: Observation) -> Turn:
            self.actions.clear()
            self.message.to = AgentId((observation.agent_id + 1) % 3)  # type: ignore[misc]
            if not observation.turn_index:
                self.actions.append(self.message)
            return Turn(self.actions)  # type: ignore[arg-type]

    trace = play_game(SCENARIO, [Reusing(), Reusing(), Reusing()])
    assert trace.metrics.messages > 0
    verify_trace(trace)


def test_what_has_no_method_act_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^object has no method act\(observation\)$"):
        OwnAgent.of(object(), lambda: pytest.fail("no prompts are needed"))  # type: ignore[arg-type]


def test_reason_that_no_trace_holds_is_refused_where_it_is_given() -> None:
    with pytest.raises(ValueError, match=r"^reason: 'down'; give provider_fault or budget_stop$"):
        UnavailableError("down", "why")  # type: ignore[arg-type]
    assert UnavailableError("provider_fault", OSError("down")).detail == "down"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "action",
    [
        DirectMessage(AgentId(9), Text(text="nobody there")),
        Schedule(MeetingId(99), Slot(-1)),
        Reschedule(item_id=ErrandId(1), from_slot=Slot(0), to_slot=Slot(1), justification="why"),
    ],
)
def test_illegal_move_is_left_to_the_rules(action: Action) -> None:
    class Giving:
        def act(self, _observation: Observation) -> Turn:
            return Turn((action,))

    assert trace_bytes(play_game(SCENARIO, [Giving() for _ in range(3)]))


class AtOnce:
    def act(self, _observation: Observation) -> Turn:
        return Turn((), "quick")


class Later:
    def __init__(self) -> None:
        self.briefing: Briefing | None = None

    def introduce(self, briefing: Briefing) -> str:
        self.briefing = briefing
        return "You are me."

    async def act(self, _observation: Observation) -> Reply:
        await asyncio.sleep(0)
        return Reply(PASS, prompt="What now?")


class Odd:
    def introduce(self, _briefing: Briefing) -> int:
        return 5

    def act(self, _observation: Observation) -> Turn:
        return None  # type: ignore[return-value]


def act(agent: Agent) -> Reply:
    async def once() -> Reply:
        return await agent.act(observation())

    return asyncio.run(once())


def test_policy_is_seated_without_a_prompt() -> None:
    policy = build_policy("first-free", {})
    assert policy is not None
    agent: Agent = PolicyAgent(policy)
    assert agent.introduce(briefing("dm")) is None
    assert act(agent) == Reply(policy.act(observation()))


@pytest.mark.parametrize(
    ("own", "prompt", "reply"),
    [
        (AtOnce(), None, Reply(Turn((), "quick"))),
        (Later(), "You are me.", Reply(PASS, prompt="What now?")),
    ],
    ids=["at once", "later"],
)
def test_own_object_is_seated(own: OwnActing, prompt: str | None, reply: Reply) -> None:
    agent: Agent = OwnAgent(own)
    assert agent.introduce(briefing("dm")) == prompt
    assert act(agent) == reply


def test_own_object_that_answers_something_else_is_named() -> None:
    agent = OwnAgent(Odd())
    answer = r"^agent 0, round \d, [A-Z_]+: Odd\.act returned NoneType; return a Turn or a Reply$"
    with pytest.raises(AgentError, match=answer):
        act(agent)
    answer = (
        r"^agent 0, before the first round: Odd\.introduce returned int; return a text or None$"
    )
    with pytest.raises(AgentError, match=answer):
        agent.introduce(briefing("dm"))
