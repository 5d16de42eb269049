"""The solver-free check accepts what the solver says and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from calbench.domain.ids import MeetingId, Slot
from calbench.oracle.certificate import check_schedule
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Optimal, Schedule, solve_best, solve_worst
from tests.effort import examples
from tests.oracle import brute_force
from tests.oracle.problems import problem_of, problems


@settings(max_examples=examples(200), deadline=None)
@given(problems(max_priors=3, has_capacity=True))
def test_certificate_accepts_the_solvers_schedules(problem: Problem) -> None:
    for result in (solve_best(problem), solve_worst(problem)):
        if isinstance(result, Optimal):
            assert check_schedule(problem, result.schedule) == ()
        else:
            assert brute_force.best(problem) is None


PROBLEM = problem_of(["2..B.", "....1", "....."], [(0, 1), (1, 2)], [((0, 2), 1, 3)])
VALID = Schedule(
    slot_by_meeting=((MeetingId(1), Slot(0)), (MeetingId(2), Slot(2))),
    prior_slot_by_meeting=((MeetingId(3), Slot(1)),),
    cost_by_agent=(2, 0, 0),
)


def _placed(first: int, second: int, prior: int, *costs: int) -> Schedule:
    return Schedule(
        ((MeetingId(1), Slot(first)), (MeetingId(2), Slot(second))),
        ((MeetingId(3), Slot(prior)),),
        costs,
    )


@pytest.mark.parametrize(
    ("schedule", "complaint"),
    [
        (replace(VALID, slot_by_meeting=VALID.slot_by_meeting[:1]), "meeting 2 is placed 0 times"),
        (replace(VALID, slot_by_meeting=VALID.slot_by_meeting * 2), "meeting 1 is placed 2 times"),
        (replace(VALID, prior_slot_by_meeting=()), "prior meeting 3 is placed 0 times"),
        (
            replace(VALID, slot_by_meeting=(*VALID.slot_by_meeting, (MeetingId(9), Slot(0)))),
            "meeting 9 is not part of the problem",
        ),
        (_placed(0, 5, 1, 2, 0, 0), "slot 5, out of bounds"),
        (_placed(-1, 2, 1, 0, 0, 0), "slot -1, out of bounds"),
        (_placed(2, 2, 1, 0, 0, 0), "agent 1 has meetings [1, 2] at slot 2"),
        (_placed(1, 2, 1, 0, 0, 0), "agent 0 has meetings [1, 3] at slot 1"),
        (_placed(3, 2, 1, 0, 0, 0), "meeting 1 is at slot 3, blocked for agent 0"),
        (_placed(0, 2, 4, 5, 0, 3), "prior meeting 3 moves, but no meeting takes its slot 1"),
        (replace(VALID, cost_by_agent=(3, 0, 0)), "agent 0 pays 2, but 3 is stated"),
        (replace(VALID, cost_by_agent=(0, 2, 0)), "agent 1 pays 0, but 2 is stated"),
        (replace(VALID, cost_by_agent=(2, 0)), "costs are given for 2 of 3 agents"),
        (_placed(1, 0, 4, 0, 0, 0), "agent 0 pays 3, but 0 is stated"),
        (_placed(0, 4, 1, 2, 0, 0), "agent 1 pays 1, but 0 is stated"),
    ],
)
def test_certificate_names_the_broken_rule_when_tampered_with(
    schedule: Schedule, complaint: str
) -> None:
    assert any(complaint in problem for problem in check_schedule(PROBLEM, schedule))


def test_certificate_rejects_when_free_slots_are_too_few() -> None:
    problem = problem_of(["12"], [(0,)])
    schedule = Schedule(((MeetingId(1), Slot(0)),), (), (1,))
    assert check_schedule(problem, schedule) == ("agent 0 has 0 free slots for 1 meetings",)


def test_certificate_accepts_two_prior_meetings_that_exchange_slots() -> None:
    problem = problem_of(["..", ".."], [], [((0, 1), 0, 2), ((1,), 1, 3)])
    exchanged = Schedule((), ((MeetingId(1), Slot(1)), (MeetingId(2), Slot(0))), (2, 5))
    assert check_schedule(problem, exchanged) == ()


@settings(max_examples=examples(40), deadline=None)
@given(problems(max_priors=2, max_slots=3))
def test_certificate_agrees_with_brute_force_on_every_assignment(problem: Problem) -> None:
    """Whatever the slots: accepted with the right costs if and only if allowed."""
    valid = {outcome.slots: outcome.cost_by_agent for outcome in brute_force.outcomes(problem)}
    ids = [m for m, _ in problem.meetings] + [m for m, _ in problem.prior_meetings]
    split = len(problem.meetings)
    accepted = {}
    for slots in brute_force.all_slot_vectors(problem):
        named = tuple(zip(ids, slots, strict=True))
        costs = valid.get(slots, (0,) * problem.num_agents)
        complaints = check_schedule(problem, Schedule(named[:split], named[split:], costs))
        if not any("pays" not in complaint for complaint in complaints):
            accepted[slots] = complaints
    assert accepted == dict.fromkeys(valid, ())
