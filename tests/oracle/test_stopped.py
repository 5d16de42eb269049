"""A solver that is stopped: what it found is a schedule, and its bound is one."""

from functools import cache

import pytest

from calbench.oracle.certificate import check_schedule
from calbench.oracle.problem import Problem
from calbench.oracle.solve import (
    Infeasible,
    Optimal,
    Stopped,
    solve_best,
    solve_within,
    solve_worst,
)
from calbench.oracle.tiebreak import Direction
from tests.oracle.large import drawn_problem
from tests.oracle.problems import problem_of

EFFORTS = (1e-5, 1e-3, 3e-3, 1e-2, 3e-2, 0.1)


@cache
def _contended() -> Problem:
    return drawn_problem(8, 16, 40, blocked=4, priors=4)


@cache
def _extreme(direction: Direction) -> int:
    answer = (solve_best if direction == 1 else solve_worst)(_contended())
    assert isinstance(answer, Optimal)
    return answer.schedule.cost


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("direction", [1, -1])
def test_bound_and_schedule_enclose_the_extreme_cost(direction: Direction, effort: float) -> None:
    answer = solve_within(_contended(), direction, effort)
    assert not isinstance(answer, Infeasible)
    if answer is None:
        assert effort < max(EFFORTS)  # a larger effort does find one
        return
    assert check_schedule(_contended(), answer.schedule) == ()
    bound = answer.bound if isinstance(answer, Stopped) else answer.schedule.cost
    least, most = sorted((bound, answer.schedule.cost), reverse=direction == -1)
    assert direction * least <= direction * _extreme(direction) <= direction * most
    assert answer == solve_within(_contended(), direction, effort)


def test_small_problems_and_impossible_ones_need_no_effort() -> None:
    small = drawn_problem(5, 5, 16, blocked=2)
    assert solve_within(small, 1, 1e-6) == solve_best(small)
    impossible = problem_of([".B.", ".B."], [(0, 1)] * 2, [((0,), 2, 1), ((1,), 0, 1)])
    assert isinstance(solve_within(impossible, 1, 1e-6), Infeasible)


def test_enough_effort_gives_the_proven_schedules() -> None:
    assert solve_within(_contended(), 1, 1e3) == solve_best(_contended())
    assert solve_within(_contended(), -1, 1e3) == solve_worst(_contended())
