"""Helpers of the problem, its greedy yardstick, and the cache over its subsets."""

import subprocess
import sys

import pytest
from hypothesis import given, settings

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.cache import OracleCache
from calbench.oracle.problem import Problem, greedy_cost
from calbench.oracle.solve import Optimal, solve_best, solve_worst
from calbench.oracle.ties import optimal_cost_vectors
from tests.effort import examples
from tests.oracle.problems import problem_of, problems

PROBLEM = problem_of(["1.2.", "B..."], [(0, 1), (0,), (1,)], [((0, 1), 3, 1)])


def test_restricted_keeps_chosen_meetings_and_all_priors() -> None:
    subset = PROBLEM.restricted([MeetingId(3), MeetingId(1)])
    assert [meeting_id for meeting_id, _ in subset.meetings] == [1, 3]
    assert subset.prior_meetings == PROBLEM.prior_meetings
    with pytest.raises(ValueError, match=r"\[4\]"):
        PROBLEM.restricted([MeetingId(4)])


def test_problem_tells_free_allowed_and_unheld_slots() -> None:
    both = (AgentId(0), AgentId(1))
    assert PROBLEM.free_slots_by_agent == ((1,), (1, 2))
    assert PROBLEM.allowed_slots(both) == (1, 2, 3)
    assert PROBLEM.unheld_slots(both) == (1, 2)
    assert PROBLEM.displacement_cost(both, Slot(2)) == 2
    assert PROBLEM.num_meetings_by_agent == (2, 2)
    same = problem_of(["1.2.", "B..."], [(0, 1), (0,), (1,)], [((0, 1), 3, 1)])
    assert {PROBLEM: "answer"}[same] == "answer"


def test_cache_answers_for_the_subset_and_keeps_it() -> None:
    cache = OracleCache()
    subset = [MeetingId(2)]
    alone = PROBLEM.restricted(subset)
    assert cache.best(PROBLEM, subset) == solve_best(alone)
    assert cache.worst(PROBLEM, subset) == solve_worst(alone)
    assert cache.cost_vectors(PROBLEM, subset, 0) == optimal_cost_vectors(alone, 0)
    assert cache.best(PROBLEM, subset) is cache.best(alone, subset)
    assert isinstance(cache.best(PROBLEM, ()), Optimal)


def test_oracle_values_are_read_without_the_solver() -> None:
    modules = "problem, count, certificate, ties, cache"
    code = f"import sys; from calbench.oracle import {modules}; print('ortools' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


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
