"""Posteriors of calendars against enumeration of all of them."""

from collections.abc import Callable, Sequence
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.ids import AgentId, Slot
from calbench.metrics.privacy.inference import sums
from calbench.metrics.privacy.inference.calendars import Array, Prior, posterior
from calbench.metrics.privacy.inference.knowledge import Books, Knowledge
from calbench.metrics.privacy.inference.lessons import Lessons, Mixed
from calbench.metrics.privacy.inference.sums import from_best, from_total
from calbench.protocols.clues import Best, OneOf, Total
from calbench.protocols.costs import cheapest_slot

CELLS = (0, 1, 10, None)
PRIOR = Prior(6, (0, 1, None), (0.0, 0.5, 0.0, 0.5), (0.4, 0.6))
LIKELY = st.sampled_from([0.0, 0.2, 1.0])


def chance_of(calendar: Sequence[int], prior: Prior) -> float:
    """Return the probability of a calendar: the number of blocked slots, then each of the rest."""
    blocked = len(prior.cells) - 1
    number = sum(cell == blocked for cell in calendar)
    if number >= len(prior.blocked):
        return 0.0
    rest = prod(prior.shares[cell] for cell in calendar if cell != blocked)
    return prior.blocked[number] / comb(prior.num_slots, number) * rest


@given(st.lists(st.lists(LIKELY, min_size=3, max_size=3), min_size=6, max_size=6))
def test_posterior_is_that_of_all_calendars(rows: list[list[float]]) -> None:
    weights = np.array(rows)
    found = np.zeros((6, 3))
    for calendar in product(range(3), repeat=6):
        fits = prod(weights[slot, cell] for slot, cell in enumerate(calendar))
        for slot, cell in enumerate(calendar):
            found[slot, cell] += fits * chance_of(calendar, PRIOR)
    if found.sum() > 0:
        expected = found / found.sum(axis=1, keepdims=True)
        assert posterior(PRIOR, weights[None])[0] == pytest.approx(expected, abs=1e-9)


def test_prior_is_the_posterior_of_nothing() -> None:
    expected = np.tile(PRIOR.chances, (6, 1))
    assert posterior(PRIOR, np.ones((1, 6, 3)))[0] == pytest.approx(expected)


def normalised(rows: Array) -> Array:
    found: Array = rows / rows.sum(axis=1, keepdims=True)
    return found


def enumerated(
    chances: Sequence[Array], fits: Callable[[Sequence[Sequence[int]]], float]
) -> list[Array]:
    """Return the marginals of independent slots of several agents, given a joint likelihood."""
    slots, cells = chances[0].shape
    found = [np.zeros((slots, cells)) for _ in chances]
    for joint in product(product(range(cells), repeat=slots), repeat=len(chances)):
        chance = fits(joint) * prod(
            chances[agent][slot, cell]
            for agent, calendar in enumerate(joint)
            for slot, cell in enumerate(calendar)
        )
        for agent, calendar in enumerate(joint):
            for slot, cell in enumerate(calendar):
                found[agent][slot, cell] += chance
    return [normalised(rows) for rows in found]


CHANCES = [
    normalised(np.array([[4.0, 2, 1, 3], [1, 1, 1, 1], [5, 1, 2, 2]])),
    normalised(np.array([[1.0, 5, 1, 2], [2, 1, 3, 4], [1, 1, 1, 3]])),
]


@pytest.mark.parametrize("own", [(0, 1, 10), (10, 0, None), (1, 1, 1)])
@pytest.mark.parametrize("slot", [0, 1, 2])
@pytest.mark.parametrize("is_forced", [False, True])
def test_choice_tells_what_enumeration_says(
    own: tuple[int | None, ...], slot: int, *, is_forced: bool
) -> None:
    def fits(joint: Sequence[Sequence[int]]) -> float:
        vectors = [own, *[[CELLS[cell] for cell in calendar] for calendar in joint]]
        chosen = cheapest_slot([tuple(vector) for vector in vectors])
        return 1 / 3 if chosen is None and is_forced else float(chosen == slot)

    agents = (AgentId(0), AgentId(1), AgentId(2))
    clue = Best(agents, Slot(slot), (Slot(0), Slot(1), Slot(2)), CELLS, is_forced=is_forced)
    (told,), (can_be,) = from_best([clue], np.array([CHANCES]), [own], CELLS)
    if not can_be:
        assert own[slot] is None
        assert not is_forced
        return
    for rows, before, expected in zip(told, CHANCES, enumerated(CHANCES, fits), strict=True):
        assert normalised(rows * before) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("most", [1, 2**19])
