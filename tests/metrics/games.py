"""Games for tests of metrics and tables: scripted agents, random ones, and known teams."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from calbench.domain.actions import (
    PASS,
    Action,
    BroadcastMessage,
    DirectMessage,
    Schedule,
    Turn,
)
from calbench.domain.calendars import Calendar, free_slots
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CHANNELS, Channel, Content
from calbench.domain.observations import Observation, Phase
from calbench.domain.randomness import Stream, stream
from calbench.engine.drivers import run
from calbench.protocols.base import Policy, own_meeting
from calbench.protocols.imap import own_report
from calbench.protocols.registry import build_policy
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.events import Event, Outcome, Resolution
from calbench.traces.models import Trace
from tests.engine import scripts
from tests.engine.scripts import game_config

Script = dict[scripts.Ask, Sequence[Action]]
"""What an agent does at a moment; at others it passes."""

Scripted, move, book = scripts.Script, scripts.move, scripts.book


class RandomLegal:
    """Tells its costs now and then, moves things about, and often agrees with the others."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def act(self, observation: Observation) -> Turn:
        place = (observation.round_index, observation.turn_index, observation.attempt)
        chance = stream(self._seed, observation.agent_id, observation.phase, *place)
        if observation.phase is Phase.CHEAP_TALK:
            talks = observation.turn_index == 0 and chance.below(2) == 0
            return Turn((BroadcastMessage(content=own_report(observation)),)) if talks else PASS
        if observation.phase is Phase.VOLUNTARY:
            return Turn(_random_moves(observation.calendar, chance))
        meeting = own_meeting(observation)
        if meeting is None:
            return PASS
        common = stream(self._seed, "common slot", *place)
        slot = Slot((common if chance.below(8) else chance).below(len(observation.calendar)))
        return Turn(
            (
                *_clearing_moves(observation.calendar, slot, chance),
                Schedule(meeting_id=meeting.meeting_id, slot=slot),
            )
        )


def _clearing_moves(calendar: Calendar, slot: Slot, chance: Stream) -> tuple[Action, ...]:
    item = calendar[slot]
    free = list(free_slots(calendar))
    if item is None or not item.is_movable or not free:
        return ()
    return (move(item.item_id, slot, chance.choice(free)),)


def _random_moves(calendar: Calendar, chance: Stream) -> tuple[Action, ...]:
    return _clearing_moves(calendar, Slot(chance.below(len(calendar))), chance)


def dm(to: int, content: Content) -> DirectMessage:
    return DirectMessage(to=AgentId(to), content=content)


def talk(*actions: Action, round_index: int = 0) -> Script:
    """Say all of this in the first turn of a round."""
    return {scripts.talk(round_index=round_index): actions}


def decide(*actions: Action, round_index: int = 0) -> Script:
    """Submit one batch in a round's decision."""
    return {scripts.decide(round_index=round_index): actions}


def play_scripts(scenario: Scenario, lines: Mapping[int, Script], team: str = "test") -> Trace:
    """Play a game in which agents without a script stay silent; nobody may retry."""
    return scripts.play_scripts(scenario, lines, game_config(team, retries=0)).trace


def play_team(scenario: Scenario, team: str, channels: tuple[Channel, ...] = CHANNELS) -> Trace:
    """Play a game of one registered policy in every seat."""
    policies = [known_policy(team)] * scenario.num_agents
    return run(scenario, game_config(team, channels), policies)


def known_policy(name: str) -> Policy:
    """Return a registered policy."""
    policy = build_policy(name, {})
    assert policy is not None
    return policy


def play_random(scenario: Scenario, seed: int) -> Trace:
    policies: list[Policy] = [RandomLegal(seed)] * scenario.num_agents
    return run(scenario, game_config("random"), policies)


def canonical_scenario(seed: int, scenario_id: str = "uniform-000", **changes: int) -> Scenario:
    """Draw a scenario of the paper's default size: 5 agents, 5 meetings of 3, 16 slots."""
    parameters = ScenarioParameters(
        num_agents=5,
        num_slots=16,
        num_meetings=5,
        participants_per_meeting=3,
        density=0.6,
        blocked=2,
        **changes,
    )
    return sample_scenario(parameters, seed=seed, scenario_id=scenario_id, setting="uniform")


def with_outcome(trace: Trace, outcome: Outcome) -> Trace:
    """Return the game with its first resolution ended otherwise."""
    events: list[Event] = list(trace.events)
    index, first = next((i, e) for i, e in enumerate(events) if isinstance(e, Resolution))
    events[index] = replace(first, outcome=outcome, coordinated=outcome == "scheduled")
    return trace.model_copy(update={"events": tuple(events)})
