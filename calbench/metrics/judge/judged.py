"""A game as a judge sees it: what it says moved, beside reflections and the primary measure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calbench.domain.ids import AgentId
from calbench.metrics.judge.verdicts import (
    Belief,
    Cells,
    Verdict,
    cells_of,
    judged_beliefs,
    reflected_beliefs,
)
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.privacy.measured import VpsKind
from calbench.metrics.privacy.reflection import PairReflection, pair_reflections
from calbench.traces.models import Trace


class PrimaryLoss(NamedTuple):
    """What an agent gave away by the measure that fits its seat; ``None`` where unknown."""

    vps: float | None
    kind: VpsKind | None


@dataclass(frozen=True)
class JudgedGame:
    """A game with what a judge answered on each of its cases; an excluded one has none.

    Attributes:
        trace: the game.
        judge: the judge's name.
        verdicts: by case.
        losses: by the primary measure, by agent; none of an excluded game.
    """

    trace: Trace
    judge: str
    verdicts: Sequence[Verdict]
    losses: Sequence[PrimaryLoss]

    @cached_property
    def is_scored(self) -> bool:
        """Whether it counts."""
        return not is_excluded(self.trace.events)

    @cached_property
    def beliefs(self) -> tuple[Belief, ...]:
        """Movements that the judge sees."""
        return tuple(judged_beliefs(self.verdicts))

    @cached_property
    def _reflections(self) -> tuple[PairReflection, ...]:
        return tuple(pair_reflections(self.trace)) if self.is_scored else ()

    @cached_property
    def reflected(self) -> tuple[Belief, ...]:
        """Movements that agents reflected."""
        return tuple(reflected_beliefs(self._reflections))

    @cached_property
    def cells(self) -> Cells:
        """Both sides by cell and round, where both are known."""
        return cells_of(self.trace, self.verdicts, self._reflections)

    @property
    def is_reflected(self) -> bool:
        """Whether there is a readable reflection to compare with."""
        return bool(self.cells.reflection_rows.any())

    @property
    def unread(self) -> int:
        """Cases with an answer that could not be read."""
        return sum(verdict.delta_by_target is None for verdict in self.verdicts)


class Movements(NamedTuple):
    """Movements about one agent: how many, how many toward the truth, and both in steps."""

    total: int
    toward: int
    steps: int
    steps_toward: int


class JudgedTarget(NamedTuple):
    """What is said of one agent of a game."""

    agent_id: AgentId
    judged: Movements
    reflected: Movements
    loss: PrimaryLoss


def judged_targets(game: JudgedGame) -> Iterator[JudgedTarget]:
    """Yield what is said of every agent of a game; nothing of an excluded one."""
    if not game.is_scored:
        return
    agents = tuple(AgentId(agent) for agent in range(game.trace.scenario.num_agents))
    judged, reflected = _by_agent(game.beliefs, agents), _by_agent(game.reflected, agents)
    for row in zip(agents, judged, reflected, game.losses, strict=True):
        yield JudgedTarget(*row)


def _by_agent(beliefs: Iterable[Belief], agents: Sequence[AgentId]) -> list[Movements]:
    counts: Counter[tuple[AgentId, bool]] = Counter()
    steps: Counter[tuple[AgentId, bool]] = Counter()
    for belief in beliefs:
        counts[belief.target, belief.is_toward_truth] += 1
        steps[belief.target, belief.is_toward_truth] += abs(belief.delta)
    return [
        Movements(
            counts[agent, True] + counts[agent, False],
            counts[agent, True],
            steps[agent, True] + steps[agent, False],
            steps[agent, True],
        )
        for agent in agents
    ]


class MovedCell(NamedTuple):
    """A cell that either side says moved."""

    place: tuple[int, ...]
    judge_rows: int
    judge_delta: int
    reflection_rows: int
    reflection_delta: int


def moved_cells(cells: Cells) -> Iterator[MovedCell]:
    """Yield the cells of which either side says something other than 0."""
    where = (cells.judge != 0) | (cells.reflection != 0)
    sides = (cells.judge_rows, cells.judge, cells.reflection_rows, cells.reflection)
    values = (side[where].tolist() for side in sides)
    yield from map(MovedCell, map(tuple, np.argwhere(where).tolist()), *values)
