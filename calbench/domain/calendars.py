"""A calendar as its owner sees it: one item or nothing per slot (paper, section 3).

These types hold only the *shown* cost of an errand. Only the engine knows what a move costs
in the accounting, so no observation can contain it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId, Slot


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting as its participants know it (appendix A.1).

    >>> Meeting(MeetingId(1), (AgentId(0), AgentId(2)), cost=1).initiator
    0

    Attributes:
        meeting_id: of the meeting.
        participants: agents that take part, in ascending order.
        cost: what each of them pays when its copy is moved, in shown cost.
        initiator: the participant with the lowest id.
    """

    meeting_id: MeetingId
    participants: tuple[AgentId, ...]
    cost: int
    initiator: AgentId = field(init=False, repr=False, compare=False)
    """The lowest participant id, which need not be the first speaker (appendix D.1)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "initiator", min(self.participants))


@dataclass(frozen=True, slots=True)
class HiddenMeeting:
    """A meeting as an outsider sees it: only its number and cost (appendix A.1).

    >>> HiddenMeeting(MeetingId(4), cost=1)
    HiddenMeeting(meeting_id=4, cost=1)

    Attributes:
        meeting_id: of the meeting.
        cost: what each participant pays when its copy is moved, in shown cost.
    """

    meeting_id: MeetingId
    cost: int


@dataclass(frozen=True, slots=True)
class Errand:
    """A private commitment. ``blocked`` errands cannot be moved (paper, section 3).

    >>> errand = Errand(ErrandId(101), shown_cost=10, blocked=True)
    >>> errand.is_movable, errand.local_cost
    (False, None)

    Attributes:
        errand_id: of the errand.
        shown_cost: what moving it costs its owner, in shown cost.
        blocked: whether it cannot be moved.
        item_id: by which a ``reschedule`` names it: that of the errand.
        local_cost: what its owner pays to give its slot away, in shown cost; ``None`` if it
            stays.
    """

    errand_id: ErrandId
    shown_cost: int
    blocked: bool
    item_id: ItemId = field(init=False, repr=False, compare=False)
    """The id by which a ``reschedule`` names this item; stored because it is read often."""
    local_cost: int | None = field(init=False, repr=False, compare=False)
    """What its owner pays to give its slot to a meeting; ``None`` if it stays (appendix D.1)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "item_id", self.errand_id)
        object.__setattr__(self, "local_cost", None if self.blocked else self.shown_cost)

    @property
    def is_movable(self) -> bool:
        """Whether its owner may move it."""
        return not self.blocked


@dataclass(frozen=True, slots=True)
class Booking:
    """An agent's copy of a meeting it takes part in (paper, section 3).

    >>> Booking(Meeting(MeetingId(1), (AgentId(0), AgentId(2)), cost=1)).item_id
    1

    Attributes:
        meeting: that is booked.
        item_id: by which a ``reschedule`` names it: that of the meeting.
    """

    meeting: Meeting
    item_id: ItemId = field(init=False, repr=False, compare=False)
    """The id by which a ``reschedule`` names this item."""
    local_cost: ClassVar[None] = None
    """Nothing: alone, its owner cannot give its slot to another meeting (appendix D.1)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "item_id", self.meeting.meeting_id)

    @property
    def is_movable(self) -> bool:
        """Always true, but moving only this copy breaks the meeting for the others."""
        return True


Item = Errand | Booking
Calendar = tuple[Item | None, ...]
"""One entry per slot; ``None`` is free."""


@cache
def all_slots(num_slots: int) -> tuple[Slot, ...]:
    """Return every slot of a calendar of this length, ascending."""
    return tuple([Slot(index) for index in range(num_slots)])


def free_slots(calendar: Sequence[Item | None]) -> Iterator[Slot]:
    """Yield the free slots in ascending order."""
    return (Slot(index) for index, item in enumerate(calendar) if item is None)


def first_free(calendar: Sequence[Item | None]) -> Slot | None:
    """Return the lowest free slot; ``None`` if there is none.

    ``in`` and ``index`` would ask every item whether it equals ``None``, which takes three times
    as long.
    """
    for index, item in enumerate(calendar):
        if item is None:
            return Slot(index)
    return None


def item_ids(calendar: Calendar) -> tuple[ItemId | None, ...]:
    """Return the calendar as bare ids: the compact form that traces record."""
    return tuple([None if item is None else item.item_id for item in calendar])
