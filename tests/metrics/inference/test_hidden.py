"""Meetings of which an observer knows no slot: where they are, and who shares them."""

from collections.abc import Sequence
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.ids import AgentId
from calbench.domain.randomness import stream
from calbench.metrics.privacy.inference.calendars import (
    HELD,
    Array,
    Prior,
    members_of,
    posterior,
)
from calbench.metrics.privacy.inference.knowledge import Books, Knowledge
from calbench.metrics.privacy.inference.observer import others_of
from calbench.scenarios.balance import balanced_participants

PRIOR = Prior(5, (0, 1, None), (0.0, 0.5, 0.0, 0.5), (0.4, 0.6))
SMALL = Prior(4, (0, 1, None), (0.0, 0.5, 0.0, 0.5), (0.4, 0.6))
LIKELY = st.sampled_from([0.0, 0.2, 1.0])
NONE, ROOM = np.array([[0.0, 0.0, 1.0]]), np.array([[1.0, 1.0, 0.0]])
BOTH = np.array([0.0, 0.0, 0.0, 1.0])


def cells(*shape: int) -> st.SearchStrategy[Array]:
    flat = st.lists(LIKELY, min_size=prod(shape), max_size=prod(shape))
    return flat.map(lambda values: np.array(values).reshape(shape))


