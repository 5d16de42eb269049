"""Meetings of which an observer knows no slot: how many there are, and who shares them."""

from collections.abc import Sequence
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.ids import AgentId
from calbench.domain.randomness import stream
from calbench.metrics.privacy.inference.calendars import HELD, Array, Prior, posterior
from calbench.metrics.privacy.inference.knowledge import Knowledge
from calbench.metrics.privacy.inference.observer import others_of
from calbench.scenarios.balance import balanced_participants

PRIOR = Prior(5, (0, 1, None), (0.0, 0.5, 0.0, 0.5), (0.4, 0.6))
LIKELY = st.sampled_from([0.0, 0.2, 1.0])
NONE, ROOM = np.array([[0.0, 0.0, 1.0]]), np.array([[1.0, 1.0, 0.0]])


def cells(count: int) -> st.SearchStrategy[Array]:
    rows = st.lists(st.lists(LIKELY, min_size=count, max_size=count), min_size=5, max_size=5)
    return rows.map(np.array)


@given(cells(3), cells(2), st.integers(1, 3))
def test_posterior_counts_hidden_meetings(weights: Array, held: Array, hidden: int) -> None:
    """Against all calendars: of each slot its cell, and whether such a meeting holds it."""
    found = np.zeros((5, 3))
    for states in product(range(5), repeat=5):  # a cell, or a cell with room that is held
        blocked, number = states.count(2), sum(state > 2 for state in states)
        if blocked >= len(PRIOR.blocked) or number > hidden + 1:
            continue
        chance = PRIOR.blocked[blocked] / comb(5, blocked) * (1 - HELD) ** abs(number - hidden)
        for slot, state in enumerate(states):
            cell = state - 3 if state > 2 else state
            likely = held[slot, cell] if state > 2 else weights[slot, cell]
            chance *= likely * (1.0 if cell == 2 else PRIOR.shares[cell])
        for slot, state in enumerate(states):
            found[slot, state - 3 if state > 2 else state] += chance
    by_meeting = np.append(held, np.zeros((5, 1)), axis=1)
    if found.sum() > 0:
        expected = found / found.sum(axis=1, keepdims=True)
    else:  # so many cannot be held
        (expected,) = posterior(PRIOR, (weights + by_meeting)[None])
    (own,) = posterior(PRIOR, weights[None], by_meeting[None], np.array([hidden]))
    assert own == pytest.approx(expected, abs=1e-9)


def booked(number: int, rows: int = 1) -> Knowledge:
    """Return what an observer knows of so many who hold meetings it knows not where."""
    known = Knowledge(PRIOR, np.ones((rows, 5, 3)))
    for _ in range(number):
        known.book_somewhere(
            np.arange(rows),
            np.ones(rows),
            np.full(rows, 3),
            np.zeros(rows, dtype=bool),
            np.zeros(rows, dtype=int),
        )
    return known


def hear(known: Knowledge, row: int, slots: Sequence[int], told: Array, held: float) -> None:
    count = len(slots)
    known.hear([row] * count, slots, np.tile(told, (count, 1)), np.full(count, held))


def blocked_of(known: Knowledge, row: int = 0) -> Array:
    chances: Array = posterior(PRIOR, *known.apart([row]))[0, :, -1]
    return chances


def test_meeting_that_was_found_is_nowhere_else() -> None:
    known = booked(1)
    hear(known, 0, [1, 2], NONE, 1.0)
    before = blocked_of(known)
    hear(known, 0, [3], np.zeros((1, 3)), 1.0)
    assert known.chance_held([0])[0, [1, 2]].max() < 0.1
    assert blocked_of(known)[[1, 2]].min() > max(0.95, before[1])
    assert blocked_of(known)[3] == 0


def test_as_many_slots_are_held_as_there_are_meetings() -> None:
    known = booked(2)
    hear(known, 0, [0, 1, 2], NONE, 1.0)
    assert known.chance_held([0]).sum() == pytest.approx(2, abs=0.1)
    hear(known, 0, [3, 4], ROOM, 0.0)
    assert known.chance_held([0])[0, :3].sum() == pytest.approx(2, abs=0.1)
    assert blocked_of(known).sum() == pytest.approx(1, abs=0.1)


