"""The greedy yardstick by hand."""

import pytest
from hypothesis import given, settings

from calbench.oracle.problem import Problem, greedy_cost
from calbench.oracle.solve import Optimal, solve_best
from tests.effort import examples
from tests.oracle.problems import problem_of, problems


@pytest.mark.parametrize(
    ("rows", "meetings", "priors", "expected"),
    [
        (["3..", "..."], [(0, 1)], [], 3),
        (["B2.", "..."], [(0, 1)], [], 2),
        (["3.1.", "3..."], [(0, 1), (0,)], [], 6),
        (["2.", ".B"], [(0,), (1,)], [], 2),
        (["..2.", "...."], [(0, 1)], [((1,), 0, 1), ((0,), 1, 1)], 2),
        (["B.", ".B"], [(0, 1)], [], None),
        (["12"], [(0,)], [], None),
        (["..1"], [(0,), (0,), (0,)], [], None),
        (["1"], [], [], 0),
    ],
)
def test_greedy_takes_the_first_slot_that_all_can_clear(
    rows: list[str],
    meetings: list[tuple[int, ...]],
    priors: list[tuple[tuple[int, ...], int, int]],
    expected: int | None,
) -> None:
    assert greedy_cost(problem_of(rows, meetings, priors)) == expected


@settings(max_examples=examples(50), deadline=None)
@given(problems())
def test_greedy_never_beats_the_oracle(problem: Problem) -> None:
    cost = greedy_cost(problem)
    best = solve_best(problem)
    assert cost is None or (isinstance(best, Optimal) and cost >= best.schedule.cost)
