"""What is said and heard, noted in an agent's memory (paper, appendix D.2)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from calbench.domain.actions import DirectMessage
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
from calbench.protocols.sd_map.memory import Memory


class Voice:
    """Collects the messages of one turn; what is handled later in the turn knows of them."""

    __slots__ = ("_memory", "is_last_sweep", "said")

    def __init__(self, memory: Memory, is_last_sweep: bool) -> None:
        """Begin a turn in which nothing is said yet."""
        self._memory = memory
        self.said: list[DirectMessage] = []
        self.is_last_sweep = is_last_sweep

    def say(self, recipients: Sequence[AgentId], content: SdMapAct) -> None:
        """Send the same to each recipient, by one direct message each."""
        for recipient in recipients:
            self.said.append(DirectMessage(recipient, content))
        if recipients:
            note_said(self._memory, content)


def note_all(memory: Memory, messages: tuple[Message, ...]) -> None:
    """Note what was said and heard, where no answer is due any more."""
    me = memory.agent_id
    for message in messages:
        # As in note_said and note_heard, without their calls: a transcript can be long.
        content = message.content
        kind = type(content)
        sender = message.sender
        if sender == me:
            if kind in _SAID:
                _SAID[kind](memory, content)
        elif sender is not None and kind in _TOLD:
            _TOLD[kind](memory, sender, content)


def note_said(memory: Memory, content: Content) -> None:
    """Note what the agent itself said; said to several, it counts once."""
    note = _SAID.get(type(content))
    if note is not None:
        note(memory, content)


def note_heard(memory: Memory, message: Message) -> bool:
    """Note what another said; return whether it asks this agent for something."""
    note = _HEARD.get(type(message.content))
    sender = message.sender
    return note is not None and sender is not None and note(memory, sender, message.content)


def _said_propose(memory: Memory, said: Propose) -> None:
    memory.negotiation.propose(said.slot)


def _said_reply(memory: Memory, said: ProposeReply) -> None:
    if said.status == "PENDING":
        memory.negotiation.promised.add(said.slot)


def _said_confirm(memory: Memory, said: Confirm) -> None:
    memory.agree(said.slot)


def _said_fail(memory: Memory, _said: Fail) -> None:
    memory.negotiation.end(None)


def _said_target(memory: Memory, said: ProposeReschedule) -> None:
    repair = memory.led_repair(said.old_meeting_id)
    if repair is not None:
        repair.propose(said.target)
        repair.tried.add(said.target)


def _said_target_reply(memory: Memory, said: RescheduleReply) -> None:
    repair = memory.repairs.get(said.old_meeting_id)
    if repair is not None and said.status == "PENDING":
        repair.promised.add(said.target)


def _said_target_end(memory: Memory, said: ConfirmReschedule | FailReschedule) -> None:
    repair = memory.led_repair(said.old_meeting_id)
    if repair is not None:
        repair.end(said.target if isinstance(said, ConfirmReschedule) else None)


def _heard_propose(memory: Memory, sender: AgentId, heard: Propose) -> bool:
    is_open = sender == memory.initiator and not memory.negotiation.is_over
    return is_open and memory.has(heard.slot)


def _heard_reply(memory: Memory, sender: AgentId, heard: ProposeReply) -> bool:
    if heard.slot == memory.negotiation.proposed and sender in memory.responders:
        memory.negotiation.replies.setdefault(sender, heard.status)
    return False


def _heard_confirm(memory: Memory, sender: AgentId, heard: Confirm) -> bool:
    return sender == memory.initiator and memory.has(heard.slot) and memory.agree(heard.slot)


def _heard_fail(memory: Memory, sender: AgentId, _heard: Fail) -> bool:
    if sender == memory.initiator:
        memory.negotiation.end(None)
    return False


def _heard_target_reply(memory: Memory, sender: AgentId, heard: RescheduleReply) -> bool:
    repair = memory.led_repair(heard.old_meeting_id)
    if repair is not None and sender in repair.others and heard.target == repair.proposed:
        repair.replies.setdefault(sender, heard.status)
    return False


def _heard_target_confirm(memory: Memory, sender: AgentId, heard: ConfirmReschedule) -> bool:
    repair = memory.followed_repair(heard.old_meeting_id, sender)
    if repair is not None and heard.target in repair.promised:
        repair.end(heard.target)
    return False


def _heard_target_fail(memory: Memory, sender: AgentId, heard: FailReschedule) -> bool:
    repair = memory.followed_repair(heard.old_meeting_id, sender)
    if repair is not None:
        repair.end(None)
    return False


_SAID: Mapping[type, Callable[[Memory, Any], None]] = {
    Propose: _said_propose,
    ProposeReply: _said_reply,
    Confirm: _said_confirm,
    Fail: _said_fail,
    ProposeReschedule: _said_target,
    RescheduleReply: _said_target_reply,
    ConfirmReschedule: _said_target_end,
    FailReschedule: _said_target_end,
}

_HEARD: Mapping[type, Callable[[Memory, AgentId, Any], bool]] = {
    Propose: _heard_propose,
    ProposeReply: _heard_reply,
    Confirm: _heard_confirm,
    Fail: _heard_fail,
    RescheduleRequest: Memory.begin_on_request,
    ProposeReschedule: Memory.follow,
    RescheduleReply: _heard_target_reply,
    ConfirmReschedule: _heard_target_confirm,
    FailReschedule: _heard_target_fail,
}

SPEECH_ACTS = frozenset(_HEARD)
"""SD-MAP's vocabulary as types: whatever else is said is no news."""

_TOLD = {kind: note for kind, note in _HEARD.items() if kind is not Propose}
"""What leaves a note: a proposal asks for an answer and tells nothing."""
