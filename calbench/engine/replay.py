"""A recorded game played again: its turns are given, the rules do the rest."""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Sequence

from calbench.agents.base import Agent
from calbench.agents.recorded import RecordedAgent
from calbench.domain.actions import PASS, Turn
from calbench.domain.ids import AgentId
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.engine.drivers import at_once, driven
from calbench.engine.game import HaltedError, briefings, play
from calbench.engine.talk import Answers, Asks
from calbench.errors import ReplayError, ReplayMissError
from calbench.files import shorten
from calbench.traces.events import (
    AgentRegistered,
    ChancesStated,
    DecideEnd,
    DecideStart,
    Event,
    GameHalted,
    Reflection,
    ReplyNote,
    TurnEnd,
    TurnStart,
)
from calbench.traces.models import Trace


def replay(recorded: Trace) -> Trace:
    """Play a trace's recorded turns again; the result must be the same trace.

    Raises:
        ReplayError: naming the first event that differs, or the turn that is missing.
    """
    agents = recorded_agents(recorded)
    trace = replay_with(recorded, list(agents.values()))
    for agent, one in agents.items():
        if one.replies:
            raise ReplayError(f"agent {agent}: {len(one.replies)} recorded turns were never asked")
    compare_events(recorded.events, trace.events)
    return trace


def recorded_agents(recorded: Trace) -> dict[AgentId, RecordedAgent]:
    """Return agents that repeat what a trace says of them, by agent id.

    Raises:
        ReplayError: if not every agent is registered exactly once.
    """
    replies = recorded_replies(recorded.events)
    prompts = [e.system_prompt for e in recorded.events if isinstance(e, AgentRegistered)]
    if len(prompts) != recorded.scenario.num_agents:
        raise ReplayError(f"{len(prompts)} agents are registered, not every one exactly once")
    return {
        AgentId(agent): RecordedAgent(prompt, replies[AgentId(agent)])
        for agent, prompt in enumerate(prompts)
    }


def replay_with(
    recorded: Trace, agents: Sequence[Agent], tireless: Collection[AgentId] = ()
) -> Trace:
    """Play a recorded game again with agents in its seats.

    Args:
        recorded: the game. Where an agent gave no further answer in it, the game is halted again.
        agents: one for each place, by agent id; none of them waits.
        tireless: agents that always answer, and so never halt a game.

    Raises:
        ReplayError: a turn is missing, or an agent has an answer where the game was halted.
    """
    replies = recorded_replies(recorded.events)
    halted = next((e for e in recorded.events if isinstance(e, GameHalted)), None)
    turns = Counter({agent: len(found) for agent, found in replies.items()})
    told = briefings(recorded.scenario, recorded.config)
    prompts = [agent.introduce(briefing) for agent, briefing in zip(agents, told, strict=True)]
    game = play(recorded.scenario, recorded.config, system_prompts=prompts)

    def answered(asks: Asks) -> Answers | HaltedError:
        last = None if halted is None else halted.agent_id
        if halted is not None and last in asks and not turns[last] and last not in tireless:
            return _halt(halted, agents, asks)  # it is asked for the answer that it never gave
        for agent in asks:
            turns[agent] -= 1
        return at_once(agents, asks)

    try:
        return driven(game, answered)
    except ReplayMissError as error:
        raise ReplayError(str(error)) from error


def _halt(halted: GameHalted, agents: Sequence[Agent], asks: Asks) -> HaltedError:
    """Return the recorded halt, if the agent has no answer now either."""
    observation = asks[halted.agent_id]
    try:
        at_once(agents, {halted.agent_id: observation})
    except ReplayMissError:
        return HaltedError(observation, halted.reason, halted.detail)
    raise ReplayError(
        f"round {observation.round_index}, {observation.phase}: the game was halted here, but "
        f"the reply of agent {halted.agent_id} is recorded"
    )


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
            one, other = (shorten(ascii(value), 80) for value in (recorded, replayed))
            return f"{name}: recorded {one}, replayed {other}"
    return "the events differ"


def recorded_replies(events: Sequence[Event]) -> dict[AgentId, deque[Reply]]:
    """Collect each agent's turns; a note after a turn says how its reply was read."""
    replies: dict[AgentId, deque[Reply]] = defaultdict(deque)
    prompt: str | None = None
    chances: dict[str, tuple[int, ...]] | None = None
    for index, event in enumerate(events):
        if isinstance(event, TurnStart | DecideStart):
            prompt = event.prompt
        elif isinstance(event, TurnEnd | DecideEnd):
            turn = Turn(event.actions, event.thinking)
            unreadable, recovered = _reading(events, index)
            reply = Reply(turn, prompt, event.usage, event.reply_keys, unreadable, recovered)
            replies[event.agent_id].append(reply)
        elif isinstance(event, ChancesStated):
            chances = event.occupied_by_target
        elif isinstance(event, Reflection):
            unreadable, recovered = _reading(events, index)
            beliefs = None
            if unreadable is None:
                beliefs = Beliefs(event.delta_by_target, event.expected_by_target, chances)
            chances = None
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
