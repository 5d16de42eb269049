"""What a DSM initiator can offer, and in which order (paper, appendix D.3)."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.calendars import Booking, Calendar
from calbench.protocols.dsm.plans import OwnPlans, own_plans
from calbench.protocols.dsm.scores import satisfaction
from tests.factories import calendar
from tests.protocols.observations import booked, meeting

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


def test_depth_bounds_the_chain() -> None:
    held = booked("..B.", {0: X, 1: Y})
    assert [moves for *_, moves in listed(held, depth=1)] == ["", "7 0>3", "8 1>3"]
    assert [moves for *_, moves in listed(held, depth=0)] == [""]
    third = booked("...B.", {0: X, 1: Y, 2: meeting(9, 0, 4)})
    assert sum(moves.count(">") == 3 for *_, moves in listed(third, depth=3, targets=99)) == 6


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
