"""Ranks to expect of more scenarios, and of proposed teams."""

import numpy as np

from calbench.analysis.matchmaking import never_met_after, propose
from calbench.analysis.rating_pools import Scenario
from calbench.stats.spec import RatingSpec
from tests.analysis.rated_games import Took, chance_games, rated_score, scope_of

SPEC = RatingSpec(orders=5, resamples=30, orders_per_resample=2)
LUCK = {"a": 0.0, "b": 0.3, "c": 0.4, "d": 0.9}


def test_more_scenarios_narrow_ranks_and_leave_the_ratings_alone() -> None:
    scope = scope_of(chance_games(LUCK, 12, seed=1), SPEC)
    found = [scope.further_ranks(times) for times in (1, 2, 16)]
    spans = [float((ranks["high"] - ranks["low"]).sum()) for ranks in found]
    assert spans[0] >= spans[1] >= spans[2]
    assert spans[0] > spans[2]
    for ranks in found:
        assert ranks["low"].min() == 1
        assert ranks["high"].max() <= len(LUCK)
    assert scope.further_ranks(2).equals(found[1])


def test_one_scenario_has_no_interval_to_expect() -> None:
    scope = scope_of(chance_games(LUCK, 1, seed=1), SPEC)
    assert np.isnan(scope.further_ranks(2).to_numpy()).all()


def test_who_never_met_is_counted_after_each_proposal() -> None:
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    games = [
        rated_score(f"s-{n}", Took(one), Took(other), team=f"{one}{other}")
        for n, (one, other) in enumerate(pairs)
    ]
    scope = scope_of(games, SPEC)
    suite = [Scenario("uniform", f"s-{n}") for n in range(3)]
    teams = propose(scope, suite, num_seats=3, num_teams=9)
    counts = [sum(never_met_after(scope, teams[:played])) for played in range(len(teams) + 1)]
    assert counts[0] == 6 * 4
    for played, team in enumerate(teams):
        assert counts[played] - counts[played + 1] == 2 * len(team.first_meetings)
    assert counts[-1] == 0
