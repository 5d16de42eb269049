"""Calendars that hold meetings, for policies that are asked outside a game."""

from collections.abc import Mapping

from calbench.domain.calendars import Booking, Calendar, Meeting
from calbench.domain.ids import AgentId, MeetingId
from tests.factories import calendar


def meeting(meeting_id: int, *participants: int, cost: int = 1) -> Meeting:
    return Meeting(MeetingId(meeting_id), tuple(AgentId(agent) for agent in participants), cost)


def booked(row: str, meeting_by_slot: Mapping[int, Meeting]) -> Calendar:
    """Return the calendar of a row with meetings in some of its free slots."""
    items = list(calendar(row))
    for slot, held in meeting_by_slot.items():
        assert items[slot] is None
        items[slot] = Booking(held)
    return tuple(items)
