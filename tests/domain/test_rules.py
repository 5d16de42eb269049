"""Batches by the rules of the appendix, and the calendars that they change."""

import pytest

from calbench.domain.actions import CalendarAction
from calbench.domain.calendars import (
    Booking,
    Calendar,
    Errand,
    Meeting,
    all_slots,
    free_slots,
    item_ids,
)
from calbench.domain.ids import AgentId, ErrandId, MeetingId
from calbench.domain.rules import Applied, Rejection, apply_batch
from tests.engine.scripts import book, move
from tests.factories import calendar

MEETING = Meeting(MeetingId(1), (AgentId(0), AgentId(1)), 1)
STANDING = Meeting(MeetingId(7), (AgentId(0), AgentId(2)), 2)

# Errands 101 and 102 at slots 1 and 2, blocked 103 at 3, meeting 7 at 4; 0 and 5 are free.
FULL: Calendar = (*calendar(".EEB"), Booking(STANDING), None)


def conflict(*actions: CalendarAction, meeting: Meeting | None = MEETING) -> str:
    result = apply_batch(FULL, actions, meeting)
    assert isinstance(result, Rejection)
    return result.conflict


def applied(*actions: CalendarAction, meeting: Meeting | None = MEETING) -> Applied:
    result = apply_batch(FULL, actions, meeting)
    assert isinstance(result, Applied), result
    return result


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (book(1, 6), "schedule: slot 6 is outside 0..5"),
        (book(1, -1), "schedule: slot -1 is outside 0..5"),
        (move(101, 6, 0), "reschedule: from_slot 6 is outside 0..5"),
        (move(101, -5, 0), "reschedule: from_slot -5 is outside 0..5"),
        (move(101, 1, 6), "reschedule: to_slot 6 is outside 0..5"),
        (move(101, 1, -1), "reschedule: to_slot -1 is outside 0..5"),
    ],
)
def test_batch_is_rejected_when_a_slot_is_out_of_bounds(action: CalendarAction, text: str) -> None:
    assert conflict(action, book(1, 0)) == text


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (move(101, 0, 5), "Slot 0 is free: there is no item 101 to move"),
        (move(102, 1, 5), "Slot 1 holds Errand #101, not item 102"),
        (move(101, 4, 5), "Slot 4 holds Meeting M7, not item 101"),
        (move(999, 1, 5), "Slot 1 holds Errand #101, not item 999"),
    ],
)
def test_batch_is_rejected_when_the_named_item_stands_elsewhere(
    action: CalendarAction, text: str
) -> None:
    assert conflict(action, book(1, 0)) == text


def test_batch_is_rejected_when_it_moves_a_blocked_errand() -> None:
    text = "Errand #103 at slot 3 is blocked and cannot be moved"
    assert conflict(move(103, 3, 5), book(1, 3)) == text


def test_batch_is_rejected_when_an_item_is_moved_twice() -> None:
    text = "Errand #101 is moved twice in one batch"
    assert conflict(move(101, 1, 0), move(101, 1, 5), book(1, 1)) == text


@pytest.mark.parametrize("justification", ["", " \t\n"])
def test_batch_is_rejected_when_a_move_gives_no_justification(justification: str) -> None:
    text = "The move of Errand #101 has no justification"
    assert conflict(move(101, 1, 5, justification), book(1, 1)) == text


def test_batch_is_rejected_when_two_moves_have_one_target() -> None:
    assert conflict(move(101, 1, 5), move(102, 2, 5), book(1, 1)) == "Two actions target slot 5"


def test_batch_is_rejected_when_a_move_and_the_schedule_have_one_target() -> None:
    assert conflict(move(101, 1, 5), book(1, 5)) == "Two actions target slot 5"


@pytest.mark.parametrize(
    ("to_slot", "text"),
    [
        (2, "Slot 2 is not free: Errand #102 stands there"),
        (3, "Slot 3 is not free: Errand #103 stands there"),
        (4, "Slot 4 is not free: Meeting M7 stands there"),
    ],
)
def test_batch_is_rejected_when_a_target_is_occupied(to_slot: int, text: str) -> None:
    assert conflict(move(101, 1, to_slot), book(1, 0)) == text


def test_batch_is_rejected_when_an_item_is_moved_to_where_it_stands() -> None:
    text = "Slot 1 is not free: Errand #101 stands there"
    assert conflict(move(101, 1, 1), book(1, 0)) == text


