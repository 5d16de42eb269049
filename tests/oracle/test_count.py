"""The fast count against its definition, and estimates against the count."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from ortools.sat.python import cp_model

from calbench.oracle.count import (
    Difficulty,
    Estimate,
    Unestimated,
    count_feasible,
    difficulty,
    estimate_fraction,
)
from calbench.oracle.problem import Problem
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.problems import drawn_problem, problem_of, problems


class _Counter(cp_model.CpSolverSolutionCallback):
    """Counts solutions."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def on_solution_callback(self) -> None:
        """Called by the solver once per solution."""
        self.count += 1


def enumerate_feasible(problem: Problem) -> int:
    """Count feasible assignments by having CP-SAT enumerate them (about 20 µs each) [P].

    The same number as :func:`calbench.oracle.count.count_feasible`, for any number of
    meetings, in time proportional to the answer.
    """
    if not problem.meetings:
        return 1
    model = cp_model.CpModel()
    slots = [
        model.new_int_var_from_domain(
            cp_model.Domain.from_values(list(problem.unheld_slots(participants))), ""
        )
        for _, participants in problem.meetings
    ]
    model.add_all_different(slots)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    solver.parameters.enumerate_all_solutions = True
    counter = _Counter()
    solver.solve(model, counter)
    return counter.count


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
    assert difficulty(problem_of(["B"], [])) == Difficulty(1, 1.0, None), "nothing to place"
    wide = problem_of(["." * 64] * 12, [(agent,) for agent in range(12)])
    assert count_feasible(wide) == math.perm(64, 12) > 2**64
    assert difficulty(wide).feasible_fraction == 1.0


def test_difficulty_is_absent_with_a_reason_when_meetings_exceed_fourteen_or_the_slots() -> None:
    within, beyond = (problem_of(["." * 20], [(0,)] * count) for count in (14, 15))
    assert difficulty(within) == Difficulty(math.perm(20, 14), 1.0, None)
    assert difficulty(beyond).feasible_count is None
    assert difficulty(beyond).feasible_fraction is None
    assert "15 meetings" in (difficulty(beyond).reason or "")
    with pytest.raises(ValueError, match="15 meetings"):
        count_feasible(beyond)
    narrow = difficulty(problem_of(["."], [(0,), (0,)]))
    assert (narrow.feasible_count, narrow.feasible_fraction) == (0, None)
    assert narrow.reason == "2 meetings do not fit 1 slots"


SHAPES = {
    # agents, meetings, slots, blocked of each agent
    "roomy": (10, 10, 32, 8),
    "as many meetings as slots": (14, 14, 14, 2),
    "few slots a meeting": (14, 14, 20, 7),
    "one or two slots a meeting": (14, 14, 20, 10),
    "few meetings": (5, 5, 16, 4),
}


def _exact(problem: Problem) -> float:
    assignments = math.perm(problem.num_slots, len(problem.meetings))
    return float(Fraction(count_feasible(problem), assignments))


@settings(max_examples=examples(60), deadline=None)
@given(problems(max_priors=1))
def test_small_estimates_enclose_what_they_estimate(problem: Problem) -> None:
    """With at most five slots, 1,000 draws meet every assignment, and errors are tiny."""
    assume(len(problem.meetings) <= problem.num_slots)
    assume(all(problem.unheld_slots(participants) for _, participants in problem.meetings))
    exact, found = _exact(problem), estimate_fraction(problem, 0)
    if isinstance(found, Unestimated):
        assert exact == 0
    else:
        assert found.fraction == pytest.approx(exact, rel=0.2)
        assert found.low <= found.fraction <= found.high <= 1


@pytest.mark.heavy
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_intervals_hold_the_exact_value(shape: tuple[int, int, int, int]) -> None:
    """At least 95 of 100; with 400 of them, 91 are allowed: three standard errors less."""
    agents, meetings, slots, blocked = shape
    errors, held = [], []
    for seed in range(100):
        problem = drawn_problem(agents, meetings, slots, blocked=blocked, seed=seed)
        exact = _exact(problem)
        for attempt in range(4 if exact else 0):
            found = estimate_fraction(problem, 1_000 * seed + attempt)
            if isinstance(found, Estimate):
                held.append(found.low <= exact <= found.high)
                errors.append(found.fraction / exact - 1)
    assert len(held) >= 150  # some have no assignment, or no estimate
    assert sum(held) / len(held) >= 0.91
    spread = math.sqrt(sum(error * error for error in errors)) / len(errors)
    assert abs(sum(errors) / len(errors)) <= max(4 * spread, 0.03)


def test_estimate_of_an_open_calendar_is_exact() -> None:
    problem = problem_of(["." * 40] * 3, [(0, 1, 2)] * 20)
    assert estimate_fraction(problem, 7) == Estimate(1.0, 1.0, 1.0, 1_000)


def test_estimate_depends_on_nothing_but_problem_and_seed() -> None:
    problem = drawn_problem(20, 20, 64, blocked=16)
    found = estimate_fraction(problem, 3)
    assert isinstance(found, Estimate)
    assert found == estimate_fraction(problem, 3) != estimate_fraction(problem, 4)
    assert found.fraction.hex() == GOLDEN


GOLDEN = "0x1.32b4cdd17761ap-26"
"""As on any processor: nothing in it rounds differently."""


def test_difficulty_marks_an_estimate_and_gives_no_fraction() -> None:
    problem = drawn_problem(20, 20, 64, blocked=16)
    found = difficulty(problem, seed=3)
    assert (found.feasible_count, found.feasible_fraction) == (None, None)
    assert found.reason == "20 meetings; counted up to 14"
    assert found.estimate == estimate_fraction(problem, 3)
    assert difficulty(problem).estimate is None


def test_difficulty_knows_that_many_meetings_cannot_have_distinct_slots() -> None:
    """Sixteen meetings, two of which can only be in the first slot."""
    rows = ["." * 20] * 14 + [".", "."]
    rows = [row.ljust(20, "B") for row in rows]
    result = difficulty(problem_of(rows, [(agent,) for agent in range(16)]), seed=0)
    assert (result.feasible_count, result.feasible_fraction, result.estimate) == (0, 0.0, None)


def test_difficulty_says_why_there_is_no_estimate() -> None:
    """Three wheels: each agent of one in its first slot, or each in its second.

    Half of the draws of a wheel end early, so an eighth of those of all three are complete.
    """
    size = 20
    rows = [["B"] * 3 * size for _ in range(3 * size)]
    for agent in range(3 * size):
        rim = agent // size * size
        rows[agent][agent] = rows[agent][rim + (agent + 1 - rim) % size] = "."
    wheels = problem_of(["".join(row) for row in rows], [(agent,) for agent in range(3 * size)])
    result = difficulty(wheels, seed=0)
    assert result.estimate is None
    assert result.feasible_fraction is None
    assert result.reason is not None
    assert result.reason.startswith("60 meetings; counted up to 14; not estimated: ")
