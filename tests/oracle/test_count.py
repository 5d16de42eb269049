"""The fast count against its definition."""

import math

import pytest
from hypothesis import given, settings

from calbench.oracle.count import Difficulty, count_feasible, difficulty
from calbench.oracle.problem import Problem
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.enumerated import enumerate_feasible
from tests.oracle.problems import problem_of, problems


@settings(max_examples=examples(200), deadline=None)
@given(problems())
def test_count_equals_enumeration_and_brute_force(problem: Problem) -> None:
    expected = brute_force.count(problem)
    assert count_feasible(problem) == expected
    assert enumerate_feasible(problem) == expected


def test_count_is_the_number_of_injections_when_calendars_are_open() -> None:
    problem = problem_of(["." * 16] * 5, [(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1)])
    assert count_feasible(problem) == 524_160
    assert difficulty(problem) == Difficulty(524_160, 1.0, None)


def test_count_is_exact_when_it_exceeds_64_bits() -> None:
    problem = problem_of(["." * 64] * 12, [(agent,) for agent in range(12)])
    assert count_feasible(problem) == math.perm(64, 12) > 2**64
    assert difficulty(problem).feasible_fraction == 1.0


def test_difficulty_is_absent_with_a_reason_when_meetings_exceed_fourteen() -> None:
    within = problem_of(["." * 20], [(0,)] * 14)
    beyond = problem_of(["." * 20], [(0,)] * 15)
    assert difficulty(within) == Difficulty(math.perm(20, 14), 1.0, None)
    assert difficulty(beyond).feasible_count is None
    assert difficulty(beyond).feasible_fraction is None
    assert "15 meetings" in (difficulty(beyond).reason or "")
    with pytest.raises(ValueError, match="15 meetings"):
        count_feasible(beyond)


def test_difficulty_has_no_fraction_when_meetings_outnumber_slots() -> None:
    result = difficulty(problem_of(["."], [(0,), (0,)]))
    assert (result.feasible_count, result.feasible_fraction) == (0, None)
    assert result.reason == "2 meetings do not fit 1 slots"


def test_difficulty_is_one_when_there_is_nothing_to_place() -> None:
    assert difficulty(problem_of(["B"], [])) == Difficulty(1, 1.0, None)
