"""Cost vectors of optimal schedules against brute force."""

from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.oracle.choices import choices_of
from calbench.oracle.model import enumerate_cost_vectors
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Infeasible, Optimal, solve_best
from calbench.oracle.ties import CostVectors, optimal_cost_vectors
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.problems import problem_of, problems


def _vectors(result: CostVectors | Infeasible | None) -> tuple[tuple[int, ...], ...] | None:
    return result.vectors if isinstance(result, CostVectors) else None


@settings(max_examples=examples(400, nightly=2000), deadline=None)
@given(problems(max_priors=0) | problems(max_priors=3, max_slots=4, has_capacity=True))
def test_vectors_equal_brute_force(problem: Problem) -> None:
    assert _vectors(optimal_cost_vectors(problem, 0)) == brute_force.optimal_vectors(problem)


@settings(max_examples=30, deadline=None)
@given(problems(has_capacity=True))
def test_enumeration_equals_brute_force(problem: Problem) -> None:
    best = solve_best(problem)
    expected = brute_force.optimal_vectors(problem)
    assert isinstance(best, Optimal) == (expected is not None)
    if isinstance(best, Optimal):
        found, is_complete = enumerate_cost_vectors(
            choices_of(problem),
            problem.num_agents,
            cost=best.schedule.cost,
            seed=0,
            most_vectors=10_000,
            most_schedules=10_000,
        )
        assert (tuple(found), is_complete) == (expected, True)


def test_enumeration_is_incomplete_when_it_ends_at_a_bound() -> None:
    choices = choices_of(CONTESTED)
    for most_vectors, most_schedules in ((7, 100), (100, 7)):
        found, is_complete = enumerate_cost_vectors(
            choices, 6, cost=3, seed=0, most_vectors=most_vectors, most_schedules=most_schedules
        )
        assert not is_complete
        assert all(sum(vector) == 3 for vector in found)


CONTESTED = problem_of(["1.B", ".1B"] * 3, [(0, 1), (2, 3), (4, 5)])
"""Each of three meetings moves the errand of one participant or of the other: eight splits."""


def test_vectors_are_a_marked_sample_when_they_exceed_the_limit() -> None:
    everything = optimal_cost_vectors(CONTESTED, 0)
    assert isinstance(everything, CostVectors)
    assert not everything.is_sample
    assert len(everything.vectors) == 8
    assert optimal_cost_vectors(CONTESTED, 0, limit=8) == everything
    sample = optimal_cost_vectors(CONTESTED, 0, limit=7)
    assert isinstance(sample, CostVectors)
    assert sample.is_sample
    assert len(sample.vectors) == 7
    assert set(sample.vectors) < set(everything.vectors)
    assert sample == optimal_cost_vectors(CONTESTED, 0, limit=7)


def pairs(count: int) -> Problem:
    """Return pairs of agents; in each, the errand of one or of the other has to move."""
    return problem_of(["1.B", ".1B"] * count, [(2 * pair, 2 * pair + 1) for pair in range(count)])


def test_vectors_come_from_the_solver_when_meetings_exceed_fourteen() -> None:
    problem = pairs(15)
    assert optimal_cost_vectors(problem, 0, limit=50) is None
    result = optimal_cost_vectors(problem, 0, limit=50, extent="sampled")
    assert isinstance(result, CostVectors)
    assert (len(result.vectors), result.is_sample) == (50, True)
    assert all(sum(vector) == 15 for vector in result.vectors)
    assert result == optimal_cost_vectors(problem, 0, limit=50, extent="sampled")
    assert result != optimal_cost_vectors(problem, 1, limit=50, extent="sampled")


def test_vectors_are_left_out_where_too_many_sets_of_meetings_may_share_a_slot() -> None:
    """Of ten independent pairs, two slots can each take any of 1,024 sets; of fourteen, 16,384."""
    assert isinstance(optimal_cost_vectors(pairs(10), 0), CostVectors)
    assert optimal_cost_vectors(pairs(14), 0) is None
    assert isinstance(optimal_cost_vectors(pairs(14), 0, limit=50, extent="sampled"), CostVectors)


@settings(max_examples=examples(100), deadline=None)
@given(problems(max_priors=2, has_capacity=True), st.integers(1, 3), st.integers(0, 2))
def test_a_known_optimum_changes_no_vectors(problem: Problem, limit: int, seed: int) -> None:
    """Not even those that are sampled."""
    best = brute_force.best(problem)
    found = optimal_cost_vectors(problem, seed, limit)
    optimum = None if best is None else best.cost
    assert optimal_cost_vectors(problem, seed, limit, optimum=optimum) == found


def test_vectors_are_infeasible_when_free_slots_are_too_few() -> None:
    assert isinstance(optimal_cost_vectors(problem_of(["1"], [(0,)]), 0), Infeasible)


def test_vectors_hold_that_of_the_oracle_schedule() -> None:
    best = solve_best(CONTESTED)
    vectors = _vectors(optimal_cost_vectors(CONTESTED, 0))
    assert isinstance(best, Optimal)
    assert vectors is not None
    assert best.schedule.cost_by_agent in vectors
