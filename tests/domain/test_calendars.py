from calbench.domain.calendars import (
    Booking,
    Errand,
    Meeting,
    all_slots,
    free_slots,
    item_ids,
)
from calbench.domain.ids import AgentId, ErrandId, MeetingId
from tests.factories import calendar


def test_free_slots_are_ascending() -> None:
    assert list(free_slots(calendar(".E..B."))) == [0, 2, 3, 5]


def test_item_ids_name_errands_meetings_and_free_slots() -> None:
    booking = Booking(Meeting(MeetingId(3), (AgentId(1), AgentId(4)), 1))
    assert item_ids((*calendar("E.B"), booking)) == (101, None, 102, 3)


def test_errand_is_movable_when_it_is_not_blocked() -> None:
    assert Errand(ErrandId(101), 1, blocked=False).is_movable
    assert not Errand(ErrandId(101), 1, blocked=True).is_movable


def test_initiator_is_the_lowest_participant_whatever_the_order() -> None:
    assert Meeting(MeetingId(1), (AgentId(4), AgentId(2), AgentId(3)), 1).initiator == 2


def test_all_slots_are_as_many_as_the_calendar_is_long() -> None:
    assert all_slots(3) == (0, 1, 2)
