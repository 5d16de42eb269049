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


REJECTED: list[tuple[list[CalendarAction], str]] = [
    # 1. every slot exists
    ([book(1, 6), book(1, 0)], "schedule: slot 6 is outside 0..5"),
    ([book(1, -1), book(1, 0)], "schedule: slot -1 is outside 0..5"),
    ([move(101, 6, 0), book(1, 0)], "reschedule: from_slot 6 is outside 0..5"),
    ([move(101, -5, 0), book(1, 0)], "reschedule: from_slot -5 is outside 0..5"),
    ([move(101, 1, 6), book(1, 0)], "reschedule: to_slot 6 is outside 0..5"),
    ([move(101, 1, -1), book(1, 0)], "reschedule: to_slot -1 is outside 0..5"),
    # 2 and 3. the named item is there, movable, moved once, and with a reason
    ([move(101, 0, 5), book(1, 0)], "Slot 0 is free: there is no item 101 to move"),
    ([move(102, 1, 5), book(1, 0)], "Slot 1 holds Errand #101, not item 102"),
    ([move(101, 4, 5), book(1, 0)], "Slot 4 holds Meeting M7, not item 101"),
    ([move(999, 1, 5), book(1, 0)], "Slot 1 holds Errand #101, not item 999"),
    ([move(103, 3, 5), book(1, 3)], "Errand #103 at slot 3 is blocked and cannot be moved"),
    ([move(101, 1, 0), move(101, 1, 5), book(1, 1)], "Errand #101 is moved twice in one batch"),
    ([move(101, 1, 5, ""), book(1, 1)], "The move of Errand #101 has no justification"),
    ([move(101, 1, 5, " \t\n"), book(1, 1)], "The move of Errand #101 has no justification"),
    # 4. no two actions target one slot
    ([move(101, 1, 5), move(102, 2, 5), book(1, 1)], "Two actions target slot 5"),
    ([move(101, 1, 5), book(1, 5)], "Two actions target slot 5"),
    ([move(101, 1, 2), move(102, 2, 2), book(1, 0)], "Two actions target slot 2"),
    # 5. each target is free, or freed by a move of another item to elsewhere
    ([move(101, 1, 2), book(1, 0)], "Slot 2 is not free: Errand #102 stands there"),
    ([move(101, 1, 3), book(1, 0)], "Slot 3 is not free: Errand #103 stands there"),
    ([move(101, 1, 4), book(1, 0)], "Slot 4 is not free: Meeting M7 stands there"),
    ([move(101, 1, 1), book(1, 0)], "Slot 1 is not free: Errand #101 stands there"),
    (
        [move(101, 1, 2), move(7, 4, 5), book(1, 0)],
        "Slot 2 is not free: Errand #102 stands there",
    ),
    # 6. exactly one schedule of this meeting, into a slot that is free after the moves
    ([], "Expected exactly 1 schedule action, got 0"),
    ([move(101, 1, 5)], "Expected exactly 1 schedule action, got 0"),
    ([book(1, 0), book(1, 5)], "Expected exactly 1 schedule action, got 2"),
    ([book(7, 0)], "Expected a schedule of meeting 1, got meeting 7"),
    ([book(1, 1)], "Slot 1 is not free after the moves: Errand #101 stands there"),
    ([book(1, 3)], "Slot 3 is not free after the moves: Errand #103 stands there"),
    ([book(1, 4)], "Slot 4 is not free after the moves: Meeting M7 stands there"),
]
"""Batches that break a rule of appendix A.5, and the conflict as agents see it."""


@pytest.mark.parametrize(("actions", "text"), REJECTED)
def test_batch_is_rejected_by_the_rule_that_it_breaks(
    actions: list[CalendarAction], text: str
) -> None:
    assert conflict(*actions) == text


def test_batch_is_rejected_when_volunteering_a_schedule() -> None:
    text = "Expected exactly 0 schedule actions, got 1"
    assert conflict(book(1, 0), meeting=None) == text
    assert conflict(move(101, 1, 5), book(1, 1), meeting=None) == text


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


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_batch_moves_a_chain_whatever_the_order_of_its_actions(order: tuple[int, ...]) -> None:
    chain: list[CalendarAction] = [move(101, 1, 2), move(102, 2, 5), book(1, 1)]
    result = applied(*[chain[index] for index in order])
    assert item_ids(result.calendar) == (None, 1, 101, 103, 7, 102)


@pytest.mark.parametrize(
    ("actions", "meeting", "after", "moved"),
    [
        ([move(102, 2, 0), book(1, 2)], MEETING, (102, 101, 1, 103, 7, None), [102]),
        (
            [move(101, 1, 4), move(7, 4, 1), book(1, 0)],
            MEETING,
            (1, 7, 102, 103, 101, None),
            [101, 7],
        ),
        (
            [move(101, 1, 2), move(102, 2, 4), move(7, 4, 1)],
            None,
            (None, 7, 101, 103, 102, None),
            [101, 102, 7],
        ),
    ],
    ids=["into a slot that it frees", "two items exchanged", "three items in a ring"],
)
def test_batch_moves_all_at_once(
    actions: list[CalendarAction],
    meeting: Meeting | None,
    after: tuple[int | None, ...],
    moved: list[int],
) -> None:
    result = applied(*actions, meeting=meeting)
    assert item_ids(result.calendar) == after
    assert [item.item_id for item in result.moved] == moved


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
