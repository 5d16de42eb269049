"""Oracle answers kept in memory: many games on one scenario ask for the same subsets."""

from collections.abc import Iterable
from functools import cache

from calbench.domain.ids import MeetingId
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Infeasible, Optimal, solve_best, solve_worst
from calbench.oracle.ties import DEFAULT_LIMIT, CostVectors, Extent, optimal_cost_vectors


class OracleCache:
    """Answers for a problem restricted to a subset of its incoming meetings.

    The subset oracle of the paper (section 3.1) is :meth:`best` over the meetings that were
    scheduled. Every method raises ValueError for an id that is not an incoming meeting's.
    """

    def __init__(self) -> None:
        self._best = cache(solve_best)
        self._worst = cache(solve_worst)
        self._vectors = cache(optimal_cost_vectors)

    def best(self, problem: Problem, meeting_ids: Iterable[MeetingId]) -> Optimal | Infeasible:
        """Return :func:`solve_best` over these meetings."""
        return self._best(problem.restricted(meeting_ids))

    def worst(self, problem: Problem, meeting_ids: Iterable[MeetingId]) -> Optimal | Infeasible:
        """Return :func:`solve_worst` over these meetings."""
        return self._worst(problem.restricted(meeting_ids))

    def cost_vectors(
        self,
        problem: Problem,
        meeting_ids: Iterable[MeetingId],
        seed: int,
        limit: int = DEFAULT_LIMIT,
        extent: Extent = "exact",
        optimum: int | None = None,
    ) -> CostVectors | Infeasible | None:
        """Return :func:`optimal_cost_vectors` over these meetings, whose least cost is known."""
        return self._vectors(problem.restricted(meeting_ids), seed, limit, extent, optimum)
