"""The cases of a game: what was delivered to each agent in each round, and the truth."""

from collections.abc import Iterator
from dataclasses import dataclass

from calbench.agents.base import CallSite
from calbench.agents.judging import JudgeCase
from calbench.domain.ids import AgentId
from calbench.domain.messages import Message
from calbench.domain.observations import REFLECTION
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.privacy.loss import CHANNEL_BY_EVENT
from calbench.metrics.privacy.reflection import CALENDARS
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    CalendarIds,
    DmSent,
    ParticipantGroupchatSent,
    Resolution,
    RoundStart,
)
from calbench.traces.models import Trace

_Delivered = DmSent | ParticipantGroupchatSent | AllAgentGroupchatSent | AnnouncementSent
_DELIVERED = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, AnnouncementSent)
"""Events with a message that a judge sees. A tuple: a union is slower to test against."""


@dataclass(frozen=True, slots=True)
class RoundCase:
    """One case and the truth it is compared with, which no judge sees.

    Attributes:
        game_id: of its game.
        round: number of the round, from 0.
        case: what the judge is shown.
        occupied: for each agent and slot, whether the slot holds anything after the round.
    """

    game_id: str
    round: int
    case: JudgeCase
    occupied: tuple[tuple[bool, ...], ...]

    def site(self, player: str) -> CallSite:
        """Return where the call is made, for errors."""
        return CallSite(player, self.game_id, self.case.recipient, self.round, REFLECTION, 0, 0)


def cases_of(trace: Trace) -> tuple[RoundCase, ...]:
    """Return a game's cases by round and recipient; an excluded game has none.

    A message counts in the round in which it was sent and thereby delivered, whether it was read
    or not. The calendars are those after the round's resolution, as for reflections.
    """
    return () if is_excluded(trace.events) else tuple(_cases(trace))


def _cases(trace: Trace) -> Iterator[RoundCase]:
    agents = tuple(AgentId(agent) for agent in range(trace.scenario.num_agents))
    calendars: list[CalendarIds] = [()] * len(agents)
    inboxes: dict[AgentId, list[Message]] = {}
    participants: tuple[AgentId, ...] = ()
    for event in trace.events:
        if isinstance(event, CALENDARS):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, RoundStart):
            participants, inboxes = event.participants, {agent: [] for agent in agents}
        elif isinstance(event, _DELIVERED):
            message = _message(event)
            for recipient in event.to_agents:
                inboxes[recipient].append(message)
        elif isinstance(event, Resolution):
            occupied = tuple(tuple(item is not None for item in each) for each in calendars)
            for recipient, messages in inboxes.items():
                if messages:
                    case = JudgeCase(
                        recipient,
                        agents,
                        trace.scenario.num_slots,
                        event.meeting_id,
                        tuple(sorted(participants)) if recipient in participants else None,
                        tuple(messages),
                    )
                    yield RoundCase(trace.game_id, event.round, case, occupied)


def _message(event: _Delivered) -> Message:
    sender = None if isinstance(event, AnnouncementSent) else event.from_agent
    channel = CHANNEL_BY_EVENT[type(event)]
    return Message(sender, event.to_agents, channel, event.meeting_id, event.content)
