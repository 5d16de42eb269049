import pytest

from calbench.domain.calendars import Booking, Calendar
from calbench.protocols.costs import CostVector, cheapest_slot, feasible_slots, local_costs
from tests.factories import calendar
from tests.protocols.observations import TRIO


def test_local_cost_is_nothing_when_free_and_shown_when_movable_and_absent_when_not() -> None:
    held: Calendar = (*calendar(".E10B5E100."), Booking(TRIO))
    assert local_costs(held) == (0, 10, None, 100, 0, None)


def test_errand_has_no_local_cost_when_no_slot_is_free_to_take_it() -> None:
    assert local_costs(calendar("E1E10B")) == (None, None, None)


def test_errand_has_its_cost_when_one_other_slot_is_free() -> None:
    assert local_costs(calendar("E1.E10")) == (1, 0, 10)


def test_feasible_slots_are_those_with_a_cost_ascending() -> None:
    assert feasible_slots((None, 0, 10, None, 1)) == (1, 2, 4)


@pytest.mark.parametrize(
    ("vectors", "slot"),
    [
        ([(3, 2, 1)], 2),
        ([(1, 0, 1), (0, 10, 0)], 0),
        ([(0, 1, 0), (1, 0, 1), (0, 0, 0)], 0),
        ([(None, 1, 0), (0, None, 100)], 2),
        ([(None, 1), (1, None)], None),
        ([(None, None)], None),
        ([(100, 10, 10), (0, 10, 10)], 1),
    ],
)
def test_cheapest_slot_has_the_smallest_sum_then_index_among_those_feasible_for_all(
    vectors: list[CostVector], slot: int | None
) -> None:
    assert cheapest_slot(vectors) == slot
