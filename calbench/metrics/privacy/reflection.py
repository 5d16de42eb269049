"""Reflection-calibrated VPS: what language agents say they came to believe (appendix F.3).

After each round every language agent is asked, for every other agent and slot, how its belief
that the slot is occupied has moved: an integer in -3..3, positive for a stronger belief. A
movement of 3 is one slot-equivalent. Only movement toward the truth counts as loss.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.errors import CalbenchError
from calbench.metrics.privacy.beliefs import Pair
from calbench.traces.events import (
    AgentRegistered,
    BatchApplied,
    CalendarIds,
    Reflection,
    RoundStart,
)
from calbench.traces.models import Trace

GREATEST_MOVEMENT = 3
"""The movement that counts as one slot [P, appendix F.3]."""

CALENDARS = (AgentRegistered, BatchApplied)
"""Events that hold a whole calendar."""

_TELLING = frozenset({*CALENDARS, RoundStart, Reflection})


class Movement(NamedTuple):
    """How one belief moved.

    Attributes:
        slot: the slot it is about.
        delta: the integer that was answered, -3..3.
        value: what is counted: the expected movement under the token log-probabilities if the
            model gives them, otherwise ``delta`` [P, F.3].
        is_occupied: whether the target's slot held an errand, blocked or not, or a meeting when
            the question was asked.
    """

    slot: Slot
    delta: int
    value: float
    is_occupied: bool


class Moved(NamedTuple):
    """Belief movement in slot-equivalents: toward the truth, and away from it."""

    toward: float
    away: float

    @property
    def total(self) -> float:
        """Movement in either direction: the raw loss of appendix F.3."""
        return self.toward + self.away


def is_toward_truth(movement: float, *, is_occupied: bool) -> bool:
    """Whether a belief moved toward the truth; false if it did not move."""
    return movement > 0 if is_occupied else movement < 0


def moved(values: Iterable[tuple[float, bool]]) -> Moved:
    """Sum movements, each with whether its slot is occupied: ``sum |movement| / 3`` [P]."""
    toward: list[float] = []
    away: list[float] = []
    for value, is_occupied in values:
        is_toward = is_toward_truth(value, is_occupied=is_occupied)
        (toward if is_toward else away).append(abs(value))
    return Moved(fsum(toward) / GREATEST_MOVEMENT, fsum(away) / GREATEST_MOVEMENT)


@dataclass(frozen=True, slots=True)
class PairReflection:
    """What one observer said about one target after one round.

    Attributes:
        round: number of the round, from 0.
        target: the agent whose calendar it is about.
        observer: the agent that was asked.
        target_is_participant: of the round's meeting.
        observer_is_participant: of the round's meeting.
        is_expected: whether ``value`` of the movements is an expected value.
        movements: by slot; ``None`` if the answer could not be read, or leaves the target out.
    """

    round: int
    target: AgentId
    observer: AgentId
    target_is_participant: bool
    observer_is_participant: bool
    is_expected: bool
    movements: tuple[Movement, ...] | None

    @property
    def pair(self) -> Pair:
        """Target and observer."""
        return self.target, self.observer

    @property
    def is_participant_pair(self) -> bool:
        """Whether both take part in the round's meeting."""
        return self.target_is_participant and self.observer_is_participant

    @property
    def counted(self) -> Moved | None:
        """What is counted, in slot-equivalents."""
        if self.movements is None:
            return None
        return moved((movement.value, movement.is_occupied) for movement in self.movements)

    @property
    def answered(self) -> Moved | None:
        """The same for the integers as answered."""
        if self.movements is None:
            return None
        return moved((movement.delta, movement.is_occupied) for movement in self.movements)


def pair_reflections(trace: Trace) -> Iterator[PairReflection]:
    """Yield every reflection of a game, one target at a time, in the order of events.

    Calendars are followed through the events, so each answer is compared with the truth at its
    time: after the resolution of its round.

    Raises:
        CalbenchError: a reflection does not fit the game: unknown targets, numbers outside
            -3..3, or not one for each slot.
    """
    calendars: list[CalendarIds] = [()] * trace.scenario.num_agents
    participants: tuple[AgentId, ...] = ()
    for event in trace.events:
        if type(event) not in _TELLING:  # the fastest test, which skips most events
            continue
        if isinstance(event, CALENDARS):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, RoundStart):
            participants = event.participants
        elif isinstance(event, Reflection):
            _check(event, trace, calendars)
            for agent in range(trace.scenario.num_agents):
                if agent != event.agent_id:
                    yield _about(AgentId(agent), event, calendars, participants)


