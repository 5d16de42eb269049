"""Rating along many orders: by hand, by the library, and by numbers that stay."""

import math

import numpy as np
import pytest
from openskill.models import PlackettLuce

from calbench.errors import CalbenchError
from calbench.stats import ratings as rating_module
from calbench.stats.plackett_luce import LAST, Event, Skills
from calbench.stats.ratings import (
    event_counts,
    margin_of,
    mmr_of,
    ranges_of,
    ranks_of,
    rate,
    tie_groups,
)
from calbench.stats.spec import RatingSpec

SPEC = RatingSpec(orders=20, resamples=40, orders_per_resample=2)
NAN = math.nan


def duel(winner: int, loser: int, *, score: float = 1.0) -> Event:
    """Return a game of two in which both ratings say the same."""
    return Event((winner, loser), ((score, 0.0), (score, 0.0)), (0.0, 0.0))


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_one_game_is_rated_as_by_the_library_in_every_order() -> None:
    model = PlackettLuce()
    [[a], [b]] = model.rate([[model.rating()], [model.rating()]], scores=[1.0, 0.0])
    found = rate([duel(1, 0)], np.array([0]), 3, [True, False], SPEC, "x")
    assert found.events.tolist() == [[1, 1, 0], [1, 1, 0]]
    assert found.mu[0] == pytest.approx([b.mu, a.mu, NAN], nan_ok=True)
    assert found.sigma[1] == pytest.approx([b.sigma, a.sigma, NAN], nan_ok=True)
    assert found.ordinal[0] == pytest.approx([b.ordinal(), a.ordinal(), NAN], nan_ok=True)
    assert found.spread[0] == pytest.approx([0, 0, NAN], nan_ok=True)
    expected = [1000 + 40 * b.ordinal(), 1000 + 40 * a.ordinal(), NAN]
    assert found.mmr == pytest.approx(expected, abs=1e-4, nan_ok=True)
    assert found.mmr_spread == pytest.approx([0, 0, NAN], abs=1e-9, nan_ok=True)
    assert found.rank == pytest.approx([2, 1, NAN], nan_ok=True)
    # One unit gives no interval, and nobody is significantly different.
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.tie_group == pytest.approx([1, 1, NAN], nan_ok=True)


def test_ratings_and_ranks_are_those_they_always_were() -> None:
    games = [duel(0, 1), duel(1, 2), duel(0, 2), duel(2, 1), duel(0, 1), duel(1, 0)]
    found = rate(games, np.array([0, 0, 1, 1, 2, 3]), 3, [True, True], SPEC, "pool", "uniform")
    assert found.mmr == pytest.approx([1285.3389, 1069.4709, 991.7456], abs=1e-4)
    assert found.mmr_spread == pytest.approx([27.2916, 30.3154, 17.0763], abs=1e-4)
    assert found.mu[0] == pytest.approx([29.2234, 23.3034, 22.4865], abs=1e-4)
    assert found.rank.tolist() == [1, 2, 3]
    assert found.low.tolist() == [1, 1, 2]
    assert found.high.tolist() == [2, 3, 3]
    assert found.tie_group.tolist() == [1, 1, 1]


def test_names_and_seed_choose_the_orders() -> None:
    games = [duel(0, 1), duel(1, 2), duel(2, 0), duel(0, 2)]
    units = np.arange(4)

    def found(*names: str, seed: int = 0) -> list[float]:
        spec = SPEC.model_copy(update={"seed": seed})
        mmr: list[float] = rate(games, units, 3, [True, True], spec, *names).mmr.tolist()
        return mmr

    assert found("a") == found("a")
    assert found("a") != found("b")
    assert found("a") != found("a", seed=1)


def test_who_always_wins_is_significantly_different() -> None:
    games = [duel(0, 1), duel(0, 2), duel(1, 2), duel(2, 1)] * 10
    found = rate(games, np.arange(40), 3, [True, True], SPEC, "x")
    assert (found.rank[0], found.low[0], found.high[0], found.tie_group[0]) == (1, 1, 1, 1)
    assert found.tie_group[1:].tolist() == [2, 2]
    assert sorted(found.rank[1:].tolist()) == [2, 3]
    assert found.low[1:].tolist() == [2, 2]
    assert found.high[1:].tolist() == [3, 3]


def test_only_the_ratings_of_the_mmr_count_and_all_of_them_must() -> None:
    opposed = Event((0, 1), ((1.0, 0.0), (0.0, 1.0)), (0.0, 0.0))
    assert rate([opposed], np.array([0]), 2, [True, False], SPEC).rank.tolist() == [1, 2]
    assert rate([opposed], np.array([0]), 2, [False, True], SPEC).rank.tolist() == [2, 1]
    assert rate([opposed], np.array([0]), 2, [True, True], SPEC).rank.tolist() == [1, 1]
    half = Event((0, 1), ((1.0, 0.0), (None, 1.0)), (0.0, 0.0))
    found = rate([half], np.array([0]), 2, [True, True], SPEC)
    assert np.isnan(found.rank).all()
    assert found.events.tolist() == [[1, 1], [0, 0]]
    assert not np.isnan(found.mu[0]).any()


def test_without_games_nobody_is_rated() -> None:
    found = rate([], np.array([], dtype=np.int64), 2, [True, False], SPEC)
    assert found.events.tolist() == [[0, 0], [0, 0]]
    assert np.isnan(found.mu).all()
    assert np.isnan(found.mmr).all()
    assert rate([], np.array([], dtype=np.int64), 0, [True], SPEC).rank.shape == (0,)