def test_batch_is_rejected_when_a_target_is_freed_only_by_a_move_onto_itself() -> None:
    text = "Slot 2 is not free: Errand #102 stands there"
    assert conflict(move(101, 1, 2), move(102, 2, 2), book(1, 0)) == "Two actions target slot 2"
    assert conflict(move(101, 1, 2), move(7, 4, 5), book(1, 0)) == text


def test_batch_is_rejected_when_deciding_without_a_schedule() -> None:
    assert conflict() == "Expected exactly 1 schedule action, got 0"
    assert conflict(move(101, 1, 5)) == "Expected exactly 1 schedule action, got 0"


def test_batch_is_rejected_when_deciding_with_two_schedules() -> None:
    assert conflict(book(1, 0), book(1, 5)) == "Expected exactly 1 schedule action, got 2"


def test_batch_is_rejected_when_volunteering_a_schedule() -> None:
    text = "Expected exactly 0 schedule actions, got 1"
    assert conflict(book(1, 0), meeting=None) == text
    assert conflict(move(101, 1, 5), book(1, 1), meeting=None) == text


def test_batch_is_rejected_when_it_schedules_another_meeting() -> None:
    assert conflict(book(7, 0)) == "Expected a schedule of meeting 1, got meeting 7"


@pytest.mark.parametrize(
    ("slot", "occupant"), [(1, "Errand #101"), (3, "Errand #103"), (4, "Meeting M7")]
)
def test_batch_is_rejected_when_the_schedule_slot_stays_occupied(slot: int, occupant: str) -> None:
    text = f"Slot {slot} is not free after the moves: {occupant} stands there"
    assert conflict(book(1, slot)) == text


def test_batch_names_the_first_rule_of_the_appendix_when_several_are_broken() -> None:
    broken: list[tuple[CalendarAction, str]] = [
        (book(9, 9), "schedule: slot 9 is outside 0..5"),
        (move(999, 1, 4), "Slot 1 holds Errand #101, not item 999"),
        (move(103, 3, 4), "Errand #103 at slot 3 is blocked and cannot be moved"),
        (move(101, 1, 4), "Two actions target slot 4"),
        (move(102, 2, 4), "Slot 4 is not free: Meeting M7 stands there"),
    ]
    found = []
    actions = [action for action, _ in broken]
    while actions:
        found.append(conflict(*actions))
        actions.pop(0)
    assert found == [text for _, text in broken]


def test_batch_places_the_meeting_when_its_slot_is_free() -> None:
    result = applied(book(1, 5))
    assert item_ids(result.calendar) == (None, 101, 102, 103, 7, 1)
    assert result.moved == ()
    placed = result.calendar[5]
    assert isinstance(placed, Booking)
    assert placed.meeting is MEETING


def test_batch_places_the_meeting_when_the_same_batch_frees_its_slot() -> None:
    result = applied(move(102, 2, 0), book(1, 2))
    assert item_ids(result.calendar) == (102, 101, 1, 103, 7, None)
    assert [item.item_id for item in result.moved] == [102]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_batch_moves_a_chain_whatever_the_order_of_its_actions(order: tuple[int, ...]) -> None:
    chain: list[CalendarAction] = [move(101, 1, 2), move(102, 2, 5), book(1, 1)]
    result = applied(*[chain[index] for index in order])
    assert item_ids(result.calendar) == (None, 1, 101, 103, 7, 102)


def test_batch_swaps_two_items_when_each_takes_the_slot_of_the_other() -> None:
    result = applied(move(101, 1, 4), move(7, 4, 1), book(1, 0))
    assert item_ids(result.calendar) == (1, 7, 102, 103, 101, None)
    assert [item.item_id for item in result.moved] == [101, 7]


def test_batch_turns_three_items_in_a_ring_when_volunteering() -> None:
    result = applied(move(101, 1, 2), move(102, 2, 4), move(7, 4, 1), meeting=None)
    assert item_ids(result.calendar) == (None, 7, 101, 103, 102, None)


def test_batch_changes_nothing_when_volunteering_no_action() -> None:
    assert applied(meeting=None) == Applied(FULL, ())


def test_batch_leaves_the_calendar_alone_when_its_last_action_is_rejected() -> None:
    before = tuple(FULL)
    assert conflict(move(101, 1, 0), move(102, 2, 5), book(1, 4)).startswith("Slot 4 is not free")
    assert before == FULL


def test_batch_is_rejected_when_the_calendar_is_full() -> None:
    crowded = calendar("EB")
    result = apply_batch(crowded, [book(1, 0)], MEETING)
    assert result == Rejection("Slot 0 is not free after the moves: Errand #101 stands there")


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
