"""Whose movements go toward the truth more often, judge or reflection (paper, appendix I.4)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from calbench.analysis.estimates import Floats, rounded_sums
from calbench.analysis.judge.agreement import Statistic
from calbench.analysis.judge.verdicts import Belief
from calbench.domain.ids import AgentId

Sharper = Literal["judge", "reflection", "tied"]


class Movements(NamedTuple):
    """How many movements there are about one target, and how many go toward the truth."""

    total: int
    toward: int

    @property
    def precision(self) -> float | None:
        """Share toward the truth; ``None`` without movements."""
        return self.toward / self.total if self.total else None


class TargetPrecision(NamedTuple):
    """Movements about one target in one game, by judge and by reflections."""

    target: AgentId
    judge: Movements
    reflection: Movements

    @property
    def is_joined(self) -> bool:
        """Whether both have movements, so that they can be compared."""
        return bool(self.judge.total and self.reflection.total)

    @property
    def gap(self) -> float:
        """The judge's precision less the reflection's, of a joined target."""
        return self.judge.toward / self.judge.total - self.reflection.toward / self.reflection.total

    @property
    def sharper(self) -> Sharper:
        """Whose precision is higher, compared exactly."""
        ours = self.judge.toward * self.reflection.total
        theirs = self.reflection.toward * self.judge.total
        return "tied" if ours == theirs else "judge" if ours > theirs else "reflection"


def target_precisions(
    num_agents: int, judged: Iterable[Belief], reflected: Iterable[Belief]
) -> list[TargetPrecision]:
    """Return the movements of a game by target."""
    judge, reflection = _by_target(judged), _by_target(reflected)
    none = Movements(0, 0)
    return [
        TargetPrecision(agent, judge.get(agent, none), reflection.get(agent, none))
        for agent in map(AgentId, range(num_agents))
    ]


def _by_target(beliefs: Iterable[Belief]) -> dict[AgentId, Movements]:
    counts = Counter((belief.target, belief.is_toward_truth) for belief in beliefs)
    return {
        target: Movements(counts[target, True] + counts[target, False], counts[target, True])
        for target, _ in counts
    }


def precision_sums(targets: Sequence[TargetPrecision]) -> Floats:
    """Return the sums over targets on which the statistics of I.4 rest, ``[10]``."""
    joined = [target for target in targets if target.is_joined]
    more = [target for target in joined if target.sharper == "judge"]
    gaps = rounded_sums(np.array([sum(t.gap for t in joined), sum(t.gap for t in more)]))
    counts = [
        sum(target.judge.total for target in targets),
        sum(target.judge.toward for target in targets),
        sum(target.reflection.total for target in targets),
        sum(target.reflection.toward for target in targets),
        len(joined),
        len(more),
        sum(target.sharper == "reflection" for target in joined),
        sum(target.sharper == "tied" for target in joined),
    ]
    return np.array([*counts, *gaps], dtype=np.float64)


def _place(index: int) -> Statistic:
    return lambda sums: np.asarray(sums[..., index])


def _share(part: int, whole: int) -> Statistic:
    def share(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[..., part] / sums[..., whole])

    return share


MOVEMENT_COUNTS: Mapping[str, Statistic] = {
    "judge_movements": _place(0),
    "judge_toward": _place(1),
    "reflection_movements": _place(2),
    "reflection_toward": _place(3),
}
MOVEMENT_SHARES: Mapping[str, Statistic] = {
    "judge_precision": _share(1, 0),
    "reflection_precision": _share(3, 2),
}
TARGET_COUNTS: Mapping[str, Statistic] = {
    "joined_targets": _place(4),
    "judge_more_precise": _place(5),
    "reflection_more_precise": _place(6),
    "tied": _place(7),
}
TARGET_SHARES: Mapping[str, Statistic] = {
    "judge_more_precise_share": _share(5, 4),
    "mean_gap": _share(8, 4),
    "mean_gap_judge_more_precise": _share(9, 5),
}
"""Statistics of I.4 over movements and over game-targets, in the order of the table."""
