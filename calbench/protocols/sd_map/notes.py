"""What is said and heard, noted in an agent's memory (paper, appendix D.2)."""

from collections.abc import Sequence
from typing import get_args

from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.ids import AgentId
from calbench.domain.messages import (
    Confirm,
    ConfirmReschedule,
    Content,
    Fail,
    FailReschedule,
    Message,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
    SdMapAct,
)
from calbench.domain.observations import Observation
from calbench.protocols.sd_map.memory import Memory, Repair, Weights


class Voice:
    """Collects the messages of one turn, and notes them for what follows in the turn."""

    __slots__ = ("_memory", "is_last_sweep", "said")

    def __init__(self, memory: Memory, is_last_sweep: bool) -> None:
        """Begin a turn."""
        self._memory = memory
        self.said: list[DirectMessage] = []
        self.is_last_sweep = is_last_sweep

    def say(self, recipients: Sequence[AgentId], content: SdMapAct) -> None:
        """Send the same content to each recipient, in one direct message each."""
        for recipient in recipients:
            self.said.append(DirectMessage(recipient, content))
        if recipients:
            note_said(self._memory, content)


def note_all(memory: Memory, messages: tuple[Message, ...]) -> None:
    """Note messages that need no answer any more."""
    for message in messages:
        if message.sender == memory.agent_id:
            note_said(memory, message.content)
        else:
            note_heard(memory, message)


def note_said(memory: Memory, said: Content) -> None:
    """Note what the agent itself said; said to several agents, it counts once."""
    match said:
        case Propose():
            memory.negotiation.propose(said.slot)
        case ProposeReply():
            if said.status == "PENDING":
                memory.negotiation.promised.add(said.slot)
        case Confirm():
            memory.agree(said.slot)
        case Fail():
            memory.negotiation.end(None)
        case ProposeReschedule() | ConfirmReschedule() | FailReschedule():
            led = memory.led_repair(said.old_meeting_id)
            if led is not None:
                _note_led(led, said)
        case RescheduleReply():
            repair = memory.repairs.get(said.old_meeting_id)
            if repair is not None and said.status == "PENDING":
                repair.promised.add(said.target)


def _note_led(repair: Repair, said: ProposeReschedule | ConfirmReschedule | FailReschedule) -> None:
    """Note what the agent said as the repairer of an old meeting."""
    if isinstance(said, ProposeReschedule):
        repair.propose(said.target)
        repair.tried.add(said.target)
    else:
        repair.end(said.target if isinstance(said, ConfirmReschedule) else None)


def note_heard(memory: Memory, message: Message) -> bool:
    """Note what another agent said; return whether it asks this agent for something."""
    sender, heard = message.sender, message.content
    if sender is None:
        return False
    match heard:
        case Propose() | ProposeReply() | Confirm() | Fail():  # most messages are of these
            return _note_negotiation(memory, sender, heard)
        case RescheduleRequest():
            return memory.begin_on_request(sender, heard)
        case ProposeReschedule():
            return memory.follow(sender, heard)
        case RescheduleReply() | ConfirmReschedule() | FailReschedule():
            repair = memory.repairs.get(heard.old_meeting_id)
            if repair is not None:
                _note_repair(memory, repair, sender, heard)
    return False


def _note_negotiation(
    memory: Memory, sender: AgentId, heard: Propose | ProposeReply | Confirm | Fail
) -> bool:
    """Note what another agent said about the new meeting; return whether it asks for something."""
    match heard:
        case Propose():
            is_open = sender == memory.initiator and not memory.negotiation.is_over
            return is_open and memory.has(heard.slot)
        case ProposeReply():
            if heard.slot == memory.negotiation.proposed and sender in memory.responders:
                memory.negotiation.replies.setdefault(sender, heard.status)
        case Confirm():
            is_valid = sender == memory.initiator and memory.has(heard.slot)
            return is_valid and memory.agree(heard.slot)
        case Fail():
            if sender == memory.initiator:
                memory.negotiation.end(None)
    return False


def _note_repair(
    memory: Memory,
    repair: Repair,
    sender: AgentId,
    heard: RescheduleReply | ConfirmReschedule | FailReschedule,
) -> None:
    """Note what another agent said about the repair of an old meeting."""
    if isinstance(heard, RescheduleReply):
        is_awaited = repair.repairer == memory.agent_id and sender in repair.others
        if is_awaited and heard.target == repair.proposed:
            repair.replies.setdefault(sender, heard.status)
    elif repair.repairer == sender:
        if isinstance(heard, FailReschedule):
            repair.end(None)
        elif heard.target in repair.promised:
            repair.end(heard.target)


SPEECH_ACTS = frozenset(get_args(SdMapAct))
"""SD-MAP's vocabulary as types; no other message is news."""


class MemoryCache:
    """Makes memories from transcripts; continues the last one if the transcript does.

    A policy remains a function of the observation. The memory is kept together with everything it
    was made from, and is used only for an observation that begins with exactly that. For any other
    observation it is made again, with the same result.
    """

    __slots__ = ("_meeting", "_memory", "_noted", "_said", "_weights")

    def __init__(self, weights: Weights | None) -> None:
        """Begin empty; ``weights`` are the agents' difficulty weights."""
        self._weights = weights
        self._memory: Memory | None = None
        self._meeting: Meeting | HiddenMeeting | None = None
        self._noted: tuple[Message, ...] = ()
        self._said: Sequence[DirectMessage] = ()

    def recall(self, observation: Observation, *, unhandled: int = 0) -> Memory:
        """Return the memory of this round's transcript without its last ``unhandled`` messages.

        The caller may change it: a kept memory is returned only once.
        """
        messages = observation.messages
        handled = len(messages) - unhandled
        memory, self._memory = self._memory, None
        if memory is not None:
            noted = len(self._noted) + len(self._said)
            if noted <= handled and self._begins(observation, memory):
                if noted < handled:
                    note_all(memory, messages[noted:handled])
                return memory
        memory = Memory(observation, self._weights)
        note_all(memory, messages[:handled])
        return memory

    def keep(self, memory: Memory, observation: Observation, said: Sequence[DirectMessage]) -> None:
        """Keep a memory that contains all messages of an observation and then what was said.

        It must contain nothing else, and in this order: it has to equal a memory made anew.
        """
        self._memory = memory
        self._meeting = observation.meeting
        self._noted = observation.messages
        self._said = said

    def _begins(self, observation: Observation, memory: Memory) -> bool:
        """Whether the memory was made from the beginning of this observation.

        Compared by identity, which can only be too strict; the messages also by value.
        """
        if (
            observation.meeting is not self._meeting
            or observation.calendar is not memory.calendar
            or observation.earlier is not memory.earlier
            or observation.agent_id != memory.agent_id
        ):
            return False
        messages = observation.messages
        length = len(self._noted)
        if messages[:length] != self._noted:
            return False
        for action in self._said:
            message = messages[length]
            if message.content is not action.content or message.sender != memory.agent_id:
                return False
            length += 1
        return True
