"""The three drivers: pure policies, agents that wait, and a recorded trace."""

import asyncio
import gc
from typing import Any

import pytest

from calbench.agents.own import PolicyAgent
from calbench.domain.actions import Turn
from calbench.domain.ids import AgentId
from calbench.domain.observations import Briefing, Observation, Phase
from calbench.domain.replies import Reply
from calbench.domain.usage import Usage
from calbench.engine.drivers import run, run_async, run_at_once
from calbench.engine.replay import compare_events, replay
from calbench.engine.seating import seat_policies
from calbench.errors import ReplayError, StoppedError
from calbench.protocols.base import Policy
from calbench.protocols.imap import Imap
from calbench.traces.events import BatchApplied, DecideEnd, DmSent, Event, Resolution, TurnEnd
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from tests.engine.scripts import altered, game_config
from tests.factories import make_scenario

SCENARIO = make_scenario(
    ["E3E1..", "B.E2.", "...E1", "E1.E2."], [(1, 0, 2), (3, 1)], prior=[((2, 3), 1)]
)
CONFIG = game_config("imap")


def played() -> Trace:
    return run(SCENARIO, CONFIG, seat_policies(CONFIG.team, SCENARIO.num_agents))


def changed(trace: Trace, kind: type[Event], **fields: Any) -> Trace:
    """Return the trace with its first event of a kind altered."""
    events = list(trace.events)
    index = next(i for i, event in enumerate(events) if isinstance(event, kind))
    events[index] = altered(events[index], **fields)
    return trace.model_copy(update={"events": tuple(events)})


class Raising:
    """Sees whether garbage is collected while it plays, and then fails."""

    def __init__(self) -> None:
        self.was_collecting: bool | None = None

    def act(self, observation: Observation) -> Turn:
        self.was_collecting = gc.isenabled()
        raise RuntimeError(observation.phase)


def test_garbage_is_collected_again_after_a_game_and_after_a_failure() -> None:
    played()
    assert gc.isenabled()
    raising = Raising()
    with pytest.raises(RuntimeError, match="CHEAP_TALK"):
        run(SCENARIO, CONFIG, [raising] * SCENARIO.num_agents)
    assert raising.was_collecting is False
    assert gc.isenabled()


class Waiting:
    """Answers after the others, the lower its id the later, and tells where it came from."""

    def __init__(self, policy: Policy, log: list[tuple[Phase, AgentId]]) -> None:
        self._policy = policy
        self._log = log

    def introduce(self, briefing: Briefing) -> None:
        """Typed: there is nothing to be told."""

    async def act(self, observation: Observation) -> Reply:
        for _ in range(10 - observation.agent_id):
            await asyncio.sleep(0)
        self._log.append((observation.phase, observation.agent_id))
        key = f"{observation.agent_id}-{observation.round_index}-{observation.phase}"
        usage = Usage(input_tokens=3, cached_tokens=2, output_tokens=1)
        return Reply(self._policy.act(observation), f"prompt {key}", usage, (key,))


def waiting_game() -> tuple[Trace, list[tuple[Phase, AgentId]]]:
    log: list[tuple[Phase, AgentId]] = []
    agents = [Waiting(Imap(), log) for _ in range(SCENARIO.num_agents)]
    return asyncio.run(run_async(SCENARIO, CONFIG, agents)), log


def test_agents_that_answer_at_once_need_no_event_loop() -> None:
    agents = [PolicyAgent(Imap()) for _ in range(SCENARIO.num_agents)]
    assert trace_bytes(run_at_once(SCENARIO, CONFIG, agents)) == trace_bytes(played())
    with pytest.raises(RuntimeError, match="an agent waits that should answer at once"):
        run_at_once(SCENARIO, CONFIG, [Waiting(Imap(), []) for _ in agents])


def test_nobody_is_asked_once_the_game_is_stopped() -> None:
    log: list[tuple[Phase, AgentId]] = []
    agents = [Waiting(Imap(), log) for _ in range(SCENARIO.num_agents)]
    with pytest.raises(StoppedError):
        asyncio.run(run_async(SCENARIO, CONFIG, agents, is_stopping=lambda: len(log) >= 3))
    assert 3 <= len(log) < 3 + SCENARIO.num_agents


def test_replies_stand_in_the_trace_with_their_provenance() -> None:
    trace, _ = waiting_game()
    turns = [event for event in trace.events if isinstance(event, TurnEnd | DecideEnd)]
    assert {event.usage for event in turns} == {
        Usage(input_tokens=3, cached_tokens=2, output_tokens=1)
    }
    assert turns[0].reply_keys == ("1-0-CHEAP_TALK",)
    assert trace_bytes(replay(trace)) == trace_bytes(trace)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (DmSent, {"chars": 7}, r"^event \d+ \(dm_sent\): chars: recorded 7, rep"),
        (BatchApplied, {"cost": 99}, r"\(batch_applied\): cost: recorded 99, replayed \d"),
        (Resolution, {"coordinated": False}, r"\(resolution\): coordinated: recorded False"),
        (DecideEnd, {"actions": ()}, r"^(event|round|agent) \d+"),
    ],
)
def test_replay_names_what_was_edited(
    kind: type[Event], fields: dict[str, object], said: str
) -> None:
    with pytest.raises(ReplayError, match=said):
        replay(changed(played(), kind, **fields))


def test_replay_names_the_agent_when_a_turn_is_missing() -> None:
    trace = played()
    events = list(trace.events)
    last = max(i for i, event in enumerate(events) if isinstance(event, DecideEnd))
    events.pop(last)
    with pytest.raises(ReplayError, match="round 1, DECISION: no recorded turn of agent 3 is left"):
        replay(trace.model_copy(update={"events": tuple(events)}))


def test_replay_names_the_agent_when_a_turn_was_added() -> None:
    trace = played()
    turn = next(event for event in trace.events if isinstance(event, DecideEnd))
    with pytest.raises(ReplayError, match="agent 0: 1 recorded turns were never asked"):
        replay(trace.model_copy(update={"events": (*trace.events, turn)}))


def test_replay_fails_when_an_event_that_is_no_turn_is_missing_or_added() -> None:
    trace = played()
    shorter = trace.model_copy(update={"events": trace.events[:-1]})
    longer = trace.model_copy(update={"events": (*trace.events, trace.events[-1])})
    count = len(trace.events)
    for edited in (shorter, longer):
        text = f"the trace has {len(edited.events)} events, the replay {count}"
        with pytest.raises(ReplayError, match=text):
            replay(edited)


def test_compared_events_are_told_apart_by_type_before_their_fields() -> None:
    events = played().events
    with pytest.raises(ReplayError, match=r"event 0 \(game_start\): recorded game_start, replaye"):
        compare_events(events, events[1:])


def test_difference_is_cut_and_escaped_when_it_is_long_or_foreign() -> None:
    trace = changed(played(), TurnEnd, thinking="\n\u202e" * 500)
    with pytest.raises(ReplayError) as caught:
        compare_events(trace.events, played().events)
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()
