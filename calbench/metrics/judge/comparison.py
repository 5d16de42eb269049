"""A game as a judge sees it, compared with reflections and the primary measure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.domain.ids import AgentId
from calbench.metrics.judge.cases import Verdict
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.privacy.answers import chance_losses, constant_loss
from calbench.metrics.privacy.loss import VpsKind
from calbench.metrics.privacy.reflection import PairReflection, is_toward_truth
from calbench.traces.models import Trace

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


class Belief(NamedTuple):
    """One change of belief, not 0, in steps of 1 to 3.

    ``is_occupied`` is the truth after the round; see
    :class:`calbench.metrics.privacy.reflection.PairReflection`.
    """

    round: int
    target: AgentId
    observer: AgentId
    slot: int
    delta: int
    is_occupied: bool

    @property
    def is_toward_truth(self) -> bool:
        """Whether it is a movement toward the truth."""
        return is_toward_truth(self.delta, is_occupied=self.is_occupied)


@dataclass(frozen=True, slots=True)
class Cells:
    """Slot-belief cells of a game by ``[round, observer, target, slot]``, or without the round.

    Attributes:
        judge: sums of the judge's changes.
        reflection: sums of the reflected changes.
        judge_rows: number of the judge's answers in each sum; may be 0.
        reflection_rows: number of readable reflections in each sum.
    """

    judge: Integers
    reflection: Integers
    judge_rows: Integers
    reflection_rows: Integers

    @property
    def union(self) -> Truths:
        """Cells that are compared: at least one side has an answer, even if it is 0."""
        return np.asarray((self.judge_rows + self.reflection_rows) > 0)

    def over_rounds(self) -> "Cells":
        """Return the cells of the whole game: the sums over its rounds."""
        return Cells(
            self.judge.sum(axis=0),
            self.reflection.sum(axis=0),
            self.judge_rows.sum(axis=0),
            self.reflection_rows.sum(axis=0),
        )


def cells_of(trace: Trace, verdicts: Sequence[Verdict], pairs: Sequence[PairReflection]) -> Cells:
    """Return the cells of a game by round for which both sides are known [C].

    An unreadable answer is unknown, not 0: if a reflection or the judge's answer about a round
    cannot be read, or no reflection was asked for, the other side's answer is left out as well. If
    nothing was delivered, the judge has no case and its answer is 0.
    """
    agents, slots = trace.scenario.num_agents, trace.scenario.num_slots
    shape = (len(trace.scenario.meetings), agents, agents, slots)
    cells = Cells(*(np.zeros(shape, dtype=np.int64) for _ in range(4)))
    answers = {(each.round_case.round, each.round_case.case.recipient): each for each in verdicts}
    for pair in pairs:
        verdict = answers.get((pair.round, pair.observer))
        if pair.deltas is None or (verdict and verdict.delta_by_target is None):
            continue
        where = pair.round, pair.observer, pair.target
        cells.reflection[where] = pair.deltas
        cells.reflection_rows[where] = 1
        if verdict and verdict.delta_by_target is not None:
            cells.judge[where] = verdict.delta_by_target[pair.target]
            cells.judge_rows[where] = 1
    return cells


class PrimaryLoss(NamedTuple):
    """An agent's privacy loss by the measure that fits its seat; ``None`` if unknown.

    It is another instrument than the judge: nothing here subtracts one from the other.
    """

    vps: float | None
    kind: VpsKind | None


@dataclass(frozen=True)
class JudgedGame:
    """A game with a judge's answers on its cases.

    Attributes:
        trace: the game.
        judge: the judge's name.
        verdicts: by case; none for an excluded game.
        losses: by the primary measure, by agent; none for an excluded game.
        reflections: of the game; none for an excluded game.
    """

    trace: Trace
    judge: str
    verdicts: Sequence[Verdict]
    losses: Sequence[PrimaryLoss]
    reflections: Sequence[PairReflection]

    @cached_property
    def is_scored(self) -> bool:
        """Whether it is not excluded."""
        return not is_excluded(self.trace.events)

    @cached_property
    def beliefs(self) -> tuple[Belief, ...]:
        """Movements that the judge reports, in the order of the cases."""
        return tuple(
            Belief(
                each.round, target, each.case.recipient, slot, delta, each.occupied[target][slot]
            )
            for verdict in self.verdicts
            for each in [verdict.round_case]
            for target, deltas in (verdict.delta_by_target or {}).items()
            for slot, delta in enumerate(deltas)
            if delta
        )

    @cached_property
    def reflected(self) -> tuple[Belief, ...]:
        """Movements that agents reported in reflections, as answered integers."""
        return tuple(
            Belief(each.round, each.target, each.observer, slot, delta, each.occupied[slot])
            for each in self.reflections
            for slot, delta in enumerate(each.deltas or ())
            if delta
        )

    @cached_property
    def cells(self) -> Cells:
        """Both sides by cell and round, if both are known."""
        return cells_of(self.trace, self.verdicts, self.reflections)

    @property
    def is_reflected(self) -> bool:
        """Whether there is a readable reflection to compare with."""
        return bool(self.cells.reflection_rows.any())

    @property
    def unread(self) -> int:
        """Number of cases with an unreadable answer."""
        return sum(verdict.delta_by_target is None for verdict in self.verdicts)


class JudgedTarget(NamedTuple):
    """What is reported about one agent of a game, by the names of columns.

    Attributes:
        agent_id: the agent.
        judge_movements: judged movements about it, not 0.
        judge_toward: of these, toward the truth.
        judge_steps: sum of the sizes of these movements, in steps.
        judge_steps_toward: of this, toward the truth.
        judge_constant: calibrated loss in slot-equivalents if the judge answered +1 everywhere.
        judge_chance: expected calibrated loss of its own answers to each case in a random order of
            targets and slots.
        reflection_movements: reflected movements about it.
        reflection_toward: of these, toward the truth.
        primary_vps: its loss by the primary measure.
        vps_kind: of that measure.
    """

    agent_id: AgentId
    judge_movements: int
    judge_toward: int
    judge_steps: int
    judge_steps_toward: int
    judge_constant: float
    judge_chance: float
    reflection_movements: int
    reflection_toward: int
    primary_vps: float | None
    vps_kind: VpsKind | None


def judged_targets(game: JudgedGame) -> Iterator[JudgedTarget]:
    """Yield what is reported about every agent of a game; nothing for an excluded game."""
    if not game.is_scored:
        return
    agents = tuple(AgentId(agent) for agent in range(game.trace.scenario.num_agents))
    judged, reflected = _by_agent(game.beliefs, agents), _by_agent(game.reflected, agents)
    baselines = _baselines(game.verdicts, agents)
    for agent, loss in zip(agents, game.losses, strict=True):
        yield JudgedTarget(agent, *judged[agent], *baselines[agent], *reflected[agent][:2], *loss)


def _baselines(
    verdicts: Iterable[Verdict], agents: Iterable[AgentId]
) -> dict[AgentId, tuple[float, float]]:
    """Return the losses of constant and of shuffled answers about each agent, where readable."""
    terms: dict[AgentId, list[tuple[float, float]]] = {agent: [] for agent in agents}
    for verdict in verdicts:
        truth, deltas = verdict.round_case.occupied, verdict.delta_by_target or {}
        losses = chance_losses([(values, truth[target]) for target, values in deltas.items()])
        for target, loss in zip(deltas, losses, strict=True):
            terms[target].append((constant_loss(truth[target]), loss))
    return {
        agent: (fsum(constant for constant, _ in own), fsum(chance for _, chance in own))
        for agent, own in terms.items()
    }


def _by_agent(
    beliefs: Iterable[Belief], agents: Iterable[AgentId]
) -> dict[AgentId, tuple[int, int, int, int]]:
    """Return movements, those toward the truth, and the steps of both, about each agent."""
    found = dict.fromkeys(agents, (0, 0, 0, 0))
    for belief in beliefs:
        number, toward, steps, steps_toward = found[belief.target]
        is_toward, size = belief.is_toward_truth, abs(belief.delta)
        found[belief.target] = (
            number + 1,
            toward + is_toward,
            steps + size,
            steps_toward + size * is_toward,
        )
    return found
