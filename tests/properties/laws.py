"""The laws of a game, each a function that fails if a drawn game breaks it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import get_args

from calbench.domain.actions import (
    PASS,
    Action,
    BroadcastMessage,
    CalendarAction,
    DirectMessage,
    ParticipantMessage,
    Reschedule,
    Schedule,
    SealedReport,
    Turn,
)
from calbench.domain.calendars import Booking, Errand, HiddenMeeting, Meeting
from calbench.domain.messages import Content, MeetingMove, Message, OfferedPlan
from calbench.domain.observations import Briefing, Observation, Phase, Refusal
from calbench.domain.replies import Reply
from calbench.engine.drivers import run, run_async
from calbench.engine.replay import replay
from calbench.metrics.game import score_game
from calbench.protocols.base import Policy
from calbench.scenarios.models import ErrandEntry, MeetingEntry, Scenario
from calbench.traces.events import (
    AgentRegistered,
    BatchApplied,
    BatchRejected,
    CalendarIds,
    DecideEnd,
    DecideStart,
    Event,
    InvalidToolCall,
    MessageSent,
    TurnEnd,
    TurnStart,
)
from calbench.traces.storage import read_trace, trace_bytes, write_trace
from tests.engine.scripts import Ask, ask_of
from tests.properties.games import DrawnGame

KNOWABLE: tuple[type, ...] = (
    Observation,
    Message,
    Refusal,
    MappingProxyType,
    Meeting,
    HiddenMeeting,
    Errand,
    Booking,
    DirectMessage,
    ParticipantMessage,
    BroadcastMessage,
    SealedReport,
    Schedule,
    Reschedule,
    *get_args(Content),
    OfferedPlan,
    MeetingMove,
    Phase,
    tuple,
    frozenset,
    int,
    str,
    bool,
    type(None),
)
"""Every type that an observation may contain. None of them holds an accounting cost."""


class Recorder:
    """Lets a policy play and notes what it saw and did."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.seen: list[Observation] = []
        self.turn_by_ask: dict[Ask, Turn] = {}

    def act(self, observation: Observation) -> Turn:
        turn = self._policy.act(observation)
        self.seen.append(observation)
        self.turn_by_ask[ask_of(observation)] = turn
        return turn


class Echo:
    """Does again what was done at each moment, whatever it sees."""

    def __init__(self, turn_by_ask: dict[Ask, Turn]) -> None:
        self._turn_by_ask = turn_by_ask

    def act(self, observation: Observation) -> Turn:
        return self._turn_by_ask.get(ask_of(observation), PASS)


