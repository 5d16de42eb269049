"""Bump repair: an old meeting moves, all its participants together (paper, appendix D.2).

It takes place in the talk of the same round, directly after ``confirm`` [R]; the paper says in
the next one, which would leave the old meeting broken in between.
"""

from calbench.domain.calendars import all_slots
from calbench.domain.ids import Slot
from calbench.domain.messages import (
    ConfirmReschedule,
    FailReschedule,
    ProposeReschedule,
    RescheduleReply,
    SlotStatus,
)
from calbench.protocols.sd_map.marks import Repair
from calbench.protocols.sd_map.memory import Memory
from calbench.protocols.sd_map.notes import Voice


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
