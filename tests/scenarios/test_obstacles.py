from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.oracle.solve import Optimal, solve_best
from calbench.scenarios.difficulty import obstacles
from tests.effort import examples
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario


def test_obstacles_by_hand() -> None:
    # The first two meetings share agent 1 and want slot 1; the third has slots 1 and 2 for nothing.
    scenario = make_scenario(["E..", "E.E", "E.."], [(0, 1), (1, 2), (2,)])
    found = obstacles(scenario.problem)
    assert found.cheapest_cost == 0
    assert found.clashes == 1 + 1 / 2


def test_without_a_slot_there_is_no_cheapest_one() -> None:
    scenario = make_scenario(["B.", ".B"], [(0, 1)])
    assert obstacles(scenario.problem) == (None, None, None)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(20))
def test_no_schedule_is_cheaper_than_every_meeting_by_itself(seed: int) -> None:
    problem = canonical_scenario(seed).problem
    found, best = obstacles(problem), solve_best(problem)
    assert isinstance(best, Optimal)
    assert found.cheapest_cost is not None
    assert found.greedy_cost is None or found.greedy_cost >= best.schedule.cost
    assert found.cheapest_cost <= best.schedule.cost
    assert found.clashes is not None
    if not found.clashes and not problem.prior_meetings:
        assert found.cheapest_cost == best.schedule.cost