def test_a_library_that_computes_otherwise_stops_the_rating(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise CalbenchError("otherwise")

    monkeypatch.setattr(rating_module, "check_against_library", refuse)
    with pytest.raises(CalbenchError, match="otherwise"):
        rate([duel(0, 1)], np.array([0]), 2, [True, True], SPEC)


def test_events_are_counted_once_for_each_player() -> None:
    games = [
        Event((0, 0, 1), ((1.0, 2.0, 3.0), (1.0, None, None)), (0.0, 0.0)),
        Event((1, 2), ((1.0, 1.0), (0.0, 1.0)), (0.0, 0.0)),
    ]
    assert event_counts(games, 4, 2).tolist() == [[1, 2, 1, 0], [0, 1, 1, 0]]
    assert event_counts([], 2, 1).tolist() == [[0, 0]]


def test_mmr_is_the_scaled_mean_of_counted_ordinals() -> None:
    skills = Skills(np.array([[[25.0, 30.0], [1.0, 1.0], [40.0, 20.0]]]), np.ones((1, 3, 2)))
    assert mmr_of(skills, [0, 2], SPEC).tolist() == [[1000 + 40 * 29.5, 1000 + 40 * 22.0]]
    plain = RatingSpec(mmr_start=0.0, mmr_scale=1.0)
    assert mmr_of(skills, [1], plain).tolist() == [[-2, -2]]


def test_ranks_of_equal_values_are_shared() -> None:
    best, worst = ranks_of(np.array([[3.0, 5.0, 3.0, 1.0], [1.0, 2.0, 3.0, 4.0]]))
    assert best.tolist() == [[2, 1, 2, 4], [4, 3, 2, 1]]
    assert worst.tolist() == [[3, 1, 3, 4], [4, 3, 2, 1]]


def test_tie_groups_reach_as_far_as_the_interval_of_their_first() -> None:
    ranks = np.array([1, 2, 3, 4])
    found = tie_groups(ranks, floats(1, 1, 3, 3), floats(2, 3, 4, 4))
    assert found.tolist() == [1, 1, 2, 2]
    # The second reaches on, but the group is that of its first.
    assert tie_groups(ranks[:3], floats(1, 1, 3), floats(2, 3, 3)).tolist() == [1, 1, 2]
    assert tie_groups(np.array([2, 1]), floats(1, 1), floats(2, 2)).tolist() == [1, 1]
    assert tie_groups(np.array([3, 2, 1]), floats(3, 2, 1), floats(3, 2, 1)).tolist() == [3, 2, 1]
    # Of equal ranks the one with the better interval goes first.
    assert tie_groups(np.array([1, 1]), floats(2, 1), floats(2, 1)).tolist() == [2, 1]
    assert tie_groups(np.array([1, 2]), floats(NAN, NAN), floats(NAN, NAN)).tolist() == [1, 1]


def test_kinds_are_ranked_apart_and_a_guest_is_not() -> None:
    games = [Event((0, 1, 2, 3), ((4.0, 3.0, 2.0, 1.0),), (0.0,))] * 4
    joined = [Event((4, *game.players), ((0.0, *game.scores[0]),), (0.0,)) for game in games]
    units, kinds = np.arange(4), np.array([0, 1, 0, 1])
    plain = rate(games, units, 4, [True], SPEC, "x")
    found = rate(games, units, 4, [True], SPEC, "x", kinds=kinds, joined=joined)
    assert plain.rank.tolist() == [1, 2, 3, 4]
    assert found.rank[:4].tolist() == [1, 1, 2, 2]
    assert found.low[:4].tolist() == found.high[:4].tolist() == [1, 1, 2, 2]
    assert found.tie_group[:4].tolist() == [1, 1, 2, 2]
    assert found.mmr[:4].tolist() == plain.mmr.tolist()
    assert found.mmr[4] < found.mmr[3]
    assert np.isnan([found.rank[4], found.low[4], found.tie_group[4]]).all()
    assert found.events.tolist() == [[4] * 5]


def test_ranges_are_those_of_seats_that_take_part() -> None:
    events = [
        Event((0, 1, 2), ((1.0, 4.0, None),), (0.0,)),
        Event((0, 1), ((2.0, 2.0),), (0.0,)),
        Event((0, 0), ((1.0, 9.0),), (0.0,)),  # nobody meets another
        Event((0, 1), ((None, 9.0),), (0.0,)),
        Event((2, 1), ((-1.0, 0.5),), (0.0,)),
        Event((2, 1, 0), ((LAST, 0.5, 2.0),), (0.0,)),
    ]
    assert ranges_of(events, 0).tolist() == [3, 0, 1.5, 1.5]
    assert ranges_of([], 0).tolist() == []


def test_margins_follow_the_ranges_of_games() -> None:
    assert margin_of(floats()) == margin_of(floats(0, 0)) == 0
    assert math.log1p(4 / margin_of(floats(0, 2, 4, 6))) == pytest.approx(1)
    assert math.log1p(900 / margin_of(floats(1, 1, 900))) == pytest.approx(2)
    assert margin_of(floats(3)) == pytest.approx(1.745930, abs=1e-6)
    assert margin_of(floats(1, 1, 1, 100)) == pytest.approx(15.651764, abs=1e-6)
