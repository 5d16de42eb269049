"""Messages of a game that speak in words, each with what was true when it was sent."""

from collections.abc import Iterator
from dataclasses import dataclass

from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.traces.events import (
    AgentRegistered,
    AllAgentGroupchatSent,
    BatchApplied,
    CalendarIds,
    DmSent,
    ParticipantGroupchatSent,
)
from calbench.traces.models import Trace

_SENT = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent)
_CALENDARS = (AgentRegistered, BatchApplied)


@dataclass(frozen=True, slots=True)
class Said:
    """One message in words.

    Attributes:
        event_index: of the message among the game's events, from 0.
        round: number of the round, from 0.
        sender: who wrote it.
        recipients: whom it was delivered to.
        text: as it was sent.
        calendar: the sender's, by slot, at that moment.
    """

    event_index: int
    round: int
    sender: AgentId
    recipients: tuple[AgentId, ...]
    text: str
    calendar: CalendarIds


def said(trace: Trace) -> Iterator[Said]:
    """Yield the delivered messages of a game that are text, in the order they were sent."""
    calendars: dict[AgentId, CalendarIds] = {}
    for index, event in enumerate(trace.events):
        if isinstance(event, _CALENDARS):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, _SENT) and isinstance(event.content, Text):
            yield Said(
                event_index=index,
                round=event.round,
                sender=event.from_agent,
                recipients=event.to_agents,
                text=event.content.text,
                calendar=calendars.get(event.from_agent, ()),
            )