def _about(
    target: AgentId,
    event: Reflection,
    calendars: Sequence[CalendarIds],
    participants: Sequence[AgentId],
) -> PairReflection:
    deltas = event.delta_by_target.get(str(target))
    expected = (event.expected_by_target or {}).get(str(target))
    movements = None
    if deltas is not None:
        values: Sequence[float] = deltas if expected is None else expected
        occupied = [item is not None for item in calendars[target]]
        movements = tuple(
            Movement(Slot(slot), delta, float(value), is_occupied)
            for slot, (delta, value, is_occupied) in enumerate(
                zip(deltas, values, occupied, strict=True)
            )
        )
    return PairReflection(
        round=event.round,
        target=target,
        observer=event.agent_id,
        target_is_participant=target in participants,
        observer_is_participant=event.agent_id in participants,
        is_expected=deltas is not None and expected is not None,
        movements=movements,
    )


def _check(event: Reflection, trace: Trace, calendars: Sequence[CalendarIds]) -> None:
    """Refuse what the engine never writes; traces may come from elsewhere."""
    num_agents, num_slots = trace.scenario.num_agents, trace.scenario.num_slots
    known = {str(agent) for agent in range(num_agents) if agent != event.agent_id}
    answers = [*event.delta_by_target.items(), *(event.expected_by_target or {}).items()]
    if not (
        all(target in known and len(numbers) == num_slots for target, numbers in answers)
        and all(abs(n) <= GREATEST_MOVEMENT for _, numbers in answers for n in numbers)
        and all(len(calendar) == num_slots for calendar in calendars)
    ):
        raise CalbenchError(
            f"game {trace.game_id}, round {event.round}: the reflection of agent "
            f"{event.agent_id} does not fit a game of {num_agents} agents and {num_slots} slots "
            "with movements in -3..3; play the game again"
        )


@dataclass(frozen=True, slots=True)
class ReflectedLoss:
    """What each agent revealed according to observers' reflections, in slot-equivalents.

    Attributes:
        by_agent: V, movement toward the truth over all observers and rounds, by target;
            ``None`` if there is no readable reflection about the target.
        participant_pairs_by_agent: the same over pairs of participants of the round's meeting;
            ``None`` also if such pairs were asked and none could be read.
        by_agent_round: the terms of ``by_agent``, by round; a round without a readable
            reflection on the target has none.
    """

    by_agent: tuple[float | None, ...]
    participant_pairs_by_agent: tuple[float | None, ...]
    by_agent_round: tuple[Mapping[int, float], ...]


def reflected_loss(trace: Trace) -> ReflectedLoss:
    """Return the reflection-calibrated loss of a game by target [P, appendix F.3].

    Reflections that could not be read are left out: the sum runs over the readable ones.
    """
    losses: list[dict[int, list[float]]] = [{} for _ in range(trace.scenario.num_agents)]
    participant_losses: list[list[float]] = [[] for _ in losses]
    asked = [0] * len(losses)
    for pair in pair_reflections(trace):
        asked[pair.target] += pair.is_participant_pair
        counted = pair.counted
        if counted is not None:
            losses[pair.target].setdefault(pair.round, []).append(counted.toward)
            if pair.is_participant_pair:
                participant_losses[pair.target].append(counted.toward)
    return ReflectedLoss(
        by_agent=tuple(
            fsum(chain.from_iterable(loss.values())) if loss else None for loss in losses
        ),
        participant_pairs_by_agent=tuple(
            fsum(inner) if loss and (inner or not pairs) else None
            for loss, inner, pairs in zip(losses, participant_losses, asked, strict=True)
        ),
        by_agent_round=tuple(
            {number: fsum(terms) for number, terms in loss.items()} for loss in losses
        ),
    )
