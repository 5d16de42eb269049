"""The interface of protocols, and what several of them share."""

from functools import lru_cache
from typing import Literal, Protocol

from calbench.domain.actions import PASS, Action, Reschedule, Schedule, Turn
from calbench.domain.calendars import Errand, Meeting, first_free
from calbench.domain.ids import AgentId, Slot
from calbench.domain.observations import Observation

JUSTIFICATION = "An agreed meeting needs this slot."
"""The fixed justification of every move by a typed protocol."""


First = Literal["initiator", "participants", "nobody"]
"""Who speaks in a meeting's talk before hearing anything; all others wait until they hear."""


class Policy(Protocol):
    """A pure function from what an agent may know to what it does (appendix D).

    A class of ours may say who ``speaks_first``: then it does nothing in a turn of talk before
    which it has heard nothing and nothing was refused since its last one, but for the first turn
    in a round of those. The game passes for it without asking. Its subclasses say so for
    themselves.

    What else a team or a page has to know of a player is on its class too, and is inherited:

    - ``needs_mediator``: its players agree on no slot without a mediator in their team;
    - ``needs_private_chance``: nor these without a random stream of their own;
    - ``talks_on``: the channels that it uses; with all of them closed it says nothing;
    - ``takes_weights``: it takes the game's difficulty weights, ``limits.sd_model``;
    - ``books_first``: its meetings are in the first slot with room for all;
    - ``books_cheapest``: in the first of those of the least total cost;
    - ``books_together``: all who take part book the same slot;
    - ``is_degenerate``: it is a baseline, and never ranked with protocols; of ours alone.

    >>> policy: Policy = Announcer()
    >>> policy.act(seen[0]) == policy.act(seen[0])
    True
    """

    def act(self, observation: Observation) -> Turn:
        """Return the turn; equal observations give equal turns."""
        ...


def first_of(policy: Policy) -> First | None:
    """Return who speaks before it has heard anything, if the policy's own class declares it.

    What a class inherits does not count: whoever overrides :meth:`Policy.act` may talk on.
    """
    first: First | None = vars(type(policy)).get("speaks_first")
    return first


def own_meeting(observation: Observation) -> Meeting | None:
    """Return the meeting under discussion if the agent takes part in it."""
    meeting = observation.meeting
    return meeting if isinstance(meeting, Meeting) else None


def others(observation: Observation, meeting: Meeting) -> tuple[AgentId, ...]:
    """Return the other participants in ascending order."""
    return partners(meeting.participants, observation.agent_id)


@lru_cache(maxsize=1024)
def partners(participants: tuple[AgentId, ...], agent: AgentId) -> tuple[AgentId, ...]:
    """Return all participants but one in ascending order; cached, because few differ."""
    return tuple(sorted([other for other in participants if other != agent]))


def place(observation: Observation, meeting: Meeting, slot: Slot) -> Turn:
    """Put a meeting into a slot that is free or holds a movable errand.

    The errand goes to the lowest free slot [R]. If there is none, or the slot holds something
    else or does not exist (another agent may announce anything), the turn is empty, which the
    game rejects.
    """
    calendar = observation.calendar
    if not 0 <= slot < len(calendar):
        return PASS
    item = calendar[slot]
    schedule = Schedule(meeting.meeting_id, slot)
    if item is None:
        return Turn((schedule,))
    if not isinstance(item, Errand) or item.blocked:
        return PASS
    free = first_free(calendar)
    if free is None:
        return PASS
    move = Reschedule(item.errand_id, slot, free, JUSTIFICATION)
    actions: tuple[Action, ...] = (move, schedule)
    return Turn(actions)
