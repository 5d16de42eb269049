"""Observations made by hand, for policies that are asked outside a game."""

from collections.abc import Mapping, Sequence

from calbench.domain.calendars import Booking, Calendar, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import CHANNELS, Channel, Content, Message
from calbench.domain.observations import Observation, Phase
from tests.factories import calendar

TRIO = Meeting(MeetingId(1), (AgentId(0), AgentId(1), AgentId(2)), 1)


def message(sender: int, content: Content, *to: int, meeting_id: int = 1) -> Message:
    recipients = tuple(AgentId(agent) for agent in to)
    return Message(AgentId(sender), recipients, "dm", MeetingId(meeting_id), content)


def observation(
    agent: int,
    row: str,
    *,
    phase: Phase = Phase.CHEAP_TALK,
    meeting: Meeting | HiddenMeeting = TRIO,
    messages: Sequence[Message] = (),
    earlier: Sequence[Message] = (),
    attempt: int = 0,
    channels: Sequence[Channel] = CHANNELS,
) -> Observation:
    """Return what an agent with this calendar sees; the numbers in the row are shown costs."""
    return Observation(
        agent_id=AgentId(agent),
        agent_ids=tuple(AgentId(number) for number in range(5)),
        phase=phase,
        meeting=meeting,
        round_index=0,
        calendar=calendar(row),
        messages=tuple(messages),
        earlier=tuple(earlier),
        inbox=(),
        turn_index=0,
        turns_left=14,
        attempt=attempt,
        conflict=None,
        refusals=(),
        channels=frozenset(channels),
        incurred_shown_cost=0,
    )


def meeting(meeting_id: int, *participants: int, cost: int = 1) -> Meeting:
    return Meeting(MeetingId(meeting_id), tuple(AgentId(agent) for agent in participants), cost)


def booked(row: str, meeting_by_slot: Mapping[int, Meeting]) -> Calendar:
    """Return the calendar of a row with meetings in some of its free slots."""
    items = list(calendar(row))
    for slot, held in meeting_by_slot.items():
        assert items[slot] is None
        items[slot] = Booking(held)
    return tuple(items)