def test_number_that_is_not_known_says_nothing() -> None:
    known = Knowledge(PRIOR, np.ones((1, 5, 3)))
    row = np.zeros(1, dtype=int)
    known.book_somewhere(row, np.full(1, 0.5), np.full(1, 3), np.zeros(1, dtype=bool), row)
    weights, held, number = known.apart([0])
    assert number.tolist() == [0]
    assert posterior(PRIOR, weights, held, number) == pytest.approx(
        posterior(PRIOR, weights + held)
    )


TOGETHER = np.array([[[0.0, 1.0], [1.0, 0.0]]])
"""Two who take part in the same hidden meetings."""


def test_meeting_is_where_its_partners_have_one() -> None:
    """Both cannot meet in slots 0 and 1; the other can in slot 0, so there it is not."""
    known = booked(1, rows=2)
    hear(known, 0, [0, 1], NONE, 1.0)
    hear(known, 0, [2, 3, 4], ROOM, 0.0)
    hear(known, 1, [0], ROOM, 0.0)
    hear(known, 1, [1], NONE, 1.0)
    before = known.chance_held([0])[0]
    moved = known.link(np.array([[0, 1]]), TOGETHER)
    assert (0, 0) in zip(*moved, strict=True)
    after = known.chance_held([0])[0]
    assert after[0] < 0.1 < before[0]
    assert after[1] > 0.8 > before[1]
    assert blocked_of(known)[0] > 0.9
    assert blocked_of(known)[1] < 0.2


def test_what_was_said_before_a_meeting_says_nothing_of_it() -> None:
    known = booked(0, rows=2)
    hear(known, 1, [0], ROOM, 0.0)
    known.begin_round()
    row = np.arange(2)
    known.book_somewhere(row, np.ones(2), np.full(2, 3), np.zeros(2, dtype=bool), row * 0)
    hear(known, 0, [0, 1], NONE, 1.0)
    before = known.chance_held([0])[0]
    known.link(np.array([[0, 1]]), TOGETHER)
    assert known.chance_held([0])[0] == pytest.approx(before)


def test_what_is_said_twice_counts_once() -> None:
    known, once = booked(1, rows=2), booked(1, rows=2)
    for each in (known, once):
        hear(each, 0, [0, 1], NONE, 1.0)
        hear(each, 1, [0], ROOM, 0.0)
        each.link(np.array([[0, 1]]), TOGETHER)
    known.begin_round()
    hear(known, 1, [0], ROOM, 0.0)
    known.link(np.array([[0, 1]]), TOGETHER)
    assert known.chance_held([0]) == pytest.approx(once.chance_held([0]), abs=1e-6)


def test_partners_are_how_often_another_takes_part_too() -> None:
    me, agents = AgentId(2), [AgentId(each) for each in (0, 1, 3, 4)]
    expected, together = np.zeros((4, 4)), np.zeros((4, 4))
    for seed in range(400):
        lists = balanced_participants(5, 5, 3, stream(seed, "partners"))
        seen = tuple([each if me in each else None for each in lists])
        partners = others_of(me, 5, 3, seen, is_drawn=True).partners(agents, 4)
        hidden = [each for each in lists[:4] if me not in each]
        assert (partners is None) == (not hidden)
        for one, other in product(range(4), repeat=2):
            own = [each for each in hidden if agents[one] in each]
            if partners is not None and own and one != other:
                expected[one, other] += partners[one, other] * len(own)
                together[one, other] += sum(agents[other] in each for each in own)
    assert together.sum() == pytest.approx(expected.sum(), rel=0.03)
    assert together == pytest.approx(expected, rel=0.2)


def test_nobody_is_a_partner_where_too_many_sequences_fit() -> None:
    lists = balanced_participants(20, 20, 3, stream(0, "partners"))
    me = AgentId(2)
    seen = tuple([each if me in each else None for each in lists])
    known = others_of(me, 20, 3, seen, is_drawn=True)
    assert known.hidden
    assert known.partners([AgentId(0), AgentId(1)], 19) is None
