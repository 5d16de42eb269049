"""Proposed teams, and the ranks to expect of them and of more scenarios."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.matchmaking import Proposal, never_met_after, propose
from calbench.analysis.rating_pools import Scenario
from calbench.errors import CalbenchError
from calbench.metrics.game import GameScore
from calbench.stats.spec import RatingSpec
from tests.analysis.rated_games import Took, chance_games, player, rated_score, scope_of

SPEC = RatingSpec(orders=5, resamples=10, orders_per_resample=1)
SUITE = [Scenario("uniform", f"s-{number:04d}") for number in range(10)]


def proposed(
    games: list[GameScore], entrants: str = "", *, num_seats: int = 5, num_teams: int = 1
) -> list[Proposal]:
    # A game without seats of the pool, so that there are seats at all.
    others = [*games, rated_score("s-none", Took("p", kind="protocol"))]
    scope = scope_of(others, SPEC, entrants=[player(name) for name in entrants])
    return propose(scope, SUITE, num_seats=num_seats, num_teams=num_teams)


def names(proposal: Proposal) -> set[str]:
    return {member.name for member in proposal.players}


def test_players_that_never_met_meet_first() -> None:
    games = [
        *chance_games({"a": 0.0, "b": 0.5}, 9, seed=1),
        *(rated_score(f"s-{n}", Took("c"), Took("d", 2, n, 3.0), team="cd") for n in range(9)),
    ]
    (proposal,) = proposed(games, num_seats=2)
    assert len(names(proposal) & {"a", "b"}) == len(names(proposal) & {"c", "d"}) == 1
    assert len(proposal.first_meetings) == 1


def test_an_entrant_is_seated_with_the_others() -> None:
    (proposal,) = proposed(chance_games({"a": 0.0, "b": 0.5, "c": 0.9}, 9, seed=1), "z")
    assert names(proposal) == set("abcz")
    met = [{pair[0].name, pair[1].name} for pair in proposal.first_meetings]
    assert sorted(map(sorted, met)) == [["a", "z"], ["b", "z"], ["c", "z"]]


def test_all_pairs_have_met_after_enough_teams() -> None:
    teams = proposed([], "abcdefg", num_seats=4, num_teams=7)
    met = {pair for team in teams for pair in combinations(sorted(names(team)), 2)}
    assert met == set(combinations("abcdefg", 2))
    assert sum(len(team.first_meetings) for team in teams) == 21


def test_the_wider_rank_interval_plays_where_all_have_met() -> None:
    # First and last are certain; b and c cannot be told apart.
    games = [
        rated_score(
            f"s-{n:04d}",
            Took("a", 3, 0, 0.0),
            Took("b", 2, 3 + n % 2, 5.0),
            Took("c", 2, 4 - n % 2, 5.0),
            Took("d", 0, 9, 20.0),
        )
        for n in range(20)
    ]
    (proposal,) = proposed(games, num_seats=2)
    assert names(proposal) == {"b", "c"}


@pytest.mark.heavy
@given(st.integers(0, 30), st.integers(2, 7), st.integers(1, 3))
def test_seats_and_calendars_are_balanced(seed: int, num_players: int, num_teams: int) -> None:
    names_ = "abcdefg"[:num_players]
    games = chance_games(dict.fromkeys(names_, 0.5), 10, seed)
    for team in proposed(games, num_teams=num_teams):
        seats = Counter(
            (member, (start + place) % 5)
            for place in range(len(SUITE))
            for start, member in enumerate(team.players)
        )
        for member in set(team.players):
            # Ten scenarios of five seats: everybody sits everywhere equally often.
            assert {seats[member, agent] for agent in range(5)} == {2 * team.players.count(member)}
        counts = [team.players.count(member) for member in set(team.players)]
        assert max(counts) - min(counts) <= 1


def test_a_team_played_again_gets_other_calendars() -> None:
    first, second = proposed([], "ab", num_seats=2, num_teams=2)
    assert first.players == second.players[::-1]


def test_who_got_a_calendar_before_gets_another() -> None:
    # a sat first in every scenario, so it starts second now; of seats alone, the same.
    games = [
        rated_score(scenario.scenario_id, Took("a"), Took("b"), team=f"t-{number}")
        for number, scenario in enumerate(SUITE[::2])
    ]
    (proposal,) = proposed(games, num_seats=2)
    assert [member.name for member in proposal.players] == ["b", "a"]


def test_few_players_repeat_in_the_order_of_their_choice() -> None:
    (proposal,) = proposed([], "ab", num_seats=5)
    assert [member.name for member in proposal.players] == ["a", "b", "a", "b", "a"]
    assert [(a.name, b.name) for a, b in proposal.first_meetings] == [("a", "b")]


def test_one_player_cannot_be_matched() -> None:
    with pytest.raises(CalbenchError, match="1 players of pool models"):
        proposed([rated_score("s-0", Took("a"))])


NARROW = RatingSpec(orders=5, resamples=30, orders_per_resample=2)
LUCK = {"a": 0.0, "b": 0.3, "c": 0.4, "d": 0.9}


def test_more_scenarios_narrow_ranks_and_leave_the_ratings_alone() -> None:
    scope = scope_of(chance_games(LUCK, 12, seed=1), NARROW)
    found = [scope.further_ranks(times) for times in (1, 2, 16)]
    spans = [float((ranks["high"] - ranks["low"]).sum()) for ranks in found]
    assert spans[0] >= spans[1] >= spans[2]
    assert spans[0] > spans[2]
    for ranks in found:
        assert ranks["low"].min() == 1
        assert ranks["high"].max() <= len(LUCK)
    assert scope.further_ranks(2).equals(found[1])


def test_one_scenario_has_no_interval_to_expect() -> None:
    scope = scope_of(chance_games(LUCK, 1, seed=1), NARROW)
    assert np.isnan(scope.further_ranks(2).to_numpy()).all()


def test_who_never_met_is_counted_after_each_proposal() -> None:
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    games = [
        rated_score(f"s-{n}", Took(one), Took(other), team=f"{one}{other}")
        for n, (one, other) in enumerate(pairs)
    ]
    scope = scope_of(games, NARROW)
    suite = [Scenario("uniform", f"s-{n}") for n in range(3)]
    teams = propose(scope, suite, num_seats=3, num_teams=9)
    counts = [sum(never_met_after(scope, teams[:played])) for played in range(len(teams) + 1)]
    assert counts[0] == 6 * 4
    for played, team in enumerate(teams):
        assert counts[played] - counts[played + 1] == 2 * len(team.first_meetings)
    assert counts[-1] == 0
