"""Reflection-calibrated VPS: what language agents say they came to believe (appendix F.3).

After each round every language agent is asked, for every other agent and slot, how its belief
that the slot is occupied has moved: an integer in -3..3, positive for a stronger belief. A
movement of 3 is one slot-equivalent. Only movement toward the truth counts as loss.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.replies import CERTAIN
from calbench.errors import CalbenchError
from calbench.metrics.privacy.answers import GREATEST_MOVEMENT, Tally, chance_losses, constant_loss
from calbench.metrics.privacy.loss import AgentLoss, Pair, VpsKind
from calbench.traces.events import (
    AgentRegistered,
    BatchApplied,
    CalendarIds,
    ChancesStated,
    Reflection,
    Resolution,
    RoundStart,
)
from calbench.traces.models import Trace

__all__ = [
    "GREATEST_MOVEMENT",
    "Moved",
    "PairReflection",
    "is_toward_truth",
    "moved",
    "pair_reflections",
    "reflected_losses",
]

CALENDARS = (AgentRegistered, BatchApplied)
"""Events that hold a whole calendar."""

_TELLING = frozenset({*CALENDARS, RoundStart, Resolution, ChancesStated, Reflection})


class Moved(NamedTuple):
    """Belief movement in slot-equivalents: toward the truth, and away from it."""

    toward: float
    away: float

    @property
    def total(self) -> float:
        """Movement in either direction: the raw loss of appendix F.3."""
        return self.toward + self.away


STILL = Moved(0.0, 0.0)
"""Of a belief that did not move."""

_STEPS = frozenset(range(-GREATEST_MOVEMENT, GREATEST_MOVEMENT + 1))


def is_toward_truth(movement: float, *, is_occupied: bool) -> bool:
    """Whether a belief moved toward the truth; false if it did not move."""
    return movement > 0 if is_occupied else movement < 0


def moved(values: Sequence[float], occupied: Sequence[bool]) -> Moved:
    """Sum movements: ``sum |movement| / 3`` [P].

    Args:
        values: movements by slot.
        occupied: the truth, by slot.
    """
    if not any(values):
        return STILL
    toward: list[float] = []
    away: list[float] = []
    for value, is_occupied in zip(values, occupied, strict=True):
        if value:
            (toward if (value > 0) is is_occupied else away).append(abs(value))
    return Moved(fsum(toward) / GREATEST_MOVEMENT, fsum(away) / GREATEST_MOVEMENT)


@dataclass(frozen=True)
class PairReflection:
    """What one observer said about one target after one round.

    Attributes:
        round: number of the round, from 0.
        target: the agent whose calendar it is about.
        observer: the agent that was asked.
        target_is_participant: of the round's meeting.
        observer_is_participant: of the round's meeting.
        occupied: by slot, whether it held an errand, blocked or not, or a meeting of the target
            when the question was asked.
        agreed_slot: of the round's meeting, if it was scheduled and is the target's.
        deltas: the integers that were answered, -3..3 by slot; ``None`` if the answer could not
            be read, or leaves the target out.
        expected: of a readable answer, the expected movements under the token log-probabilities
            if the model gives them.
        chances: in percent by slot, as stated beside it, that the slot is occupied; ``None`` if
            none were asked for, or the list about the target could not be read.
        by_chance: of a readable answer, the mean loss over all permutations of what the observer
            answered after the round, see :func:`~calbench.metrics.privacy.answers.chance_losses`.
    """

    round: int
    target: AgentId
    observer: AgentId
    target_is_participant: bool
    observer_is_participant: bool
    occupied: tuple[bool, ...]
    agreed_slot: Slot | None
    deltas: tuple[int, ...] | None
    expected: tuple[float, ...] | None
    chances: tuple[int, ...] | None = None
    by_chance: float | None = None

    @property
    def pair(self) -> Pair:
        """Target and observer."""
        return self.target, self.observer

    @property
    def is_participant_pair(self) -> bool:
        """Whether both take part in the round's meeting."""
        return self.target_is_participant and self.observer_is_participant

    @property
    def values(self) -> Sequence[float] | None:
        """The movements that count: expected ones if there are any, else integers [P, F.3]."""
        return self.deltas if self.expected is None else self.expected

    @cached_property
    def counted(self) -> Moved | None:
        """The movements that are counted, in slot-equivalents."""
        return None if self.values is None else moved(self.values, self.occupied)

    @property
    def answered(self) -> Moved | None:
        """The same for the integers as answered."""
        if self.expected is None or self.deltas is None:
            return self.counted
        return moved(self.deltas, self.occupied)

    @property
    def agreed(self) -> float | None:
        """What of the loss is about the slot that both agreed on in the round [C]."""
        if self.values is None:
            return None
        if self.agreed_slot is None or not self.is_participant_pair:
            return 0.0
        slot = self.agreed_slot
        return moved([self.values[slot]], [self.occupied[slot]]).toward


@dataclass(slots=True)
class _Truth:
    """The state of a game at some moment.

    Attributes:
        calendars: by agent id.
        participants: of the round's meeting.
        slots: where the participants have it, if it was scheduled.
        stated: chances without their reflection, which follows.
    """

    calendars: list[CalendarIds]
    participants: tuple[AgentId, ...] = ()
    slots: Mapping[str, Slot | None] = field(default_factory=dict)
    stated: ChancesStated | None = None


