"""Burdens of replayed schedules against every assignment, played on whole calendars."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings

from calbench.domain.ids import Slot
from calbench.oracle import replayed as module
from calbench.oracle.problem import Problem
from calbench.oracle.replayed import played_cost, replayed
from tests.effort import examples
from tests.oracle.problems import problem_of, problems


def starts(problem: Problem) -> list[list[str | int | None]]:
    """Return calendars: the cost of a movable errand, B where blocked, None where free."""
    return [
        [
            "B" if slot in problem.blocked[agent] else costs[slot]
            for slot in range(problem.num_slots)
        ]
        for agent, costs in enumerate(problem.errand_costs)
    ]


def burden(problem: Problem, slots: tuple[int, ...]) -> tuple[int, ...]:
    """Place meetings one after the other on calendars, and let what is in the way move down."""
    calendars = starts(problem)
    paid = [0] * problem.num_agents
    for (_, participants), slot in zip(problem.meetings, slots, strict=True):
        for agent in participants:
            own = calendars[agent]
            errand, own[slot] = own[slot], "M"
            if isinstance(errand, int):
                paid[agent] += errand
                own[own.index(None)] = errand
    return tuple(paid)


def every_best(problem: Problem) -> Counter[tuple[int, ...]] | None:
    """Count the burdens of the cheapest assignments, judged by the initial calendars."""
    calendars = starts(problem)
    found: dict[tuple[int, ...], int] = {}
    for slots in itertools.product(range(problem.num_slots), repeat=len(problem.meetings)):
        cells = [
            (agent, slot)
            for (_, participants), slot in zip(problem.meetings, slots, strict=True)
            for agent in participants
        ]
        held = [(calendars[agent][slot], None in calendars[agent]) for agent, slot in cells]
        if len(set(cells)) == len(cells) and all(
            item is None or (isinstance(item, int) and has_room) for item, has_room in held
        ):
            found[slots] = sum(item for item, _ in held if isinstance(item, int))
    if not found:
        return None
    least = min(found.values())
    return Counter(burden(problem, slots) for slots, cost in found.items() if cost == least)


@settings(max_examples=examples(400), deadline=None)
@given(problems(max_priors=0, has_capacity=True))
def test_every_best_schedule_is_played(problem: Problem) -> None:
    expected = every_best(problem)
    answer = replayed(problem, 0)
    if expected is None:
        assert answer is None
    else:
        assert answer is not None
        assert dict(answer.schedules) == expected
        assert answer.burden in expected
        assert not answer.is_sample


def test_an_errand_that_is_in_the_way_again_pays_again() -> None:
    problem = problem_of(["2..", "...", "..."], [(0, 1), (0, 2)])
    assert played_cost(problem, (Slot(0), Slot(1))) == (4, 0, 0)
    assert played_cost(problem, (Slot(0), Slot(2))) == (2, 0, 0)


def test_nothing_is_played_where_an_errand_would_find_no_room() -> None:
    assert replayed(problem_of(["11.", "...", "..."], [(0, 1), (0, 2)]), 0) is None
    assert replayed(problem_of(["11", "..", ".."], [(0, 1)]), 0) is None
    last = problem_of(["11.", "BB.", "BB."], [(0, 1)])
    assert replayed(last, 0) == ((0, 0, 0), (((0, 0, 0), 1),), False)


def test_more_schedules_than_are_listed_are_a_seeded_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of(["1.B", ".1B"] * 3, [(0, 1), (2, 3), (4, 5)])
    monkeypatch.setattr(module, "MOST_LISTED", 3)
    replayed.cache_clear()
    samples = [replayed(problem, seed) for seed in (0, 0, 1, 2, 3)]
    replayed.cache_clear()
    assert samples[0] == samples[1]
    assert len(set(samples)) > 1
    for sample in samples:
        assert sample is not None
        assert sample.is_sample
        assert sum(count for _, count in sample.schedules) == 3


def test_meetings_of_before_are_refused() -> None:
    problem = problem_of(["...", "..."], [(0, 1)], priors=[((0, 1), 2, 1)])
    with pytest.raises(ValueError, match="prior meetings"):
        replayed(problem, 0)
