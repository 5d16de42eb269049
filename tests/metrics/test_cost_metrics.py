import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.ids import MeetingId
from calbench.errors import CalbenchError
from calbench.metrics.authors import excess_in_margins
from calbench.metrics.costs import (
    adjusted_excess,
    burden_gaps,
    complete_costs,
    fairness,
    fairness_range,
    moved_costs,
    oracle_schedule,
    realised_costs,
    schedule_costs,
    shown_excess,
)
from calbench.metrics.game import score_game
from calbench.oracle.cache import OracleCache
from calbench.oracle.solve import Optimal
from calbench.scenarios.models import OracleEntry, Scenario, ScheduleEntry
from tests.factories import make_scenario
from tests.metrics.games import book, decide, move, play_random, play_scripts
from tests.strategies import loose_scenarios, scenarios, seeds


def test_realised_costs_keep_what_failed_rounds_charged() -> None:
    scenario = make_scenario(["E3...", "...."], [(0, 1), (0, 1)])
    trace = play_scripts(
        scenario,
        {
            0: decide(move(101, 0, 3), book(1, 0))
            | decide(move(1, 0, 1), book(2, 0), round_index=1),
            1: decide(book(1, 2)) | decide(book(2, 0), round_index=1),
        },
    )
    assert realised_costs(trace.events, 2) == (4, 0)


def test_oracle_costs_cover_exactly_the_scheduled_meetings() -> None:
    scenario = make_scenario(["E2B.B", "..B.", "E1B.."], [(0, 1), (0, 2), (1, 2)])
    cache = OracleCache()
    assert oracle_schedule(scenario, (), cache).cost_by_agent == (0, 0, 0)
    assert oracle_schedule(scenario, (MeetingId(1),), cache).cost_by_agent == (2, 0, 0)
    assert oracle_schedule(scenario, (MeetingId(2),), cache).cost_by_agent == (0, 0, 0)


def test_stored_schedule_stands_for_the_complete_set_only() -> None:
    stored = ScheduleEntry(slots={"1": 0}, prior_slots={}, cost_by_agent=(7, 0), cost=7)
    oracle = OracleEntry(
        best=stored, worst=stored, infeasible=None, greedy_cost=None, witness_cost=None
    )
    scenario = make_scenario(["E7.", ".."], [(0, 1)], oracle=oracle)
    cache = OracleCache()
    assert oracle_schedule(scenario, (MeetingId(1),), cache).cost_by_agent == (7, 0)
    assert complete_costs(scenario, cache) == ((7, 0), (7, 0))
    unsolved = scenario.updated(oracle=None)
    assert oracle_schedule(unsolved, (MeetingId(1),), cache).cost_by_agent == (0, 0)
    assert complete_costs(unsolved, cache) == ((0, 0), (7, 0))
    # What is impossible is refused, not scored.
    impossible = make_scenario(["B.", ".B"], [(0, 1)])
    assert complete_costs(impossible, cache) is None
    with pytest.raises(CalbenchError, match=r"test-000.*\[1\].*impossible"):
        oracle_schedule(impossible, (MeetingId(1),), cache)


@pytest.mark.parametrize(
    ("excess", "unscheduled", "assigned", "best", "worst", "expected"),
    [(2, 1, 3, 2, 5, 1.0), (2, 0, 2, 0, 9, 1.0), (-1, 2, 2, 3, 1, -1.5), (4, 0, 0, 0, 0, None)],
)
def test_adjusted_excess_by_hand(
    excess: int, unscheduled: int, assigned: int, best: int, worst: int, expected: float | None
) -> None:
    assert (
        adjusted_excess(excess, unscheduled=unscheduled, assigned=assigned, best=best, worst=worst)
        == expected
    )


def test_shown_excess_prices_moves_and_schedule_by_hand() -> None:
    # Costs 1, 2, 3 are shown as 1, 10, 100. Only slots 0 and 1 are open to both: slot 0 costs
    # agent 0 its 3, slot 1 costs agent 1 its 2, which is best.
    scenario = make_scenario(["E3.BB..", ".E2..BB"], [(0, 1)])
    scripts = {0: decide(move(101, 0, 4), book(1, 0)), 1: decide(book(1, 0))}
    trace = play_scripts(scenario, scripts)
    assert shown_excess(scenario, trace.events, (MeetingId(1),), OracleCache()) == (100, -10)
    assert shown_excess(scenario, trace.events, (), OracleCache()) == (100, 0)


@given(st.one_of(loose_scenarios(), scenarios()), seeds)
def test_moves_and_schedules_priced_by_the_accounting_are_the_accounting(
    scenario: Scenario, seed: int
) -> None:
    trace = play_random(scenario, seed)
    prices = scenario.cost_by_item
    paid = moved_costs(trace.events, scenario.num_agents, prices)
    assert paid == realised_costs(trace.events, scenario.num_agents)
    answer = OracleCache().best(scenario.problem, [m for m, _ in scenario.problem.meetings])
    if isinstance(answer, Optimal):
        schedule = answer.schedule
        assert schedule_costs(scenario, schedule, prices) == schedule.cost_by_agent


excesses = st.lists(st.integers(-50, 50), min_size=1, max_size=9)


def test_fairness_of_the_worked_example_is_four_fifths() -> None:
    assert fairness((1, 1, 0, -1, -1)) == 0.8
    assert burden_gaps((1, 1, 0, -1, -1)) == (1, 1, 0, 1, 1)
    # Agents without any burden count.
    assert burden_gaps((3, 0, 0)) == (2, 1, 1)
    assert fairness((3, 0, 0)) == pytest.approx(4 / 3)


@given(excesses)
def test_fairness_is_the_mean_gap_and_zero_only_when_even(excess: list[int]) -> None:
    gaps = burden_gaps(excess)
    assert fairness(excess) == pytest.approx(sum(gaps) / len(gaps))
    assert (fairness(excess) == 0) == (len(set(excess)) == 1)


def test_fairness_range_spans_the_optimal_splits() -> None:
    assert fairness_range((2, 0), [(1, 0), (0, 1), (2, -1)], is_sample=True) == (0.5, 1.5, True, 3)
    assert fairness_range((1, 1), [(0, 0)], is_sample=False) == (0.0, 0.0, False, 1)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("E3....", (3.0, 0.0)),
        ("E3E1...", (1.5, 0.0)),  # errands differ in cost: a margin is 2
        ("E9....", (5.0, 0.0)),  # beyond five margins nothing is told apart
    ],
)
def test_excess_in_margins_is_that_of_the_releases_ratings(
    row: str, expected: tuple[float, ...]
) -> None:
    scenario = make_scenario([row, "....."], [(0, 1)])
    scripts = {0: decide(move(101, 0, 4), book(1, 0)), 1: decide(book(1, 0))}
    assert excess_in_margins(score_game(play_scripts(scenario, scripts)), scenario) == expected
    # Who pays less than its part of the best schedule, here agent 0, has no negative excess.
    other = make_scenario(["E1.B..", ".E2.BB"], [(0, 1)])
    scripts = {0: decide(book(1, 1)), 1: decide(move(106, 1, 2), book(1, 1))}
    assert excess_in_margins(score_game(play_scripts(other, scripts)), other) == (0.0, 1.0)


def test_excess_in_margins_is_not_defined_with_prior_meetings() -> None:
    scenario = make_scenario(["....", "...."], [(0, 1)], prior=[((0, 1), 0)])
    trace = play_scripts(scenario, {})

    assert excess_in_margins(score_game(trace), scenario) is None