class Slow:
    """Lets a policy answer after the others: the lower its agent's id, the later."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def introduce(self, briefing: Briefing) -> None:
        """Typed: there is nothing to be told."""

    async def act(self, observation: Observation) -> Reply:
        for _ in range(len(observation.agent_ids) - observation.agent_id):
            await asyncio.sleep(0)
        return Reply(self._policy.act(observation))


def recorded(game: DrawnGame) -> list[Recorder]:
    """Play a game and return what each agent saw and did."""
    recorders = [Recorder(policy) for policy in game.policies]
    run(game.scenario, game.config, recorders)
    return recorders


def echoed(game: DrawnGame, scenario: Scenario, recorders: list[Recorder]) -> list[Recorder]:
    """Let the same turns be taken on another scenario."""
    echoes = [Recorder(Echo(recorder.turn_by_ask)) for recorder in recorders]
    run(scenario, game.config, echoes)
    return echoes


def assert_observations_do_not_depend_on_the_calendar_of(
    agent: int, other_world: Scenario, game: DrawnGame
) -> None:
    """What the others see is the same in both worlds, if the same is said and done."""
    here = recorded(game)
    there = echoed(game, other_world, here)
    for other in range(game.scenario.num_agents):
        if other != agent:
            assert there[other].seen == here[other].seen


def observations_do_not_depend_on_accounting_costs(game: DrawnGame) -> None:
    """Nobody sees an accounting cost, not even of its own errands."""
    calendars = tuple(
        tuple(
            replace(entry, cost=7 + 2 * entry.cost) if isinstance(entry, ErrandEntry) else entry
            for entry in calendar
        )
        for calendar in game.scenario.calendars
    )
    dearer = game.scenario.updated(calendars=calendars, witness=None, oracle=None)
    here, there = recorded(game), recorded(DrawnGame(dearer, game.config, game.policies))
    assert [agent.seen for agent in there] == [agent.seen for agent in here]


def observations_hold_only_what_their_agent_may_know(game: DrawnGame) -> None:
    """Walk through everything every agent is ever shown."""
    shown_costs = [
        {entry.errand_id: entry.shown_cost for entry in calendar if isinstance(entry, ErrandEntry)}
        for calendar in game.scenario.calendars
    ]
    for agent, recorder in enumerate(recorded(game)):
        for observation in recorder.seen:
            assert observation.agent_id == agent
            for part in _parts(observation):
                assert type(part) in KNOWABLE
                if isinstance(part, Errand):
                    assert shown_costs[agent][part.errand_id] == part.shown_cost
                if isinstance(part, Meeting):
                    assert agent in part.participants
                if isinstance(part, Message):
                    assert agent == part.sender or agent in part.recipients


def _parts(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, tuple | frozenset):
        for part in value:
            yield from _parts(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))


def moving_conserves_items(game: DrawnGame) -> None:
    """No errand is lost, doubled or handed over; a blocked one never moves."""
    trace = game.play()
    booked = {
        (event.agent_id, event.round)
        for event in trace.events
        if isinstance(event, BatchApplied) and event.phase is Phase.DECISION
    }
    for agent, (before, after) in enumerate(
        zip(game.scenario.calendars, trace.final_state.calendars, strict=True)
    ):
        expected: Counter[int] = Counter()
        for slot, entry in enumerate(before):
            if isinstance(entry, ErrandEntry):
                expected[entry.errand_id] += 1
                assert not entry.blocked or after[slot] == entry.errand_id
            elif isinstance(entry, MeetingEntry):
                expected[entry.meeting_id] += 1
        for index, meeting in enumerate(game.scenario.meetings):
            if (agent, index) in booked:
                assert agent in meeting.participants
                expected[meeting.meeting_id] += 1
        assert Counter(item for item in after if item is not None) == expected


def rejected_turns_change_nothing(game: DrawnGame) -> None:
    """The game is the same if whatever was refused had not been tried."""
    recorders = [Recorder(policy) for policy in game.policies]
    trace = run(game.scenario, game.config, recorders)
    lawful = [dict(recorder.turn_by_ask) for recorder in recorders]
    for agent, ask, refused in _refused(trace.events):
        left = list(lawful[agent][ask].actions)
        for action in refused:
            left.remove(action)
        lawful[agent][ask] = Turn(tuple(left), lawful[agent][ask].thinking)
    again = run(game.scenario, game.config, [Echo(turns) for turns in lawful])
    assert again.final_state == trace.final_state
    kept = MessageSent | BatchApplied
    assert [e for e in again.events if isinstance(e, kept)] == [
        e for e in trace.events if isinstance(e, kept)
    ]
    assert not any(isinstance(event, InvalidToolCall) for event in again.events)
    conflicts = {e.conflict for e in again.events if isinstance(e, BatchRejected)}
    assert conflicts <= {"Expected exactly 1 schedule action, got 0"}


def _refused(events: tuple[Event, ...]) -> Iterator[tuple[int, Ask, list[Action]]]:
    """Yield agent, moment and actions of whatever was refused."""
    ask = Ask(0, Phase.CHEAP_TALK, 0)
    for event in events:
        if isinstance(event, TurnEnd):
            ask = Ask(event.round, Phase.CHEAP_TALK, event.turn)
        elif isinstance(event, DecideEnd):
            ask = Ask(event.round, event.phase, event.attempt)
        elif isinstance(event, InvalidToolCall):
            yield event.agent_id, ask, [event.action]
        elif isinstance(event, BatchRejected):
            yield event.agent_id, ask, list(event.actions)


def calendars_change_only_by_applied_batches(game: DrawnGame) -> None:
    """The numbers in the events add up: moves, calendars, costs and messages."""
    trace = game.play()
    count = game.scenario.num_agents
    calendars: list[CalendarIds] = [()] * count
    costs, sent = [0] * count, [0] * count
    for event in trace.events:
        if isinstance(event, AgentRegistered):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, DecideStart):
            assert event.calendar == calendars[event.agent_id]
        elif isinstance(event, BatchApplied):
            agent = event.agent_id
            assert event.calendar == _after(calendars[agent], event.actions)
            assert event.cost == sum(
                game.scenario.cost_by_item[action.item_id]
                for action in event.actions
                if isinstance(action, Reschedule)
            )
            calendars[agent] = event.calendar
            costs[agent] += event.cost
        elif isinstance(event, MessageSent):
            sent[event.from_agent] += 1
    final = trace.final_state
    assert final.calendars == tuple(calendars)
    assert final.cost_by_agent == tuple(costs)
    assert final.messages_sent_by_agent == tuple(sent)
    assert trace.metrics.realised_cost == sum(costs)
    assert trace.metrics.messages == sum(sent)
    assert trace.metrics.rounds_scheduled == sum(o.coordinated for o in final.round_outcomes)


def _after(calendar: CalendarIds, actions: tuple[CalendarAction, ...]) -> CalendarIds:
    changed = list(calendar)
    for action in actions:
        if isinstance(action, Reschedule):
            assert changed[action.from_slot] == action.item_id
            changed[action.from_slot] = None
    for action in actions:
        if isinstance(action, Reschedule):
            assert changed[action.to_slot] is None
            changed[action.to_slot] = action.item_id
    for action in actions:
        if isinstance(action, Schedule):
            assert changed[action.slot] is None
            changed[action.slot] = action.meeting_id
    return tuple(changed)


def limits_are_kept(game: DrawnGame) -> None:
    """Sweeps, retries and messages stay within the limits; nobody speaks twice in a sweep."""
    trace = game.play()
    limits = game.config.limits
    messages: Counter[int] = Counter()
    turns: Counter[tuple[int, int, int]] = Counter()
    for event in trace.events:
        if isinstance(event, TurnStart):
            assert event.turn < limits.max_turns_per_round
            turns[event.round, event.turn, event.agent_id] += 1
        elif isinstance(event, DecideStart):
            assert event.attempt <= limits.decision_retries
        elif isinstance(event, MessageSent):
            messages[event.round] += 1
    assert set(turns.values()) <= {1}
    if limits.dm_cap is not None:
        assert all(count <= limits.dm_cap for count in messages.values())


def replay_gives_the_same_bytes(game: DrawnGame) -> None:
    trace = game.play()
    assert trace_bytes(replay(trace)) == trace_bytes(trace)


def trace_survives_its_file(game: DrawnGame) -> None:
    trace = game.play()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        size = write_trace(path, trace)
        data = path.read_bytes()
        read = read_trace(path)
    assert len(data) == size
    assert read == trace
    assert trace_bytes(read) == data
    assert trace_bytes(replay(read)) == data


def drivers_play_the_same_game(game: DrawnGame) -> None:
    agents = [Slow(policy) for policy in game.policies]
    waited = asyncio.run(run_async(game.scenario, game.config, agents))
    assert trace_bytes(waited) == trace_bytes(game.play())


def total_excess_is_never_negative(game: DrawnGame) -> None:
    """Of one agent it may be; its parts add up, and part of a loss is no more than the whole."""
    score = score_game(game.play())
    assert score.excess_cost >= 0
    for agent in score.agents:
        assert 0 <= agent.scheduled <= agent.assigned
        assert agent.cost - agent.oracle_cost == agent.excess_cost
        assert 0 <= (agent.vps_participants or 0) <= (agent.vps or 0)
        assert 0 <= (agent.excess_vps_participants or 0) <= (agent.excess_vps or 0)


LAWS: tuple[Callable[[DrawnGame], None], ...] = (
    observations_do_not_depend_on_accounting_costs,
    observations_hold_only_what_their_agent_may_know,
    moving_conserves_items,
    rejected_turns_change_nothing,
    calendars_change_only_by_applied_batches,
    limits_are_kept,
    replay_gives_the_same_bytes,
    trace_survives_its_file,
    drivers_play_the_same_game,
    total_excess_is_never_negative,
)
