"""Agreement on the new meeting's slot: proposals in calendar order (paper, appendix D.2)."""

from calbench.domain.calendars import Errand, all_slots
from calbench.domain.ids import Slot
from calbench.domain.messages import (
    Confirm,
    Fail,
    Propose,
    ProposeReply,
    RescheduleRequest,
    SlotStatus,
)
from calbench.protocols.sd_map.memory import Memory
from calbench.protocols.sd_map.notes import Voice
from calbench.protocols.sd_map.repair import carry_on


def next_candidate(memory: Memory) -> Slot | None:
    """Return the initiator's lowest candidate after the slot it proposed last, if any is left.

    A candidate is free, or holds a movable errand while another slot is free, or holds a bumpable
    own meeting; and no other negotiation marks it.
    """
    calendar, proposed = memory.calendar, memory.negotiation.proposed
    first = 0 if proposed is None else proposed + 1
    for slot in all_slots(len(calendar))[first:]:
        if _is_open(memory, slot) and (memory.has_free or not isinstance(calendar[slot], Errand)):
            return slot
    return None


def answer(memory: Memory, voice: Voice, proposal: Propose) -> None:
    """Answer a proposal, without checking whether a displaced errand could land [C]."""
    status: SlotStatus = "PENDING" if _is_open(memory, proposal.slot) else "IMPOSSIBLE"
    reply = ProposeReply(proposal.slot, status)
    if memory.initiator is not None:
        voice.say((memory.initiator,), reply)


def lead(memory: Memory, voice: Voice) -> None:
    """Take the initiator's next step: propose, confirm or give up."""
    negotiation = memory.negotiation
    if negotiation.is_over or not memory.responders:
        return
    if negotiation.proposed is not None:
        if not negotiation.is_answered(memory.responders):
            return
        if not negotiation.is_refused:
            voice.say(memory.responders, Confirm(slot=negotiation.proposed))
            make_way(memory, voice)
            return
    slot = next_candidate(memory)
    voice.say(memory.responders, Fail() if slot is None else Propose(slot))


def make_way(memory: Memory, voice: Voice) -> None:
    """As a bumper, start the repair of the old meeting at once, or request it [R]."""
    old, slot = memory.bumped, memory.agreed
    if old is None or slot is None:
        return
    repair = memory.led_repair(old.meeting_id)
    if repair is not None:
        carry_on(repair, memory, voice)
    else:
        request = RescheduleRequest(old_meeting_id=old.meeting_id, slot=slot)
        voice.say((old.initiator,), request)


def _is_open(memory: Memory, slot: Slot) -> bool:
    """Whether a slot is free or can be cleared, and no other negotiation marks it."""
    item = memory.calendar[slot]
    if item is not None:
        if isinstance(item, Errand):
            if item.blocked:
                return False
        elif memory.bumpable(slot) is None:
            return False
    return not (memory.repairs and memory.is_taken(slot, by_others_than=memory.negotiation))