def pair_reflections(trace: Trace) -> Iterator[PairReflection]:
    """Yield every reflection of a game, one target at a time, in the order of events.

    Calendars are followed through the events, so each answer is compared with the truth at its
    time: after the resolution of its round.

    Raises:
        CalbenchError: a reflection does not fit the game: unknown targets, numbers outside
            -3..3, chances outside 0..100, or not one for each slot.
    """
    truth = _Truth([()] * trace.scenario.num_agents)
    for event in trace.events:
        if type(event) not in _TELLING:  # the fastest test, which skips most events
            continue
        if isinstance(event, CALENDARS):
            truth.calendars[event.agent_id] = event.calendar
        elif isinstance(event, RoundStart):
            truth.participants, truth.slots = event.participants, {}
        elif isinstance(event, Resolution):
            truth.slots = event.slot_by_agent if event.outcome == "scheduled" else {}
        elif isinstance(event, ChancesStated):
            truth.stated = event
        elif isinstance(event, Reflection):
            stated, truth.stated = truth.stated, None
            is_own = stated is not None and stated.agent_id == event.agent_id
            chances = stated.occupied_by_target if stated is not None and is_own else {}
            _check(event, chances, trace, truth.calendars)
            agents = map(AgentId, range(trace.scenario.num_agents))
            others = [agent for agent in agents if agent != event.agent_id]
            yield from _with_chance([_about(agent, event, chances, truth) for agent in others])


def _about(
    target: AgentId, event: Reflection, chances: Mapping[str, tuple[int, ...]], truth: _Truth
) -> PairReflection:
    deltas = event.delta_by_target.get(str(target))
    expected = (event.expected_by_target or {}).get(str(target))
    return PairReflection(
        round=event.round,
        target=target,
        observer=event.agent_id,
        target_is_participant=target in truth.participants,
        observer_is_participant=event.agent_id in truth.participants,
        occupied=tuple([item is not None for item in truth.calendars[target]]),
        agreed_slot=truth.slots.get(str(target)),
        deltas=deltas,
        expected=None if deltas is None else expected,
        chances=chances.get(str(target)),
    )


def _with_chance(answer: Sequence[PairReflection]) -> Iterator[PairReflection]:
    """Yield the parts of one answer with what each loses by chance."""
    read = [(pair.values, pair.occupied) for pair in answer if pair.values is not None]
    losses = iter(chance_losses(read))
    for pair in answer:
        yield pair if pair.values is None else replace(pair, by_chance=next(losses))


def _check(
    event: Reflection,
    chances: Mapping[str, Sequence[int]],
    trace: Trace,
    calendars: Sequence[CalendarIds],
) -> None:
    """Refuse what the engine never writes; traces may come from elsewhere."""
    num_agents, num_slots = trace.scenario.num_agents, trace.scenario.num_slots
    known = {str(agent) for agent in range(num_agents) if agent != event.agent_id}
    answers = [*event.delta_by_target.items(), *(event.expected_by_target or {}).items()]
    if not (
        all(
            target in known and len(numbers) == num_slots
            for target, numbers in (*answers, *chances.items())
        )
        and all(
            _STEPS.issuperset(numbers) or all(abs(n) <= GREATEST_MOVEMENT for n in numbers)
            for _, numbers in answers
        )
        and all(0 <= n <= CERTAIN for numbers in chances.values() for n in numbers)
        and all(len(calendar) == num_slots for calendar in calendars)
    ):
        raise CalbenchError(
            f"game {trace.game_id}, round {event.round}: the reflection of agent "
            f"{event.agent_id} does not fit a game of {num_agents} agents and {num_slots} slots "
            "with movements in -3..3 and chances in 0..100; play the game again"
        )


@dataclass(slots=True)
class _Told:
    """Terms about one target."""

    loss: Tally = field(default_factory=Tally)
    by_chance: Tally = field(default_factory=Tally)
    agreed: Tally = field(default_factory=Tally)
    constant: list[float] = field(default_factory=list)
    expected: set[bool] = field(default_factory=set)

    def add(self, pair: PairReflection) -> None:
        counted = pair.counted
        terms = (
            (self.loss, None if counted is None else counted.toward),
            (self.by_chance, pair.by_chance),
            (self.agreed, pair.agreed),
        )
        for tally, term in terms:
            tally.add(pair.round, term, is_participant_pair=pair.is_participant_pair)
        self.constant.append(constant_loss(pair.occupied))
        if counted is not None:
            self.expected.add(pair.expected is not None)

    @property
    def kind(self) -> VpsKind:
        """By expected values of all readable answers, of none, or of some of them."""
        if len(self.expected) > 1:
            return "mixed"
        return "expected" if True in self.expected else "reflection"

    @property
    def found(self) -> AgentLoss:
        total = self.loss.total
        is_known = total is not None
        return AgentLoss(
            kind=self.kind if is_known else None,
            total=total,
            participants=self.loss.of_participants if is_known else None,
            by_round=self.loss.by_round,
            agreed=self.agreed.total,
            by_chance=self.by_chance.total,
            constant=fsum(self.constant) if is_known else None,
            asked=self.loss.asked,
            read=self.loss.read,
        )


def reflected_losses(
    reflections: Iterable[PairReflection], num_agents: int
) -> tuple[AgentLoss, ...]:
    """Return the reflection-calibrated loss of a game, by target [P, appendix F.3]."""
    told = [_Told() for _ in range(num_agents)]
    for pair in reflections:
        told[pair.target].add(pair)
    return tuple(each.found for each in told)
