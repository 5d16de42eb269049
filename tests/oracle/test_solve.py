"""The best and the worst schedule against brute force."""

import pytest
from hypothesis import given, settings

from calbench.oracle.problem import Problem
from calbench.oracle.solve import Infeasible, Optimal, Schedule, solve_best, solve_worst
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.problems import problem_of, problems


def _as_outcome(result: Optimal | Infeasible) -> brute_force.Outcome | None:
    if isinstance(result, Infeasible):
        return None
    schedule = result.schedule
    named = (*schedule.slot_by_meeting, *schedule.prior_slot_by_meeting)
    return brute_force.Outcome(tuple(slot for _, slot in named), schedule.cost_by_agent)


def _schedule(result: Optimal | Infeasible) -> Schedule:
    assert isinstance(result, Optimal)
    return result.schedule


@settings(max_examples=examples(600, nightly=3000), deadline=None)
@given(problems(max_priors=0) | problems(max_priors=3, max_slots=4, has_capacity=True))
def test_solve_equals_brute_force(problem: Problem) -> None:
    assert _as_outcome(solve_best(problem)) == brute_force.best(problem)
    assert _as_outcome(solve_worst(problem)) == brute_force.worst(problem)


@settings(max_examples=examples(200), deadline=None)
@given(problems(max_priors=0, has_capacity=True))
def test_cost_is_that_of_the_cheapest_rearrangement_when_capacity_holds(problem: Problem) -> None:
    """The lemma: nothing but the errands under the meetings has to move."""
    for outcome in list(brute_force.outcomes(problem))[:20]:
        for agent, paid in enumerate(outcome.cost_by_agent):
            slots = {
                slot
                for slot, (_, participants) in zip(outcome.slots, problem.meetings, strict=True)
                if agent in participants
            }
            under = sum(problem.errand_costs[agent][slot] or 0 for slot in slots)
            assert paid == under
            assert brute_force.least_rearrangement_cost(problem, agent, slots) == under


def test_solve_takes_the_first_vector_among_equals() -> None:
    problem = problem_of(["....", "...."], [(0, 1), (0,)])
    assert _schedule(solve_best(problem)).slot_by_meeting == ((1, 0), (2, 1))
    assert _schedule(solve_worst(problem)).slot_by_meeting == ((1, 0), (2, 1))


def test_worst_lets_two_prior_meetings_exchange_slots() -> None:
    problem = problem_of(["..", ".."], [], [((0, 1), 0, 2), ((1,), 1, 3)])
    assert _schedule(solve_best(problem)).cost == 0
    worst = _schedule(solve_worst(problem))
    assert worst.prior_slot_by_meeting == ((1, 1), (2, 0))
    assert worst.cost_by_agent == (2, 5)


def test_solve_names_the_agent_when_free_slots_are_too_few() -> None:
    problem = problem_of(["...", "1.2"], [(0, 1), (0, 1)])
    expected = Infeasible("agent 1 has 1 free slots for 2 meetings")
    assert solve_best(problem) == expected
    assert solve_worst(problem) == expected


def test_solve_names_the_meeting_when_every_slot_is_blocked() -> None:
    problem = problem_of(["B.", ".B"], [(0, 1)])
    result = solve_best(problem)
    assert isinstance(result, Infeasible)
    assert "meeting 1" in result.reason


def test_solve_breaks_ties_in_every_digit_when_the_vector_exceeds_one_objective() -> None:
    """Twelve digits in base 32 need 60 bits: several solves."""
    problem = problem_of(["." * 32] * 12, [(agent, (agent + 1) % 12) for agent in range(12)])
    slots = [slot for _, slot in _schedule(solve_best(problem)).slot_by_meeting]
    assert slots == [0, 1] * 6


def test_solve_keeps_costs_exact_when_they_leave_no_room_for_digits() -> None:
    errands = (2**44, 2**44 - 1, None)
    problem = Problem(3, (errands,), (frozenset(),), problem_of(["."], [(0,)]).meetings, ())
    assert _schedule(solve_best(problem)).cost == 0
    assert _schedule(solve_worst(problem)).slot_by_meeting == ((1, 0),)


def test_solve_refuses_when_costs_exceed_exact_arithmetic() -> None:
    problem = Problem(2, ((2**60, None),), (frozenset(),), problem_of(["."], [(0,)]).meetings, ())
    with pytest.raises(ValueError, match="2\\*\\*45"):
        solve_best(problem)