@given(cells(4, 3), cells(2, 4, 2), st.sampled_from([[0, 0.5, 0.5, 0], [0.2, 0.3, 0, 0.5], BOTH]))
def test_posterior_places_hidden_meetings(
    weights: Array, hidden: Array, takes: Sequence[float]
) -> None:
    """Against all calendars: of each slot its cell, and which meeting holds it, if any."""
    found, members = np.zeros((4, 3)), members_of(2).astype(bool)
    for states in product(range(7), repeat=4):  # a cell, or one with room that a meeting holds
        blocked, held = states.count(2), [(state - 3) // 2 for state in states if state > 2]
        if blocked >= len(SMALL.blocked) or len({*held}) < len(held):
            continue
        chance = (
            SMALL.blocked[blocked]
            / comb(4, blocked)
            * sum(
                had * prod(HELD if each in held else 1 - HELD for each in np.flatnonzero(own))
                for had, own in zip(takes, members, strict=True)
                if all(own[each] for each in held)
            )
        )
        rooms = [(state - 3) % 2 if state > 2 else state for state in states]
        for slot, (state, cell) in enumerate(zip(states, rooms, strict=True)):
            likely = hidden[(state - 3) // 2, slot, cell] if state > 2 else weights[slot, cell]
            chance *= likely * (1.0 if cell == 2 else SMALL.shares[cell])
        for slot, cell in enumerate(rooms):
            found[slot, cell] += chance
    (own,) = posterior(SMALL, weights[None], hidden[None], np.array(takes)[None])
    if found.sum() > 0:
        expected = found / found.sum(axis=1, keepdims=True)
    else:  # so many cannot be held
        either = weights.copy()
        either[:, :-1] += hidden.sum(axis=0)
        (expected,) = posterior(SMALL, either[None])
    assert own == pytest.approx(expected, abs=1e-9)


def book(known: Knowledge, number: int, takes: Sequence[float], books: Books = "anywhere") -> None:
    """Let one observer of all rows note a hidden meeting of three."""
    rows = len(known.open)
    known.book_somewhere(
        np.arange(rows),
        np.full(rows, sum(takes[1 << number :: 1]) if number else 1.0).clip(0.0, 1.0),
        np.full(rows, 3),
        [books] * rows,
        np.zeros(rows, dtype=int),
        np.full(rows, number),
        np.tile(takes, (rows, 1)),
    )


def booked(number: int, rows: int = 1) -> Knowledge:
    """Return what an observer knows of some who hold so many meetings it knows not where."""
    known = Knowledge(PRIOR, np.ones((rows, 5, 3)), 2)
    for each, takes in enumerate(([0.0, 1.0, 0.0, 0.0], BOTH.tolist())[:number]):
        book(known, each, takes)
    return known


def hear(known: Knowledge, row: int, slots: Sequence[int], told: Array, held: float) -> None:
    count = len(slots)
    known.hear([row] * count, slots, np.tile(told, (count, 1)), np.full(count, held))


def blocked_of(known: Knowledge, row: int = 0) -> Array:
    chances: Array = posterior(PRIOR, *known.apart([row]))[0, :, -1]
    return chances


def where(known: Knowledge) -> Array:
    """Return by slot the chance that the first target holds a hidden meeting there."""
    found: Array = known.where([0])[0].sum(axis=0)
    return found


def test_meeting_that_was_found_is_nowhere_else() -> None:
    known = booked(1)
    hear(known, 0, [1, 2], NONE, 1.0)
    before = blocked_of(known)
    hear(known, 0, [3], np.zeros((1, 3)), 1.0)
    assert where(known)[[1, 2]].max() < 0.1
    assert blocked_of(known)[[1, 2]].min() > max(0.9, before[1])
    assert blocked_of(known)[3] == 0


def test_as_many_slots_are_held_as_there_are_meetings() -> None:
    known = booked(2)
    hear(known, 0, [0, 1, 2], NONE, 1.0)
    assert where(known).sum() == pytest.approx(2)
    hear(known, 0, [3, 4], ROOM, 0.0)
    assert where(known)[:3].sum() == pytest.approx(2)
    assert blocked_of(known).sum() == pytest.approx(1, abs=0.1)


def test_who_may_have_no_meeting_has_none_where_all_is_open() -> None:
    known = Knowledge(PRIOR, np.ones((1, 5, 3)), 1)
    book(known, 0, [0.5, 0.5])
    assert where(known).sum() == pytest.approx(0.5)
    hear(known, 0, range(4), ROOM, 0.0)
    assert where(known).sum() < 0.25
    hear(known, 0, [4], ROOM, 0.0)
    assert where(known).sum() == 0


CELLS = st.tuples(LIKELY, LIKELY, LIKELY).filter(any).map(lambda row: np.array(row) / sum(row))


@given(st.lists(CELLS, min_size=6, max_size=6), st.sampled_from(["first", "cheapest"]))
def test_meeting_is_where_all_calendars_would_have_it(rows: list[Array], books: Books) -> None:
    """Three agents and two slots, each by itself: the first is the target, the others alike."""
    own, other = np.array(rows[:2]), np.array(rows[2:4])
    prior = Prior(2, (0, 1, None), (0.5, 0.5), (0.4, 0.6))
    before = np.array([own, other]) / prior.chances
    known = Knowledge(prior, before, 1)
    expected = np.zeros((2, 3))
    for calendars in product(product(range(3), repeat=2), repeat=3):
        chance = prod(
            chances[slot, cell]
            for chances, calendar in zip((own, other, other), calendars, strict=True)
            for slot, cell in enumerate(calendar)
        )
        costs = [[each[slot] for each in calendars] for slot in range(2)]
        can = [slot for slot in range(2) if 2 not in costs[slot]]
        if can:
            slot = min(can, key=lambda each: (sum(costs[each]) * (books == "cheapest"), each))
            expected[slot, calendars[0][slot]] += chance
    if not expected.sum():
        return
    numbers, takes = np.zeros(2, dtype=int), np.array([[0.0, 1.0]] * 2)
    sizes, kinds = np.full(2, 3), [books] * 2
    known.book_somewhere([0, 1], np.ones(2), sizes, kinds, numbers, numbers, takes)
    is_there = np.minimum(HELD * own, expected / expected.sum()).sum(axis=1)
    there = known.where([0])[0, 0]
    assert there == pytest.approx(is_there / is_there.sum())
    # That a meeting was held says nothing of what is blocked, if rules always find a slot.
    if expected.sum() > 1 - 1e-9:
        assert known.present([0])[0, :, 2] - there == pytest.approx(own[:, 2])


TOGETHER = np.ones((1, 2, 1, 1))
"""Two who take part in the same hidden meeting, with a third who is not heard."""


def test_meeting_is_where_its_partners_have_one() -> None:
    """Both cannot meet in slots 0 and 1; the other can in slot 0, so there it is not."""
    known = booked(1, rows=2)
    hear(known, 0, [0, 1], NONE, 1.0)
    hear(known, 0, [2, 3, 4], ROOM, 0.0)
    hear(known, 1, [0], ROOM, 0.0)
    hear(known, 1, [1], NONE, 1.0)
    before = where(known)
    moved = known.link(np.array([[0, 1]]), TOGETHER, 2)
    assert (0, 0) in zip(*moved, strict=True)
    after = where(known)
    assert after[0] < 0.1 < before[0]
    assert after[1] > 0.8 > before[1]
    assert blocked_of(known)[0] > 0.9
    assert blocked_of(known)[1] < 0.2


def test_what_was_said_before_a_meeting_says_nothing_of_it() -> None:
    known = Knowledge(PRIOR, np.ones((2, 5, 3)), 1)
    hear(known, 1, [0], ROOM, 0.0)
    known.begin_round()
    book(known, 0, [0.0, 1.0])
    hear(known, 0, [0, 1], NONE, 1.0)
    before = where(known)
    known.link(np.array([[0, 1]]), TOGETHER, 2)
    assert where(known) == pytest.approx(before)


def test_what_is_said_twice_counts_once() -> None:
    known, once = booked(1, rows=2), booked(1, rows=2)
    for each in (known, once):
        hear(each, 0, [0, 1], NONE, 1.0)
        hear(each, 1, [0], ROOM, 0.0)
        each.link(np.array([[0, 1]]), TOGETHER, 2)
    known.begin_round()
    hear(known, 1, [0], ROOM, 0.0)
    known.link(np.array([[0, 1]]), TOGETHER, 2)
    assert where(known) == pytest.approx(where(once), abs=1e-6)


def test_what_is_known_already_says_nothing_of_partners() -> None:
    """Where the other's meeting is was heard; that it has no room there is no news, whenever."""
    known = booked(1, rows=2)
    hear(known, 0, [0, 1], NONE, 1.0)
    hear(known, 1, [0], np.zeros((1, 3)), 1.0)
    known.link(np.array([[0, 1]]), TOGETHER / 2, 2)
    before = where(known)
    for _ in range(3):
        known.begin_round()
        for _ in range(2):
            hear(known, 1, [0], NONE, 1.0)
        known.link(np.array([[0, 1]]), TOGETHER / 2, 2)
    assert where(known) == pytest.approx(before)


def test_partners_are_how_often_sets_meet() -> None:
    me, agents = AgentId(2), [AgentId(each) for each in (0, 1, 3, 4)]
    expected, met = np.zeros((4, 4)), np.zeros((4, 4))
    sets = [*combinations(agents, 3)]
    for seed in range(400):
        lists = balanced_participants(5, 5, 3, stream(seed, "partners"))
        seen = tuple([each if me in each else None for each in lists])
        known = others_of(me, 5, 3, seen, is_drawn=True)
        partners = known.partners(
            agents, [tuple((at, None) for at in range(len(known.hidden)))] * 4
        )
        for place, each in enumerate(known.hidden):
            for row, agent in enumerate(agents):
                if partners is not None and agent in lists[each]:
                    expected[row] += partners[row][place]
                    first, second, third = sorted(lists[each])
                    met[row, sets.index((first, second, third))] += 1
    assert met.sum() == pytest.approx(expected.sum())
    assert met == pytest.approx(expected, rel=0.2)


def test_nobody_is_a_partner_where_too_many_sequences_fit() -> None:
    lists = balanced_participants(20, 20, 3, stream(0, "partners"))
    me = AgentId(2)
    seen = tuple([each if me in each else None for each in lists])
    known = others_of(me, 20, 3, seen, is_drawn=True)
    assert known.partners([AgentId(0), AgentId(1)], [((0, None),)] * 2) is None
