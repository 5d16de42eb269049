import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openskill.models import PlackettLuce

from calbench.errors import CalbenchError
from calbench.stats.plackett_luce import (
    LAST,
    NO_EVENT,
    Event,
    Skills,
    Update,
    check_against_library,
    rate_by_library,
    seat_scores,
)
from tests.effort import examples

NUM_PLAYERS = 4
scores = st.none() | st.just(LAST) | st.sampled_from([0.0, 1.0, 1.5, 4.0]) | st.floats(-300, 300)


@st.composite
def events(draw: st.DrawFn) -> Event:
    seats = draw(st.integers(1, 5))
    return Event(
        players=tuple(draw(st.integers(0, NUM_PLAYERS - 1)) for _ in range(seats)),
        scores=tuple(tuple(draw(scores) for _ in range(seats)) for _ in range(2)),
        margins=(draw(st.sampled_from([0.0, 0.5, 2.0, 50.0])), draw(st.floats(60, 500))),
    )


@given(st.lists(events(), min_size=1, max_size=8))
@settings(max_examples=examples(60))
def test_every_order_is_rated_as_the_library_rates_it(games: list[Event]) -> None:
    forward = list(range(len(games)))
    orders = np.array([forward, forward[::-1], forward])
    skills = Update(games, NUM_PLAYERS, 2).along(orders)
    for row, order in enumerate(orders):
        theirs = np.array(rate_by_library(games, NUM_PLAYERS, 2, [int(i) for i in order]))
        assert np.allclose(skills.mu[row], theirs[..., 0], atol=1e-9, rtol=1e-9)
        assert np.allclose(skills.sigma[row], theirs[..., 1], atol=1e-9, rtol=1e-9)


@given(st.lists(st.tuples(events(), st.floats(-9, 9) | st.just(LAST)), min_size=1, max_size=6))
@settings(max_examples=examples(40))
def test_a_guest_is_rated_and_moves_nobody(games: list[tuple[Event, float]]) -> None:
    alone = [event for event, _ in games]
    joined = [
        Event(
            (NUM_PLAYERS, *event.players),
            tuple((own, *others) for others in event.scores),
            event.margins,
        )
        for event, own in games
    ]
    forward = list(range(len(games)))
    size = NUM_PLAYERS + 1
    without = Update(alone, size, 2).along(np.array([forward]))
    found = Update(alone, size, 2).along(np.array([forward]), Update(joined, size, 2))
    assert (found.mu[..., :-1] == without.mu[..., :-1]).all()
    assert (found.sigma[..., :-1] == without.sigma[..., :-1]).all()
    check_against_library(alone, forward, found, joined)


def test_a_guest_meets_the_others_as_they_are_before_the_game() -> None:
    model = PlackettLuce()
    a, b, guest = model.rating(), model.rating(), model.rating()
    for own in (1.0, 5.0):
        before = a, b
        [[a], [b]] = model.rate([[a], [b]], scores=[2.0, 0.0])
        [[guest], _, _] = model.rate([[guest], [before[0]], [before[1]]], scores=[own, 2.0, 0.0])
    alone = [Event((0, 1), ((2.0, 0.0),), (0.0,))] * 2
    joined = [Event((2, 0, 1), ((own, 2.0, 0.0),), (0.0,)) for own in (1.0, 5.0)]
    found = Update(alone, 3, 1).along(np.array([[0, 1, NO_EVENT]]), Update(joined, 3, 1))
    assert found.mu[0, 0].tolist() == pytest.approx([a.mu, b.mu, guest.mu])
    assert found.sigma[0, 0].tolist() == pytest.approx([a.sigma, b.sigma, guest.sigma])


def test_last_loses_to_the_worst_by_a_rank_alone() -> None:
    event = Event((0, 1, 2, 3), ((5.0, LAST, 3.0, None),) * 2, (4.0, 0.0))
    assert seat_scores(event, 0) == {0: 5.0, 1: 1.0, 2: 3.0}
    assert seat_scores(event, 1) == {0: 5.0, 1: 2.0, 2: 3.0}
    nobody = Event((0, 1), ((LAST, LAST),), (4.0,))
    assert len(set(seat_scores(nobody, 0).values())) == 1
    assert event.only([1]) == Event(event.players, event.scores[1:], (0.0,))


def test_two_games_come_out_as_by_openskill_called_directly() -> None:
    model = PlackettLuce(margin=0.5)
    a, b, c = model.rating(), model.rating(), model.rating()
    [[a], [b], [c]] = model.rate([[a], [b], [c]], scores=[3.0, 1.0, 1.0])
    [[c], [a]] = model.rate([[c], [a]], scores=[0.0, 9.0])
    games = [
        Event((0, 1, 2), ((3.0, 1.0, 1.0),), (0.5,)),
        Event((2, 1, 0), ((0.0, None, 9.0),), (0.5,)),
    ]
    skills = Update(games, 3, 1).along(np.array([[0, 1]]))
    assert skills.mu[0, 0].tolist() == pytest.approx([a.mu, b.mu, c.mu])
    assert skills.sigma[0, 0].tolist() == pytest.approx([a.sigma, b.sigma, c.sigma])
    assert skills.ordinal[0, 0].tolist() == pytest.approx([x.ordinal() for x in (a, b, c)])


def test_a_player_in_two_seats_gets_the_mean_of_both() -> None:
    model = PlackettLuce()
    rated = model.rate([[model.rating()] for _ in range(3)], scores=[2.0, 0.0, 1.0])
    skills = Update([Event((0, 0, 1), ((2.0, 0.0, 1.0),), (0.0,))], 2, 1).along(np.array([[0]]))
    assert skills.mu[0, 0, 0] == pytest.approx((rated[0][0].mu + rated[1][0].mu) / 2)
    assert skills.sigma[0, 0, 0] == pytest.approx((rated[0][0].sigma + rated[1][0].sigma) / 2)
    assert skills.mu[0, 0, 1] == pytest.approx(rated[2][0].mu)


def test_nobody_is_rated_by_a_game_with_oneself() -> None:
    games = [
        Event((0, 0, 0), ((1.0, 2.0, 3.0),), (0.0,)),
        Event((0, 1), ((1.0, None),), (0.0,)),
    ]
    skills = Update(games, 2, 1).along(np.array([[0, 1, NO_EVENT]]))
    assert (skills.mu == PlackettLuce().mu).all()
    assert (skills.sigma == PlackettLuce().sigma).all()


def test_a_library_that_computes_otherwise_is_noticed() -> None:
    games = [Event((0, 1), ((1.0, 0.0),), (0.0,))]
    skills = Update(games, 2, 1).along(np.array([[0]]))
    check_against_library(games, [0], skills)
    with pytest.raises(CalbenchError, match=r"openskill does not compute.*requirements\.lock"):
        check_against_library(games, [0], Skills(skills.mu + 1e-3, skills.sigma))
