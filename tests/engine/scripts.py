"""Hand-written games: agents that do given things at given moments and note what they saw."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from calbench.domain.actions import (
    Action,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    Reschedule,
    Schedule,
    SealedReport,
    Turn,
)
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import CHANNELS, Channel, CostReport, Text
from calbench.domain.observations import Observation, Phase
from calbench.engine.drivers import run
from calbench.scenarios.models import Scenario
from calbench.traces.events import Event, TurnStart
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace

E = TypeVar("E", bound=Event)


class Ask(NamedTuple):
    """When an agent is asked: ``number`` is the sweep of the talk, or the attempt."""

    round_index: int
    phase: Phase
    number: int


def talk(sweep: int = 0, *, round_index: int = 0) -> Ask:
    return Ask(round_index, Phase.CHEAP_TALK, sweep)


def volunteer(*, round_index: int = 0) -> Ask:
    return Ask(round_index, Phase.VOLUNTARY, 0)


def decide(attempt: int = 0, *, round_index: int = 0) -> Ask:
    return Ask(round_index, Phase.DECISION, attempt)


def ask_of(observation: Observation) -> Ask:
    number = observation.turn_index + observation.attempt
    return Ask(observation.round_index, observation.phase, number)


def dm(to: int, text: str = "Hello") -> DirectMessage:
    return DirectMessage(to=AgentId(to), content=Text(text=text))


def group(text: str = "Hello") -> ParticipantMessage:
    return ParticipantMessage(content=Text(text=text))


def broadcast(text: str = "Hello") -> BroadcastMessage:
    return BroadcastMessage(content=Text(text=text))


def seal(*costs: int | None) -> SealedReport:
    """Return a vector for the mediator, by default of four free slots."""
    vector = costs or (0, 0, 0, 0)
    slots = tuple(Slot(slot) for slot in range(len(vector)))
    return SealedReport(content=CostReport(slots=slots, costs=vector))


def move(
    item_id: int, from_slot: int, to_slot: int, justification: str = "Room for M1"
) -> Reschedule:
    return Reschedule(
        item_id=ErrandId(item_id),
        from_slot=Slot(from_slot),
        to_slot=Slot(to_slot),
        justification=justification,
    )


def book(meeting_id: int, slot: int) -> Schedule:
    return Schedule(meeting_id=MeetingId(meeting_id), slot=Slot(slot))


Lines = Mapping[Ask, Sequence[Action]]


class Script:
    """Does what its lines say at each moment, and nothing at any other."""

    def __init__(self, lines: Lines | None = None) -> None:
        self._lines = lines or {}
        self.seen: list[Observation] = []

    def act(self, observation: Observation) -> Turn:
        self.seen.append(observation)
        return Turn(tuple(self._lines.get(ask_of(observation), ())))


def altered(event: Any, **fields: Any) -> Event:
    result: Event = replace(event, **fields)
    return result


def books(meeting_by_round: Iterable[tuple[int, int]]) -> dict[Ask, Sequence[Action]]:
    """Schedule, in rounds 0, 1, ..., each (meeting, slot) at the first attempt."""
    return {
        decide(round_index=index): [book(meeting, slot)]
        for index, (meeting, slot) in enumerate(meeting_by_round)
    }


def game_config(
    team: str = "scripted",
    channels: Sequence[Channel] = CHANNELS,
    *,
    max_turns: int = 15,
    retries: int = 3,
    cap: int | None = None,
    mediator: bool = False,
    private_chance: bool = False,
) -> GameConfig:
    seat = Seat(player=team, kind="protocol", private_chance=private_chance)
    return GameConfig(
        team=Team(team_id=team, seats=(seat,), mediator=mediator),
        channels=tuple(channels),
        limits=Limits(max_turns_per_round=max_turns, decision_retries=retries, dm_cap=cap),
    )


@dataclass(frozen=True)
class Game:
    """A finished game with everybody's view of it."""

    trace: Trace
    scripts: tuple[Script, ...]

    def seen(self, agent: int, ask: Ask) -> Observation:
        """Return what an agent saw at a moment at which it was asked exactly once."""
        (observation,) = [o for o in self.scripts[agent].seen if ask_of(o) == ask]
        return observation

    def was_asked(self, agent: int, ask: Ask) -> bool:
        return any(ask_of(observation) == ask for observation in self.scripts[agent].seen)

    def asks(self, agent: int, phase: Phase) -> list[tuple[int, int]]:
        """Return (round, sweep or attempt) of each time an agent was asked in a phase."""
        places = [ask_of(observation) for observation in self.scripts[agent].seen]
        return [(place.round_index, place.number) for place in places if place.phase is phase]

    def speakers(self, round_index: int = 0) -> list[list[int]]:
        """Return who spoke in each sweep of a round, in order."""
        sweeps: list[list[int]] = []
        for start in self.events(TurnStart, lambda e: e.round == round_index):
            if start.turn == len(sweeps):
                sweeps.append([])
            sweeps[start.turn].append(start.agent_id)
        return sweeps

    def events(self, kind: type[E], keep: Callable[[E], bool] = lambda _: True) -> list[E]:
        return [event for event in self.trace.events if isinstance(event, kind) and keep(event)]


def play_scripts(
    scenario: Scenario, lines_by_agent: Mapping[int, Lines], config: GameConfig | None = None
) -> Game:
    """Play a game; agents without lines pass whenever they are asked."""
    scripts = tuple(Script(lines_by_agent.get(agent)) for agent in range(scenario.num_agents))
    return Game(run(scenario, config or game_config(), scripts), scripts)
