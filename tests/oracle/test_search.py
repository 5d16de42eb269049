"""Two exact methods, the search and the solver, against brute force and each other."""

import pytest
from hypothesis import given, settings

from calbench.domain.ids import Slot
from calbench.oracle.choices import choices_of
from calbench.oracle.model import NoScheduleError
from calbench.oracle.problem import Problem
from calbench.oracle.solve import GaveUpError, search
from calbench.oracle.tiebreak import Direction, extreme_slots
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.large import drawn_problem
from tests.oracle.problems import problem_of, problems


def _modelled(problem: Problem, direction: Direction) -> tuple[Slot, ...] | None:
    try:
        return extreme_slots(choices_of(problem), direction).slots
    except NoScheduleError:
        return None


def _slots(outcome: brute_force.Outcome | None) -> tuple[Slot, ...] | None:
    return None if outcome is None else outcome.slots


@settings(max_examples=examples(100), deadline=None)
@given(problems(max_priors=0, has_capacity=True))
def test_search_and_solver_equal_brute_force(problem: Problem) -> None:
    best, worst = _slots(brute_force.best(problem)), _slots(brute_force.worst(problem))
    assert search(choices_of(problem), 1) == _modelled(problem, 1) == best
    assert search(choices_of(problem), -1) == _modelled(problem, -1) == worst


@settings(max_examples=examples(100), deadline=None)
@given(problems(max_priors=3, max_slots=4, has_capacity=True))
def test_solver_equals_brute_force_with_prior_meetings(problem: Problem) -> None:
    assert _modelled(problem, 1) == _slots(brute_force.best(problem))
    assert _modelled(problem, -1) == _slots(brute_force.worst(problem))


@pytest.mark.parametrize("seed", range(6))
def test_search_equals_the_solver_where_brute_force_ends(seed: int) -> None:
    problem = drawn_problem(10, 8, 24, blocked=6, seed=seed)
    assert search(choices_of(problem), 1) == _modelled(problem, 1)
    assert search(choices_of(problem), -1) == _modelled(problem, -1)


def test_search_gives_up_on_many_meetings_and_on_many_steps() -> None:
    deep = problem_of(["." * 4] * 101, [(agent,) for agent in range(101)])
    with pytest.raises(GaveUpError):
        search(choices_of(deep), 1)
    wide = problem_of(["1" * 11 + "." * 9] * 3, [(0, 1, 2)] * 10)  # nine free slots for ten
    with pytest.raises(GaveUpError):
        search(choices_of(wide), 1)


def test_search_finds_that_there_is_no_schedule() -> None:
    assert search(choices_of(problem_of(["BB"], [(0,)])), 1) is None
    assert search(choices_of(problem_of([".B"], [(0,), (0,)])), -1) is None
    assert search([], 1) == ()
