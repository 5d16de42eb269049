"""Placing meetings within a cost: two exact methods and brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.oracle.choices import choices_of
from calbench.oracle.completion import searched_least_cost, slots_within
from calbench.oracle.problem import Problem
from calbench.oracle.programme import least_cost
from tests.oracle import brute_force
from tests.oracle.problems import problem_of, problems


@given(problems(has_capacity=True))
def test_least_cost_is_that_of_brute_force(problem: Problem) -> None:
    best = brute_force.best(problem)
    assert least_cost(choices_of(problem), problem.num_slots) == (best and best.cost)
    if best is not None:
        for known in (best.cost, best.cost + 2):
            assert least_cost(choices_of(problem), problem.num_slots, at_most=known) == best.cost


@given(problems(has_capacity=True, max_priors=0), st.integers(0, 3))
def test_slots_are_found_exactly_from_the_least_cost_on(problem: Problem, spare: int) -> None:
    choices = choices_of(problem)
    best = brute_force.best(problem)
    assert searched_least_cost(choices) == (best and best.cost)
    if best is None:
        assert slots_within(choices, 100) is None
        return
    assert slots_within(choices, best.cost - 1) is None
    slots = slots_within(choices, best.cost + spare)
    assert slots is not None
    found = next(o for o in brute_force.outcomes(problem) if o.slots == slots)
    assert found.cost <= best.cost + spare


def test_least_cost_refuses_more_meetings_than_it_takes() -> None:
    problem = problem_of(["." * 15], [[0]] * 15)
    with pytest.raises(ValueError, match="15 meetings"):
        least_cost(choices_of(problem), 15)
