import pytest

from calbench.domain.actions import PASS, Turn
from calbench.domain.calendars import Booking
from calbench.domain.ids import Slot
from calbench.domain.observations import Phase
from calbench.protocols.base import JUSTIFICATION, place
from tests.engine.scripts import book, move
from tests.protocols.observations import TRIO, observation


def placed(row: str, slot: int) -> Turn:
    return place(observation(0, row, phase=Phase.DECISION), TRIO, Slot(slot))


def test_meeting_is_scheduled_at_once_when_the_slot_is_free() -> None:
    assert placed("E1.B", 1) == Turn((book(1, 1),))


def test_errand_moves_to_the_lowest_free_slot_when_it_stands_in_the_way() -> None:
    assert placed("BE1..", 1) == Turn((move(102, 1, 2, JUSTIFICATION), book(1, 1)))
    assert placed(".E1..", 1) == Turn((move(101, 1, 0, JUSTIFICATION), book(1, 1)))


@pytest.mark.parametrize(("row", "slot"), [("B.", 0), ("E1B", 0), ("E1", 0)])
def test_turn_is_empty_when_the_slot_cannot_be_cleared(row: str, slot: int) -> None:
    assert placed(row, slot) == PASS


def test_turn_is_empty_when_a_meeting_stands_in_the_slot() -> None:
    seen = observation(0, "..", phase=Phase.DECISION)._replace(calendar=(Booking(TRIO), None))
    assert place(seen, TRIO, Slot(0)) == PASS


@pytest.mark.parametrize("slot", [-1, 2, 10**30])
def test_turn_is_empty_when_the_slot_does_not_exist(slot: int) -> None:
    assert placed("..", slot) == PASS
