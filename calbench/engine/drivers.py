"""Who brings the answers: pure policies, agents that may wait, or a recorded trace."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Protocol

from calbench.domain.actions import Turn
from calbench.domain.ids import AgentId
from calbench.domain.observations import Observation
from calbench.domain.replies import Reply
from calbench.engine.game import play
from calbench.engine.talk import Asks
from calbench.errors import ReplayError
from calbench.protocols.base import Policy
from calbench.scenarios.models import Scenario
from calbench.traces.events import DecideEnd, DecideStart, Event, TurnEnd, TurnStart
from calbench.traces.models import GameConfig, Trace


class Agent(Protocol):
    """A player that may wait, such as a language model."""

    async def act(self, observation: Observation) -> Reply:
        """Return the turn with its provenance."""
        ...


class PolicyAgent:
    """Seats a pure policy where agents are expected."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def act(self, observation: Observation) -> Reply:
        """Answer at once."""
        return Reply(self._policy.act(observation))


def run(scenario: Scenario, config: GameConfig, policies: Sequence[Policy]) -> Trace:
    """Play a game of pure policies, without an event loop.

    Args:
        scenario: what the game is about.
        config: what defines it beside the scenario.
        policies: one for each agent, by agent id.
    """
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
    """Play a game of agents that may wait; those asked together answer concurrently."""
    game = play(scenario, config)
    try:
        asks = next(game)
        while True:
            asked = list(asks)
            replies = await asyncio.gather(*(agents[a].act(asks[a]) for a in asked))
            asks = game.send(dict(zip(asked, replies, strict=True)))
    except StopIteration as end:
        trace: Trace = end.value
        return trace


def replay(recorded: Trace) -> Trace:
    """Feed a trace's recorded turns through the engine; the same trace must come out.

    Raises:
        ReplayError: naming the first event that differs, or the turn that is missing.
    """
    replies = _recorded_replies(recorded.events)
    game = play(recorded.scenario, recorded.config)
    try:
        asks = next(game)
        while True:
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


def _recorded_replies(events: Iterable[Event]) -> dict[AgentId, deque[Reply]]:
    replies: dict[AgentId, deque[Reply]] = defaultdict(deque)
    prompt: str | None = None
    for event in events:
        if isinstance(event, TurnStart | DecideStart):
            prompt = event.prompt
        elif isinstance(event, TurnEnd | DecideEnd):
            turn = Turn(event.actions, event.thinking)
            reply = Reply(turn, prompt, event.usage, event.reply_keys)
            replies[event.agent_id].append(reply)
    return replies


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
