"""What every protocol is, and what several of them share."""

from typing import Protocol

from calbench.domain.actions import PASS, Action, Reschedule, Schedule, Turn
from calbench.domain.calendars import Errand, Meeting
from calbench.domain.ids import AgentId, Slot
from calbench.domain.observations import Observation

JUSTIFICATION = "An agreed meeting needs this slot."
"""The fixed text typed protocols give for every move."""


class Policy(Protocol):
    """A pure function from what an agent may know to what it does."""

    def act(self, observation: Observation) -> Turn:
        """Return the turn; equal observations give equal turns."""
        ...


def own_meeting(observation: Observation) -> Meeting | None:
    """Return the meeting under discussion if the agent takes part in it."""
    meeting = observation.meeting
    return meeting if isinstance(meeting, Meeting) else None


def others(observation: Observation, meeting: Meeting) -> tuple[AgentId, ...]:
    """Return the other participants in ascending order."""
    me = observation.agent_id
    return tuple(sorted([agent for agent in meeting.participants if agent != me]))


def place(observation: Observation, meeting: Meeting, slot: Slot) -> Turn:
    """Put a meeting into a slot that is free or holds a movable errand.

    The errand goes to the lowest free slot [R]. If there is none, or the slot holds
    something else or is not there at all (a neighbour may announce anything), the turn is
    empty, which the game rejects.
    """
    calendar = observation.calendar
    if not 0 <= slot < len(calendar):
        return PASS
    item = calendar[slot]
    schedule = Schedule(meeting_id=meeting.meeting_id, slot=slot)
    if item is None:
        return Turn((schedule,))
    if not isinstance(item, Errand) or item.blocked or None not in calendar:
        return PASS
    move = Reschedule(
        item_id=item.errand_id,
        from_slot=slot,
        to_slot=Slot(calendar.index(None)),
        justification=JUSTIFICATION,
    )
    actions: tuple[Action, ...] = (move, schedule)
    return Turn(actions)
