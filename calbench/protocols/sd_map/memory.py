"""What one agent knows of this round: its transcript, folded (paper, appendix D.2).

Notes are facts: what was said and heard, in order, and nothing the agent would have to
guess again. So an agent that is asked anew, or has its turn played again, knows the same.
"""

from collections.abc import Callable, Mapping
from typing import Any

from calbench.domain.calendars import Booking, Calendar, Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
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
)
from calbench.domain.observations import Observation
from calbench.protocols.base import own_meeting, partners
from calbench.protocols.sd_map.difficulty import Weights, is_bumpable
from calbench.protocols.sd_map.marks import Negotiation, Repair


class Memory:
    """Facts of this round and what follows from them; never more than its transcript says.

    Attributes:
        meeting: the meeting under discussion; absent for an outsider.
        initiator: who leads its negotiation; absent for an outsider.
        responders: the other participants, ascending, if this agent leads it.
        negotiation: the agreement on its slot.
        repairs: repairs this agent leads or was asked about, in the order they began.
    """

    __slots__ = (
        "_weights",
        "agent_id",
        "calendar",
        "earlier",
        "initiator",
        "meeting",
        "negotiation",
        "repairs",
        "responders",
    )

    def __init__(self, observation: Observation, weights: Weights | None) -> None:
        """Begin with the agent's calendar, which does not change while a round is talked."""
        self.earlier = observation.earlier
        self._weights = weights
        self.agent_id = observation.agent_id
        self.calendar: Calendar = observation.calendar
        self.meeting = meeting = own_meeting(observation)
        self.initiator: AgentId | None = None
        self.responders: tuple[AgentId, ...] = ()
        if meeting is not None:
            self.initiator = meeting.initiator
            if self.initiator == self.agent_id:
                self.responders = self._partners(meeting)
        self.negotiation = Negotiation()
        self.repairs: dict[MeetingId, Repair] = {}

    @property
    def is_initiator(self) -> bool:
        """Whether this agent leads the negotiation of the new meeting."""
        return self.initiator == self.agent_id

    @property
    def agreed(self) -> Slot | None:
        """The slot the new meeting was confirmed for."""
        return self.negotiation.agreed

    @property
    def bumped(self) -> Meeting | None:
        """The own meeting that has to leave the agreed slot."""
        return None if self.agreed is None else self.bumpable(self.agreed)

    def bumpable(self, slot: Slot) -> Meeting | None:
        """Return the meeting in a slot of the own calendar if it makes way for the new one."""
        item = self.calendar[slot]
        if self.meeting is None or not isinstance(item, Booking):
            return None
        is_lighter = is_bumpable(item.meeting, self.meeting, self.agent_id, self._weights)
        return item.meeting if is_lighter else None

    def copy_of(self, meeting_id: MeetingId) -> tuple[Slot, Meeting] | None:
        """Return the agent's own copy of a meeting with its slot, if it holds one."""
        for index, item in enumerate(self.calendar):
            if isinstance(item, Booking) and item.meeting.meeting_id == meeting_id:
                return Slot(index), item.meeting
        return None

    def has(self, slot: Slot) -> bool:
        """Whether the slot exists (a neighbour may name anything)."""
        return 0 <= slot < len(self.calendar)

    def is_taken(self, slot: Slot, *, by_others_than: Negotiation) -> bool:
        """Whether another negotiation marks the slot, or a confirmed move ends there."""
        return any(
            repair.agreed == slot or slot in repair.marks()
            for repair in (self.negotiation, *self.repairs.values())
            if repair is not by_others_than
        )

    def is_target(self, slot: Slot, repair: Repair) -> bool:
        """Whether an old meeting could move to a slot of the own calendar."""
        return (
            self.calendar[slot] is None
            and slot not in (repair.new_slot, self.agreed)
            and not self.is_taken(slot, by_others_than=repair)
        )

    def agree(self, slot: Slot) -> bool:
        """Note that the new meeting is confirmed; return whether that is new.

        A repair this agent has to lead itself begins here.
        """
        if not self.negotiation.end(slot):
            return False
        old = self.bumped
        if old is not None and old.initiator == self.agent_id:
            self._begin(old.meeting_id, self._partners(old), slot)
        return True

    def begin_on_request(self, sender: AgentId, request: RescheduleRequest) -> bool:
        """Note that a participant asks for a repair; only the first request counts."""
        partners = self._partners_led(request.old_meeting_id)
        if request.old_meeting_id in self.repairs or sender not in partners:
            return False
        self._begin(request.old_meeting_id, partners, request.slot)
        return True

    def follow(self, sender: AgentId, proposal: ProposeReschedule) -> bool:
        """Note that a repairer proposes a target; return whether it is due an answer."""
        repair = self.repairs.get(proposal.old_meeting_id)
        if repair is None:
            copy = self.copy_of(proposal.old_meeting_id)
            if copy is not None and copy[1].initiator != sender:
                return False
            repair = self.repairs[proposal.old_meeting_id] = Repair(
                meeting_id=proposal.old_meeting_id, repairer=sender, new_slot=proposal.slot
            )
        return repair.repairer == sender and not repair.is_over and self.has(proposal.target)

    def led_repair(self, meeting_id: MeetingId) -> Repair | None:
        """Return the repair of this meeting if this agent leads it."""
        repair = self.repairs.get(meeting_id)
        return repair if repair is not None and repair.repairer == self.agent_id else None

    def followed_repair(self, meeting_id: MeetingId, repairer: AgentId) -> Repair | None:
        """Return the repair of this meeting if that other agent leads it."""
        repair = self.repairs.get(meeting_id)
        return repair if repair is not None and repair.repairer == repairer else None

    def close_talk(self) -> None:
        """Count repairs that all accepted too late to be confirmed as failed [C]."""
        for repair in self.repairs.values():
            if repair.is_answered(repair.others) and not repair.is_refused:
                repair.end(None)

    def _begin(self, meeting_id: MeetingId, partners: tuple[AgentId, ...], slot: Slot) -> None:
        if meeting_id not in self.repairs:
            self.repairs[meeting_id] = Repair(
                meeting_id=meeting_id, repairer=self.agent_id, others=partners, new_slot=slot
            )

    def _partners(self, meeting: Meeting) -> tuple[AgentId, ...]:
        return partners(meeting.participants, self.agent_id)

    def _partners_led(self, meeting_id: MeetingId) -> tuple[AgentId, ...]:
        """Return the other participants of a meeting this agent is the initiator of.

        Where its own copy failed, they are those it once negotiated with [C].
        """
        copy = self.copy_of(meeting_id)
        if copy is not None:
            return self._partners(copy[1]) if copy[1].initiator == self.agent_id else ()
        partners: set[AgentId] = set()
        for message in self.earlier:
            if (
                message.meeting_id == meeting_id
                and message.sender == self.agent_id
                and isinstance(message.content, Propose | Fail)
            ):
                partners.update(message.recipients)
        return tuple(sorted(partners))


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
