"""Agreement on slots: of the new meeting, in calendar order, and of old ones that make way for it.

In a bump repair an old meeting moves, all its participants together (paper, appendix D.2). It takes
place in the talk of the same round, directly after ``confirm`` [R]; the paper says in the next one,
which would leave the old meeting broken in between.
"""

from calbench.domain.calendars import Errand, all_slots
from calbench.domain.ids import Slot
from calbench.domain.messages import (
    Confirm,
    ConfirmReschedule,
    Fail,
    FailReschedule,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
    SlotStatus,
)
from calbench.protocols.sd_map.memory import Memory, Repair
from calbench.protocols.sd_map.notes import Voice


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


def answer_target(memory: Memory, voice: Voice, proposal: ProposeReschedule) -> None:
    """Answer whether the old meeting can move there on this agent's calendar."""
    repair = memory.repairs[proposal.old_meeting_id]
    status: SlotStatus = "PENDING" if memory.is_target(proposal.target, repair) else "IMPOSSIBLE"
    reply = RescheduleReply(
        old_meeting_id=proposal.old_meeting_id, target=proposal.target, status=status
    )
    voice.say((repair.repairer,), reply)


def carry_on(repair: Repair, memory: Memory, voice: Voice) -> None:
    """Take the repairer's next step: propose, confirm or give up.

    In the last sweep nothing is confirmed, because agents that spoke before would not move. The
    repair then fails silently.
    """
    if repair.is_over or not repair.others:
        return
    if repair.proposed is not None:
        if not repair.is_answered(repair.others):
            return
        if not repair.is_refused:
            if voice.is_last_sweep:
                repair.end(None)
            else:
                voice.say(
                    repair.others,
                    ConfirmReschedule(old_meeting_id=repair.meeting_id, target=repair.proposed),
                )
            return
    target = next_target(repair, memory)
    if target is None:
        voice.say(repair.others, FailReschedule(old_meeting_id=repair.meeting_id))
    else:
        voice.say(
            repair.others,
            ProposeReschedule(
                old_meeting_id=repair.meeting_id, slot=repair.new_slot, target=target
            ),
        )


def next_target(repair: Repair, memory: Memory) -> Slot | None:
    """Return the lowest slot that is a valid target and was not proposed before."""
    for slot in all_slots(len(memory.calendar)):
        if slot not in repair.tried and memory.is_target(slot, repair):
            return slot
    return None
