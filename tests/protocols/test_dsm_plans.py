"""What a DSM initiator can offer, and in which order (paper, appendix D.3)."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.calendars import Booking, Calendar, Meeting
from calbench.protocols.dsm.plans import OwnPlans, outsiders, own_plans
from calbench.protocols.dsm.scores import satisfaction
from tests.factories import calendar
from tests.protocols.bookings import booked, meeting

X, Y = meeting(7, 0, 2), meeting(8, 0, 3)


def listed(held: Calendar, depth: int = 2, targets: int = 4) -> list[tuple[int, int, str]]:
    """Return (slot, own score, moves as "meeting from>to") of every plan, in order."""
    return [
        (
            plan.slot,
            plan.score,
            " ".join(f"{m.meeting.meeting_id} {m.from_slot}>{m.to_slot}" for m in plan.moves),
        )
        for plan in own_plans(held, depth, targets)
    ]


def test_satisfaction_falls_with_cost_and_never_below_one() -> None:
    costs = (0, 1, 3, 9, 10, 11, 100)
    assert [satisfaction(cost) for cost in costs] == [11, 10, 8, 2, 1, 1, 1]


def test_plans_are_free_slots_and_movable_errands_by_own_score_and_slot() -> None:
    assert listed(calendar("E100B.E1E10.E1")) == [
        (2, 11, ""),
        (5, 11, ""),
        (3, 10, ""),
        (6, 10, ""),
        (0, 1, ""),
        (4, 1, ""),
    ]


def test_errand_that_costs_nothing_stands_among_the_free_slots() -> None:
    assert [slot for slot, *_ in listed(calendar("E1E0.E0."))] == [1, 2, 3, 4, 0]


def test_nothing_is_offered_when_no_slot_is_free() -> None:
    assert listed(booked("E1.B", {1: X})) == []


def test_meeting_slot_offers_direct_moves_before_chains() -> None:
    held = booked("..B.", {0: X, 1: Y})
    assert listed(held) == [
        (3, 11, ""),
        (0, 10, "7 0>3"),
        (1, 10, "8 1>3"),
        (0, 9, "7 0>1 8 1>3"),
        (1, 9, "8 1>0 7 0>3"),
    ]


def test_depth_bounds_the_chain() -> None:
    held = booked("..B.", {0: X, 1: Y})
    assert [moves for *_, moves in listed(held, depth=1)] == ["", "7 0>3", "8 1>3"]
    assert [moves for *_, moves in listed(held, depth=0)] == [""]
    third = booked("...B.", {0: X, 1: Y, 2: meeting(9, 0, 4)})
    assert sum(moves.count(">") == 3 for *_, moves in listed(third, depth=3, targets=99)) == 6


def test_targets_keeps_the_cheapest_then_shortest_then_lowest() -> None:
    # Moving 7 costs 5, moving 8 costs 1: from slot 0 a chain costs 6, a direct move 5.
    dear = meeting(7, 0, 2, cost=5)
    held = booked("..B...", {0: dear, 1: Y})
    from_zero = [moves for slot, _, moves in listed(held, targets=4) if slot == 0]
    assert from_zero == ["7 0>3", "7 0>4", "7 0>5", "7 0>1 8 1>3"]
    assert [moves for slot, _, moves in listed(held, targets=2) if slot == 0] == ["7 0>3", "7 0>4"]
    scores = {moves: score for _, score, moves in listed(held, targets=4)}
    assert (scores["7 0>3"], scores["7 0>1 8 1>3"], scores["8 1>3"]) == (6, 5, 10)


def test_cheap_chain_precedes_a_dear_direct_move_of_another_slot() -> None:
    # Costless meetings: the sum of a chain and of a direct move are equal, the shorter wins.
    free_x, free_y = meeting(7, 0, 2, cost=0), meeting(8, 0, 3, cost=0)
    held = booked("..B.", {0: free_x, 1: free_y})
    assert listed(held) == [
        (0, 11, "7 0>3"),
        (0, 11, "7 0>1 8 1>3"),
        (1, 11, "8 1>3"),
        (1, 11, "8 1>0 7 0>3"),
        (3, 11, ""),
    ]


def test_outsiders_are_the_others_in_moved_meetings() -> None:
    new = Meeting(meeting(1, 0, 3).meeting_id, meeting(1, 0, 3).participants, 1)
    plans = list(own_plans(booked("..B.", {0: X, 1: meeting(8, 4, 0, 3)}), 2, 4))
    assert [outsiders((plan,), new) for plan in plans] == [(), (2,), (4,), (2, 4), (2, 4)]
    assert outsiders(plans, new) == (2, 4)


@pytest.mark.parametrize("row", ["..E1.B.", "E0..E1.", "E1B", "......"])
def test_first_plans_are_the_first_of_all(row: str) -> None:
    for held in (calendar(row), booked(row + "..", {len(calendar(row)): X})):
        plans = own_plans(held, 2, 4)
        for count in range(len(plans) + 2):
            assert OwnPlans(2, 4).first(held, count) == plans[:count]


@st.composite
def crowded(draw: st.DrawFn) -> Calendar:
    """Draw a calendar of meetings of equal and unequal costs, and few free slots."""
    costs = draw(st.lists(st.sampled_from((None, 0, 1, 1, 2, 5)), min_size=1, max_size=7))
    return tuple(
        None if cost is None else Booking(meeting(number, 0, cost=cost))
        for number, cost in enumerate(costs, 7)
    )


@given(held=crowded(), depth=st.integers(0, 4), targets=st.integers(0, 9))
def test_displacements_are_the_first_of_all_chains_in_order(
    held: Calendar, depth: int, targets: int
) -> None:
    """Compared with every chain there is, listed and sorted."""
    meetings = {slot: item.meeting for slot, item in enumerate(held) if isinstance(item, Booking)}
    free = [slot for slot, item in enumerate(held) if item is None]
    for slot in meetings:
        chains = sorted(
            (sum(meetings[at].cost for at in path), len(path), (*path[1:], target))
            for length in range(1, depth + 1)
            for path in permutations(meetings, length)
            if path[0] == slot
            for target in free
        )
        plans = [plan for plan in own_plans(held, depth, targets) if plan.slot == slot]
        found = [
            (
                sum(move.meeting.cost for move in plan.moves),
                len(plan.moves),
                tuple(move.to_slot for move in plan.moves),
            )
            for plan in sorted(plans, key=lambda plan: plan.index_in_slot)
        ]
        assert found == chains[:targets]


@given(calendars=st.lists(crowded(), min_size=1, max_size=3), asked=st.lists(st.integers(0, 9)))
def test_plans_do_not_depend_on_what_was_asked_before(
    calendars: list[Calendar], asked: list[int]
) -> None:
    kept = OwnPlans(2, 4)
    for number in asked:
        held = calendars[number % len(calendars)]
        plans = own_plans(held, 2, 4)
        if number < 5:
            assert kept.every(held) == plans
        else:
            assert kept.first(held, number) == plans[:number]
