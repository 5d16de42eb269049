"""What an agent can do in a turn (paper, sections 3 and A.2)."""

from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from calbench.domain.frequent import frequent, passing, recorded
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.domain.messages import CostReport, RecordedContent


@frequent
class DirectMessage:
    """A private message to one agent (appendix A.2).

    >>> DirectMessage(AgentId(1), Text(text="Slot 3?"))
    DirectMessage(type='dm', to=1, content=Text(kind='text', text='Slot 3?'))

    Attributes:
        type: names the action in a trace.
        to: who receives it.
        content: what is said.
    """

    type: Literal["dm"] = field(default="dm", kw_only=True)
    to: AgentId
    content: RecordedContent


@recorded
class ParticipantMessage:
    """A message to all participants of the meeting under discussion (appendix A.2).

    >>> ParticipantMessage(content=Text(text="Slot 3?"))
    ParticipantMessage(type='participant_groupchat', content=Text(kind='text', text='Slot 3?'))

    Attributes:
        type: names the action in a trace.
        content: what is said.
    """

    type: Literal["participant_groupchat"] = "participant_groupchat"
    content: RecordedContent


@recorded
class BroadcastMessage:
    """A message to every agent of the game (appendix A.2).

    >>> BroadcastMessage(content=Text(text="Slot 3?"))
    BroadcastMessage(type='all_agent_groupchat', content=Text(kind='text', text='Slot 3?'))

    Attributes:
        type: names the action in a trace.
        content: what is said.
    """

    type: Literal["all_agent_groupchat"] = "all_agent_groupchat"
    content: RecordedContent


@recorded
class SealedReport:
    """A cost vector for the mediator's eyes only; open to teams that have one [C].

    >>> SealedReport(content=CostReport((Slot(0), Slot(3)), (1, None))).content.costs
    (1, None)

    Attributes:
        type: names the action in a trace.
        content: costs by slot, in shown cost.
    """

    type: Literal["sealed"] = "sealed"
    content: CostReport


@frequent
class Schedule:
    """Write the meeting under discussion into a slot of the agent's own calendar (section 3).

    >>> Schedule(MeetingId(1), Slot(3))
    Schedule(type='schedule', meeting_id=1, slot=3)

    Attributes:
        type: names the action in a trace.
        meeting_id: of the meeting.
        slot: where it goes, from 0.
    """

    type: Literal["schedule"] = field(default="schedule", kw_only=True)
    meeting_id: MeetingId
    slot: Slot


@frequent
class Reschedule:
    """Move one item of the agent's own calendar; ``justification`` says why (section 3).

    >>> Reschedule(ErrandId(101), from_slot=Slot(0), to_slot=Slot(3), justification="It gives way")
    Reschedule(type='reschedule', item_id=101, from_slot=0, to_slot=3, justification='It gives way')

    Attributes:
        type: names the action in a trace.
        item_id: of the errand or meeting.
        from_slot: where it is, from 0.
        to_slot: where it goes, from 0.
        justification: why, in words; never empty.
    """

    type: Literal["reschedule"] = field(default="reschedule", kw_only=True)
    item_id: ItemId
    from_slot: Slot
    to_slot: Slot
    justification: str


Utterance = DirectMessage | ParticipantMessage | BroadcastMessage
CalendarAction = Schedule | Reschedule
Action = Utterance | SealedReport | CalendarAction

RecordedAction = Annotated[Action, Field(discriminator="type")]
RecordedCalendarAction = Annotated[CalendarAction, Field(discriminator="type")]
"""The same, read from a file: the type says which class it is."""


@passing
class Turn:
    """What an agent does when asked: any number of actions, and private thoughts (appendix A.2).

    >>> Turn((Schedule(MeetingId(1), Slot(3)),))
    Turn(actions=(Schedule(type='schedule', meeting_id=1, slot=3),), thinking=None)

    Attributes:
        actions: in the order in which they are carried out.
        thinking: private words, only recorded.
    """

    actions: tuple[Action, ...] = ()
    thinking: str | None = None


PASS = Turn()
"""The turn of an agent that has nothing to do (appendix A.2).

>>> PASS
Turn(actions=(), thinking=None)
"""