def test_choices_are_weighed_together_as_alone(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MOST_AT_ONCE", most)
    agents, among = (AgentId(0), AgentId(1), AgentId(2)), (Slot(2), Slot(0))
    clues = [Best(agents, Slot(slot), among, CELLS, is_forced=True) for slot in (0, 2, 0)]
    own: list[tuple[int | None, ...] | None] = [(0, 1, 10), (10, 0, None), None]
    chances = np.array([CHANCES, CHANCES[::-1], CHANCES])
    together, can_be = from_best(clues, chances, own, CELLS)
    for place, clue in enumerate(clues):
        one = slice(place, place + 1)
        (alone,), (is_possible,) = from_best([clue], chances[one], own[one], CELLS)
        assert can_be[place] == is_possible
        assert together[place] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("sums", [((0, 0), (1, 10), (2, 0)), ((1, 0), (0, 11), (0, 2))])
def test_total_tells_what_enumeration_says(sums: tuple[tuple[int, int], ...]) -> None:
    def fits(joint: Sequence[Sequence[int]]) -> float:
        for slot, (bad, cost) in enumerate(sums):
            values = [CELLS[calendar[slot]] for calendar in joint]
            if values.count(None) != bad or sum(value or 0 for value in values) != cost:
                return 0.0
        return 1.0

    clue = Total((AgentId(1), AgentId(2)), sums)
    told = [from_total([clue], [other[None]], CELLS)[0] for other in reversed(CHANCES)]
    for rows, before, expected in zip(told, CHANCES, enumerated(CHANCES, fits), strict=True):
        assert normalised(rows * before) == pytest.approx(expected, abs=1e-9)


# A slot that a meeting holds weighs as one without room: both are read alike.
WEIGHTS = st.tuples(LIKELY, LIKELY, LIKELY).map(lambda row: (*row, row[2]))
WAYS = st.lists(st.tuples(WEIGHTS, WEIGHTS), min_size=1, max_size=4)


@given(ways=WAYS, booked=st.sampled_from([None, 0, 1]))
def test_ways_tell_what_enumeration_says(
    ways: list[tuple[tuple[float, ...], ...]], booked: int | None
) -> None:
    """Each slot is free, full, blocked or a meeting's by now, and each way as likely as another."""
    prior = Prior(3, (0, 1, None), (0.5, 0.5), (0.4, 0.6))
    known, slots = Knowledge(prior, np.ones((1, 3, 3))), (Slot(2), Slot(0))
    if booked is not None:
        known.book([0], [booked])
    can_meet = dict.fromkeys(slots, (1.0, 1.0, 0.0))
    room, held = known.present([0])[0], held_in(known, prior)
    now = np.column_stack([room[:, :2], room[:, 2] - held, held])
    lessons = Lessons()
    row = lessons.begin(1)
    lessons.add(Mixed(lessons.number(), row, OneOf(AgentId(0), slots, ways, can_meet)))
    lessons.take_in(known)

    def likely(calendar: Sequence[int], way: Sequence[Sequence[float]]) -> float:
        return prod(way[place][calendar[slot]] for place, slot in enumerate(slots))

    if not any((np.array(way) * now[[2, 0]]).sum(axis=1).all() for way in ways):
        ways = [((1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0))]
    (expected,) = enumerated([now], lambda joint: sum(likely(joint[0], way) for way in ways))
    assert known.present([0])[0, :, :2] == pytest.approx(expected[:, :2])
    assert held_in(known, prior) == pytest.approx(expected[:, 3])


def book(known: Knowledge, slot: Slot) -> None:
    """Note a common meeting of three, which is elsewhere if the slot has no room."""
    elsewhere = known.book([0], [slot])
    book_somewhere(known, [0], elsewhere)


def book_somewhere(
    known: Knowledge, rows: Sequence[int], chance: Array, books: Sequence[Books] = ("anywhere",)
) -> None:
    """Note meetings of three at slots that nobody knows, by observers of one pair each."""
    size, observers, none = np.full(len(rows), 3), np.arange(len(rows)), np.full(len(rows), -1)
    takes = np.ones((len(rows), 1))
    known.book_somewhere(rows, chance, size, books, observers, none, takes)


def held_in(known: Knowledge, prior: Prior = PRIOR) -> Array:
    """Return by slot of the first pair the chance that a meeting holds it that is not hidden."""
    whole = known.apart([0])[0][0] @ prior.chances
    found: Array = known.held[0] @ prior.chances / whole
    return found


def hear(
    known: Knowledge,
    rows: Sequence[int],
    slots: Sequence[int],
    told: Array,
    held: Array | None = None,
) -> None:
    """Let pairs hear the same of their slots; a meeting is as likely as a blocked one."""
    by_meeting = told[:, -1] if held is None else held
    count = len(rows)
    known.hear(
        np.repeat(rows, len(slots)),
        np.tile(slots, count),
        np.tile(told, (count, 1)),
        np.tile(by_meeting, count),
    )


def test_slot_that_a_common_meeting_took_says_nothing_of_its_being_blocked() -> None:
    known = Knowledge(PRIOR, np.ones((1, 6, 3)))
    book(known, Slot(2))
    hear(known, [0], range(6), np.tile([0.0, 0.0, 1.0], (6, 1)))
    chances = posterior(PRIOR, *known.apart([0]))[0][:, -1]
    assert chances[2] < chances[3]


def test_no_other_meeting_is_where_the_observer_holds_one_with_its_members() -> None:
    known, other = (Knowledge(PRIOR, np.ones((1, 6, 3))) for _ in range(2))
    known.book_apart([0], [2], 0.02)
    for each in (known, other):
        book_somewhere(each, [0], np.ones(1))
        hear(each, [0], range(6), np.tile([0.0, 0.0, 1.0], (6, 1)))
    found, before = (posterior(PRIOR, *each.apart([0]))[0][:, -1] for each in (known, other))
    assert found[2] > 0.97 > before[2]
    assert found[3] < before[3]


def test_meeting_of_the_observer_says_where_no_earlier_one_was() -> None:
    known = Knowledge(PRIOR, np.ones((1, 6, 3)))
    book_somewhere(known, [0], np.ones(1))
    known.book_apart([0], [2], 0.02)
    hear(known, [0], range(6), np.tile([0.0, 0.0, 1.0], (6, 1)))
    chances = posterior(PRIOR, *known.apart([0]))[0][:, -1]
    assert chances[2] > chances[3]


def test_no_first_slot_is_where_who_may_meet_there_has_no_room() -> None:
    """Only by what the same observer knows."""
    one, two = (Knowledge(PRIOR, np.ones((2, 6, 3))) for _ in range(2))
    for known, observers in ((one, [0, 0]), (two, [0, 1])):
        hear(known, [1], [0], np.array([[0.0, 0.0, 1.0]]))
        sizes, numbers, takes = np.full(2, 3), np.full(2, -1), np.ones((2, 1))
        first: list[Books] = ["first", "first"]
        groups = np.array(observers)
        known.book_somewhere([0, 1], np.full(2, 0.5), sizes, first, groups, numbers, takes)
    together, apart = (held_in(known) for known in (one, two))
    assert together[0] == 0
    assert together[1] > apart[1] > 0


def test_meetings_are_weighed_apart_from_blocked_slots() -> None:
    known = Knowledge(PRIOR, np.ones((1, 6, 3)))
    book_somewhere(known, [0], np.ones(1))
    none = np.array([[0.0, 0.0, 1.0]] * 2)
    hear(known, [0], [1, 2], none, np.array([0.0, 1.0]))
    hear(known, [0], [3], np.zeros((1, 3)), np.array([1.0]))
    blocked = posterior(PRIOR, *known.apart([0]))[0][:, -1]
    assert blocked[1] == pytest.approx(1)
    assert 0 < blocked[2] < 1
    assert blocked[3] == 0


def test_meeting_is_elsewhere_if_the_agreed_slot_had_no_room() -> None:
    known = Knowledge(PRIOR, np.ones((1, 6, 3)))
    hear(known, [0], [2], np.array([[0.0, 0.0, 1.0]]))
    book(known, Slot(2))
    hear(known, [0], [4], np.array([[0.0, 0.0, 1.0]]))
    # A slot without room now may be held by that meeting, so it is not certainly blocked.
    assert 0 < posterior(PRIOR, *known.apart([0]))[0][4, 0] < 1


def test_contradiction_tells_nothing() -> None:
    known = Knowledge(PRIOR, np.ones((1, 6, 3)))
    hear(known, [0], [1], np.array([[1.0, 0.0, 0.0]]))
    hear(known, [0], [1], np.array([[0.0, 0.0, 1.0]]))
    assert posterior(PRIOR, *known.apart([0]))[0][1, 0] == pytest.approx(1)


def test_rows_do_not_touch_each_other() -> None:
    """Many pairs at once know what each of them would alone."""
    before = np.random.default_rng(7).uniform(0.1, 1.0, (3, 6, 3))
    together, apart = Knowledge(PRIOR, before), [Knowledge(PRIOR, row[None]) for row in before]
    told = np.array([[0.0, 1.0, 1.0], [1.0, 0.2, 0.0]])
    books: list[Books] = ["first", "anywhere", "cheapest"]
    hear(together, [0, 2], [1, 4], told)
    together.book_apart([1], [3], 0.02)
    elsewhere = together.book([0, 2], [5, 1])
    book_somewhere(together, [0, 1, 2], np.insert(elsewhere, 1, 0.5), books)
    for row, alone in enumerate(apart):
        chance = np.array([0.5])
        if row == 1:
            alone.book_apart([0], [3], 0.02)
        else:
            hear(alone, [0], [1, 4], told)
            chance = alone.book([0], [5 if row == 0 else 1])
        book_somewhere(alone, [0], chance, [books[row]])
        for one, other in zip(together.apart([row]), alone.apart([0]), strict=True):
            assert one == pytest.approx(other, abs=1e-12)
        assert together.present([row]) == pytest.approx(alone.present([0]), abs=1e-12)
