"""How evenly the excess cost is distributed over the agents of a game (paper, section 3)."""

from collections.abc import Collection, Sequence
from typing import NamedTuple


def burden_gaps(excess_by_agent: Sequence[int]) -> tuple[float, ...]:
    """Return ``|E_i - mean_j E_j|`` for every agent of the game, in accounting cost [F].

    The mean is over all agents, including those without a meeting. Sums are integers, so each
    value is the correctly rounded quotient.
    """
    count, total = len(excess_by_agent), sum(excess_by_agent)
    return tuple([abs(count * excess - total) / count for excess in excess_by_agent])


def fairness(excess_by_agent: Sequence[int]) -> float:
    """Return the mean burden gap of a game; 0 is even: (1, 1, 0, -1, -1) gives 0.8 [F]."""
    count, total = len(excess_by_agent), sum(excess_by_agent)
    return sum(abs(count * excess - total) for excess in excess_by_agent) / count**2


class FairnessRange(NamedTuple):
    """How much the fairness of a game depends on the choice among optimal schedules.

    Attributes:
        least: over their cost vectors.
        greatest: over their cost vectors.
        is_sample: whether there are, or may be, vectors that were not compared.
        num_vectors: distinct ones compared.
    """

    least: float | None
    greatest: float | None
    is_sample: bool | None
    num_vectors: int | None


LEFT_OUT = FairnessRange(None, None, None, None)
"""Where the vectors are not known, because listing them would take too much work."""


def fairness_range(
    cost_by_agent: Sequence[int], oracle_costs: Collection[Sequence[int]], *, is_sample: bool
) -> FairnessRange:
    """Return the range of fairness over optimal schedules.

    Which of several optimal schedules is the reference is a convention (the tie-break of the
    oracle), but fairness depends on it; this is the range [C].

    Args:
        cost_by_agent: what each agent paid.
        oracle_costs: the distinct per-agent cost vectors of optimal schedules; at least one.
        is_sample: whether there are, or may be, other vectors.
    """
    values = [
        fairness([paid - best for paid, best in zip(cost_by_agent, vector, strict=True)])
        for vector in oracle_costs
    ]
    return FairnessRange(min(values), max(values), is_sample, len(values))
