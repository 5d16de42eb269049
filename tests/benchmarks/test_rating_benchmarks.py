"""Time of ratings, reported and never asserted: 1,000 games of eight players, 200 orders.

Work grows with games times orders times seats squared: an order of a game costs what it costs
in any other run, whatever the number of players.
"""

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench.analysis.rating_pools import pool_seats
from calbench.analysis.rating_scopes import rated_scope
from calbench.stats.spec import RatingSpec
from tests.analysis.rated_games import agents_of, chance_games

pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(RatingSpec(resamples=1, orders_per_resample=1), id="orders-alone"),
        pytest.param(RatingSpec(), id="with-rank-intervals"),
    ],
)
def test_a_thousand_games_are_rated_over_two_hundred_orders(
    benchmark: BenchmarkFixture, spec: RatingSpec
) -> None:
    assert spec.orders == 200
    luck_by_player = {name: 0.1 * place for place, name in enumerate("abcdefgh")}
    seats = pool_seats(agents_of(chance_games(luck_by_player, 1000, 0)), "models")
    scope = benchmark(rated_scope, seats, "models", "uniform", spec)
    assert len(scope.standings) == 8
