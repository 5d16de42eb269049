"""Oracle answers kept in memory: many games on one scenario ask for the same subsets."""

from collections.abc import Iterable
from typing import Final

from calbench.domain.ids import MeetingId
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Infeasible, Optimal, solve_best, solve_worst
from calbench.oracle.ties import DEFAULT_LIMIT, CostVectors, optimal_cost_vectors


class OracleCache:
    """Answers by what was asked: the problem restricted to a subset of its meetings.

    The subset oracle of the paper (section 3.1) is :meth:`best` over the meetings that were
    scheduled.
    """

    def __init__(self) -> None:
        self._best: Final[dict[Problem, Optimal | Infeasible]] = {}
        self._worst: Final[dict[Problem, Optimal | Infeasible]] = {}
        self._vectors: Final[dict[tuple[Problem, int, int], CostVectors | Infeasible]] = {}

    def best(self, problem: Problem, meeting_ids: Iterable[MeetingId]) -> Optimal | Infeasible:
        """Return :func:`solve_best` over these incoming meetings.

        Raises:
            ValueError: an id is not that of an incoming meeting.
        """
        subset = problem.restricted(meeting_ids)
        if subset not in self._best:
            self._best[subset] = solve_best(subset)
        return self._best[subset]

    def worst(self, problem: Problem, meeting_ids: Iterable[MeetingId]) -> Optimal | Infeasible:
        """Return :func:`solve_worst` over these incoming meetings.

        Raises:
            ValueError: an id is not that of an incoming meeting.
        """
        subset = problem.restricted(meeting_ids)
        if subset not in self._worst:
            self._worst[subset] = solve_worst(subset)
        return self._worst[subset]

    def cost_vectors(
        self,
        problem: Problem,
        meeting_ids: Iterable[MeetingId],
        seed: int,
        limit: int = DEFAULT_LIMIT,
    ) -> CostVectors | Infeasible:
        """Return :func:`optimal_cost_vectors` over these incoming meetings.

        Raises:
            ValueError: an id is not that of an incoming meeting.
        """
        key = (problem.restricted(meeting_ids), seed, limit)
        if key not in self._vectors:
            self._vectors[key] = optimal_cost_vectors(*key)
        return self._vectors[key]
