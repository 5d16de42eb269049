"""The best and the worst schedule, by search or solver, stopped or not, against brute force."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.ids import Slot
from calbench.oracle.certificate import check_schedule
from calbench.oracle.choices import Direction, choices_of
from calbench.oracle.model import NoScheduleError, extreme_slots
from calbench.oracle.problem import Problem
from calbench.oracle.programme import least_cost
from calbench.oracle.solve import (
    GaveUpError,
    Infeasible,
    Optimal,
    Schedule,
    Stopped,
    search,
    searched_least_cost,
    slots_within,
    solve_best,
    solve_within,
    solve_worst,
)
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.problems import drawn_problem, problem_of, problems


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


def test_solve_names_what_has_too_few_slots_and_refuses_costs_that_it_cannot_add() -> None:
    problem = problem_of(["...", "1.2"], [(0, 1), (0, 1)])
    expected = Infeasible("agent 1 has 1 free slots for 2 meetings")
    assert solve_best(problem) == solve_worst(problem) == expected
    result = solve_best(problem_of(["B.", ".B"], [(0, 1)]))
    assert isinstance(result, Infeasible)
    assert "meeting 1" in result.reason
    dear = Problem(2, ((2**60, None),), (frozenset(),), problem_of(["."], [(0,)]).meetings, ())
    with pytest.raises(ValueError, match="2\\*\\*45"):
        solve_best(dear)


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


def _modelled(problem: Problem, direction: Direction) -> tuple[Slot, ...] | None:
    try:
        return extreme_slots(choices_of(problem), direction).slots
    except NoScheduleError:
        return None


def _slots(outcome: brute_force.Outcome | None) -> tuple[Slot, ...] | None:
    return None if outcome is None else outcome.slots


@settings(max_examples=examples(200), deadline=None)
@given(
    problems(max_priors=0, has_capacity=True)
    | problems(max_priors=3, max_slots=4, has_capacity=True)
)
def test_solver_and_search_equal_brute_force(problem: Problem) -> None:
    best, worst = _slots(brute_force.best(problem)), _slots(brute_force.worst(problem))
    assert (_modelled(problem, 1), _modelled(problem, -1)) == (best, worst)
    if not problem.prior_meetings:
        assert search(choices_of(problem), 1) == best
        assert search(choices_of(problem), -1) == worst


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


def test_small_problems_and_impossible_ones_need_no_effort_and_others_enough_of_it() -> None:
    small = drawn_problem(5, 5, 16, blocked=2)
    assert solve_within(small, 1, 1e-6) == solve_best(small)
    impossible = problem_of([".B.", ".B."], [(0, 1)] * 2, [((0,), 2, 1), ((1,), 0, 1)])
    assert isinstance(solve_within(impossible, 1, 1e-6), Infeasible)
    assert solve_within(_contended(), 1, 1e3) == solve_best(_contended())
    assert solve_within(_contended(), -1, 1e3) == solve_worst(_contended())


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
