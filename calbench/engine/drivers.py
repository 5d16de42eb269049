"""Drivers of a game: pure policies, agents that may wait, or a recorded trace."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence

from calbench.agents.base import Agent
from calbench.domain.actions import PASS, Turn
from calbench.domain.ids import AgentId
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.engine.game import HaltedError, briefings, play
from calbench.engine.talk import Asks
from calbench.errors import AgentError, ReplayError, UnavailableError
from calbench.protocols.base import Policy
from calbench.scenarios.models import Scenario
from calbench.traces.events import (
    AgentRegistered,
    DecideEnd,
    DecideStart,
    Event,
    GameHalted,
    Reflection,
    ReplyNote,
    TurnEnd,
    TurnStart,
)
from calbench.traces.models import GameConfig, Trace


def run(scenario: Scenario, config: GameConfig, policies: Sequence[Policy]) -> Trace:
    """Play a game of pure policies, without an event loop.

    Args:
        scenario: of the game.
        config: of the game.
        policies: one for each agent, by agent id.

    Raises:
        AgentError: a policy from elsewhere raised, or returned something that is no turn.
    """
    try:
        return _run(scenario, config, policies)
    except AgentError as error:
        place = f"team {config.team.team_id}, scenario {scenario.scenario_id}"
        raise error.within(place) from error.__cause__


def _run(scenario: Scenario, config: GameConfig, policies: Sequence[Policy]) -> Trace:
    game = play(scenario, config)
    acts = [policy.act for policy in policies]
    try:
        asks = next(game)
        while True:
            answers = {}
            for agent, observation in asks.items():
                answers[agent] = Reply(acts[agent](observation))
            asks = game.send(answers)
    except StopIteration as end:
        trace: Trace = end.value
        return trace


async def run_async(scenario: Scenario, config: GameConfig, agents: Sequence[Agent]) -> Trace:
    """Play a game of agents that may wait; those asked together answer concurrently.

    An unavailable agent (:class:`UnavailableError`) ends the game, which is recorded. Any other
    exception is raised, and nothing of the game is kept.

    Raises:
        AgentError: the user's own code raised, or returned something that is not an answer.
    """
    try:
        return await _played(scenario, config, agents)
    except AgentError as error:
        place = f"team {config.team.team_id}, scenario {scenario.scenario_id}"
        raise error.within(place) from error.__cause__


async def _played(scenario: Scenario, config: GameConfig, agents: Sequence[Agent]) -> Trace:
    prompts = [
        agent.introduce(briefing)
        for agent, briefing in zip(agents, briefings(scenario, config), strict=True)
    ]
    game = play(scenario, config, system_prompts=prompts)
    try:
        asks = next(game)
        while True:
            answers = await _answers(agents, asks)
            asks = game.throw(answers) if isinstance(answers, HaltedError) else game.send(answers)
    except StopIteration as end:
        trace: Trace = end.value
        return trace


async def _answers(agents: Sequence[Agent], asks: Asks) -> dict[AgentId, Reply] | HaltedError:
    """Wait for all agents asked; of several unavailable ones, the lowest id halts the game.

    No agent is cancelled if another one fails: its reply may already be paid for.
    """
    asked = list(asks)
    if len(asked) == 1:
        agent = asked[0]
        try:
            return {agent: await agents[agent].act(asks[agent])}
        except UnavailableError as error:
            return HaltedError(asks[agent], error.reason, error.detail)
    outcomes = await asyncio.gather(
        *(agents[agent].act(asks[agent]) for agent in asked), return_exceptions=True
    )
    answers: dict[AgentId, Reply] = {}
    halted: HaltedError | None = None
    for agent, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, UnavailableError):
            halted = halted or HaltedError(asks[agent], outcome.reason, outcome.detail)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            answers[agent] = outcome
    return halted or answers


def replay(recorded: Trace) -> Trace:
    """Play a trace's recorded turns again; the result must be the same trace.

    Raises:
        ReplayError: naming the first event that differs, or the turn that is missing.
    """
    replies = _recorded_replies(recorded.events)
    halted = next((e for e in recorded.events if isinstance(e, GameHalted)), None)
    prompts = [e.system_prompt for e in recorded.events if isinstance(e, AgentRegistered)]
    if len(prompts) != recorded.scenario.num_agents:
        raise ReplayError(f"{len(prompts)} agents are registered, not every one exactly once")
    game = play(recorded.scenario, recorded.config, system_prompts=prompts)
    try:
        asks = next(game)
        while True:
            if halted is not None and halted.agent_id in asks and not replies[halted.agent_id]:
                observation = asks[halted.agent_id]
                asks = game.throw(HaltedError(observation, halted.reason, halted.detail))
            else:
                asks = game.send(_next_replies(asks, replies))
    except StopIteration as end:
        trace: Trace = end.value
    if any(replies.values()):
        agent = next(agent for agent, left in replies.items() if left)
        raise ReplayError(f"agent {agent}: {len(replies[agent])} recorded turns were never asked")
    compare_events(recorded.events, trace.events)
    return trace


def compare_events(recorded: Sequence[Event], played: Sequence[Event]) -> None:
    """Raise a :class:`ReplayError` that names the first event that differs."""
    for index, (theirs, ours) in enumerate(zip(recorded, played, strict=False)):
        if theirs != ours:
            raise ReplayError(f"event {index} ({theirs.type}): {_difference(theirs, ours)}")
    if len(recorded) != len(played):
        index = min(len(recorded), len(played))
        raise ReplayError(
            f"event {index}: the trace has {len(recorded)} events, the replay {len(played)}"
        )


def _difference(theirs: Event, ours: Event) -> str:
    if theirs.type != ours.type:
        return f"recorded {theirs.type}, replayed {ours.type}"
    for name in type(theirs).__dataclass_fields__:
        recorded, replayed = getattr(theirs, name), getattr(ours, name)
        if recorded != replayed:
            return f"{name}: recorded {_short(recorded)}, replayed {_short(replayed)}"
    return "the events differ"


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _recorded_replies(events: Sequence[Event]) -> dict[AgentId, deque[Reply]]:
    """Collect each agent's turns; a note after a turn says how its reply was read."""
    replies: dict[AgentId, deque[Reply]] = defaultdict(deque)
    prompt: str | None = None
    for index, event in enumerate(events):
        if isinstance(event, TurnStart | DecideStart):
            prompt = event.prompt
        elif isinstance(event, TurnEnd | DecideEnd):
            turn = Turn(event.actions, event.thinking)
            unreadable, recovered = _reading(events, index)
            reply = Reply(turn, prompt, event.usage, event.reply_keys, unreadable, recovered)
            replies[event.agent_id].append(reply)
        elif isinstance(event, Reflection):
            unreadable, recovered = _reading(events, index)
            beliefs = None
            if unreadable is None:
                beliefs = Beliefs(event.delta_by_target, event.expected_by_target)
            reply = Reply(
                PASS, event.prompt, event.usage, event.reply_keys, unreadable, recovered, beliefs
            )
            replies[event.agent_id].append(reply)
    return replies


def _reading(events: Sequence[Event], index: int) -> tuple[Unreadable | None, str | None]:
    """Return what the note right after a reply says: unreadable, recovered, or neither."""
    note = events[index + 1] if index + 1 < len(events) else None
    if not isinstance(note, ReplyNote) or note.kind == "prose_ignored":
        return None, None
    if note.kind == "recovered":
        return None, note.detail
    return Unreadable(note.kind, note.detail), None


def _next_replies(asks: Asks, replies: dict[AgentId, deque[Reply]]) -> dict[AgentId, Reply]:
    answers: dict[AgentId, Reply] = {}
    for agent, observation in asks.items():
        if not replies[agent]:
            raise ReplayError(
                f"round {observation.round_index}, {observation.phase}: "
                f"no recorded turn of agent {agent} is left"
            )
        answers[agent] = replies[agent].popleft()
    return answers
