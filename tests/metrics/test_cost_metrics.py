import pytest

from calbench.domain.ids import MeetingId
from calbench.errors import CalbenchError
from calbench.metrics.costs import (
    adjusted_excess,
    complete_costs,
    oracle_costs,
    realised_costs,
)
from calbench.oracle.cache import OracleCache
from calbench.scenarios.models import OracleEntry, ScheduleEntry
from tests.factories import make_scenario
from tests.metrics.games import book, decide, move, play_scripts


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
    assert oracle_costs(scenario, (), cache) == (0, 0, 0)
    assert oracle_costs(scenario, (MeetingId(1),), cache) == (2, 0, 0)
    assert oracle_costs(scenario, (MeetingId(2),), cache) == (0, 0, 0)


def test_stored_schedule_stands_for_the_complete_set_only() -> None:
    stored = ScheduleEntry(slots={"1": 0}, prior_slots={}, cost_by_agent=(7, 0), cost=7)
    oracle = OracleEntry(
        best=stored, worst=stored, infeasible=None, greedy_cost=None, witness_cost=None
    )
    scenario = make_scenario(["E7.", ".."], [(0, 1)], oracle=oracle)
    cache = OracleCache()
    assert oracle_costs(scenario, (MeetingId(1),), cache) == (7, 0)
    assert complete_costs(scenario, cache) == ((7, 0), (7, 0))
    assert oracle_costs(scenario.updated(oracle=None), (MeetingId(1),), cache) == (0, 0)
    assert complete_costs(scenario.updated(oracle=None), cache) == ((0, 0), (7, 0))


def test_impossible_outcomes_are_refused_not_scored() -> None:
    scenario = make_scenario(["B.", ".B"], [(0, 1)])
    assert complete_costs(scenario, OracleCache()) is None
    with pytest.raises(CalbenchError, match=r"test-000.*\[1\].*impossible"):
        oracle_costs(scenario, (MeetingId(1),), OracleCache())


@pytest.mark.parametrize(
    ("excess", "unscheduled", "assigned", "best", "worst", "expected"),
    [
        (2, 1, 3, 2, 5, 1.0),
        (2, 0, 2, 0, 9, 1.0),
        (-1, 2, 2, 3, 1, -1.5),
        (4, 0, 0, 0, 0, None),
    ],
)
def test_adjusted_excess_by_hand(
    excess: int, unscheduled: int, assigned: int, best: int, worst: int, expected: float | None
) -> None:
    assert (
        adjusted_excess(excess, unscheduled=unscheduled, assigned=assigned, best=best, worst=worst)
        == expected
    )
