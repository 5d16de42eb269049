"""Mediator: IMAP's choice without IMAP's disclosure, if all agents trust a non-player [C].

Each participant gives its IMAP vector, sealed, to the team's mediator, which announces only the
joint minimum: p messages for a meeting of p, and an announcement that counts for no agent. It is
the ideal functionality of the cost-privacy plane. Batches and retries are IMAP's.
"""

from collections.abc import Iterator
from typing import ClassVar

from calbench.domain.actions import PASS, SealedReport, Turn
from calbench.domain.calendars import Meeting
from calbench.domain.ids import Slot
from calbench.domain.messages import Announcement, CostReport, Message
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.protocols.base import First, own_meeting
from calbench.protocols.clues import Best, View, cheapest_of_all
from calbench.protocols.costs import cheapest_slot, local_costs
from calbench.protocols.imap import decide, own_report


class Mediated:
    """A participant that tells only the mediator its costs."""

    speaks_first: ClassVar[First] = "participants"
    needs_mediator: ClassVar[bool] = True
    books_cheapest: ClassVar[bool] = True
    books_together: ClassVar[bool] = True

    def act(self, observation: Observation) -> Turn:
        """Send the vector once while talking; book the announced slot when deciding."""
        meeting = own_meeting(observation)
        if meeting is None:
            return PASS
        if observation.phase is DECISION:
            return decide(observation, meeting, _announced_slot(observation, meeting))
        if observation.phase is not CHEAP_TALK or not observation.has_mediator:
            return PASS
        if len(meeting.participants) == 1 or next(observation.said(CostReport), None) is not None:
            return PASS
        return Turn((SealedReport(content=own_report(observation)),))

    def tells(self, message: Message, view: View) -> Iterator[Best]:
        """Yield that the announced slot is the cheapest for all."""
        if isinstance(message.content, Announcement):
            yield cheapest_of_all(view, message.content.slot)


def _announced_slot(observation: Observation, meeting: Meeting) -> Slot | None:
    """Return what the mediator announced; an agent that meets nobody needs no mediator."""
    if len(meeting.participants) == 1:
        return cheapest_slot([local_costs(observation.calendar)])
    for message in observation.messages:
        if message.sender is None and isinstance(message.content, Announcement):
            return message.content.slot
    return None
