"""Batches: the agreed slot, confirmed moves, and slots for retries (appendix D.2)."""

from calbench.domain.actions import PASS, Action, Reschedule, Schedule, Turn
from calbench.domain.calendars import Booking, Errand, all_slots
from calbench.domain.ids import ItemId, MeetingId, Slot
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.sd_map.memory import Memory
from calbench.protocols.sd_map.negotiation import next_candidate
from calbench.protocols.sd_map.repair import next_target


def confirmed_moves(memory: Memory) -> tuple[Reschedule, ...]:
    """Return the agent's own part of every repair that was confirmed, oldest first.

    A meeting that is not on its calendar, because it failed there, is left out. An old meeting
    without other participants moves silently to the lowest possible slot [C].
    """
    if not memory.repairs:
        return ()
    moves: list[Reschedule] = []
    for repair in memory.repairs.values():
        if repair.repairer == memory.agent_id and not repair.others and not repair.is_over:
            repair.end(next_target(repair, memory))
        copy = None if repair.agreed is None else memory.copy_of(repair.meeting_id)
        if copy is not None and repair.agreed is not None:
            moves.append(_move(repair.meeting_id, copy[0], repair.agreed))
    return tuple(moves)


def decide(memory: Memory, attempt: int) -> Turn:
    """Book the agreed slot; on retry *k* the own slot number *k*, counted from 0 [R].

    Confirmed moves are part of every batch. If there is nothing to schedule the batch is empty,
    and the game rejects it.
    """
    if memory.meeting is None:
        return PASS
    moves = confirmed_moves(memory)
    if attempt == 0:
        slot = memory.agreed
        if memory.is_initiator and not memory.responders:
            slot = next_candidate(memory)
        return PASS if slot is None else _batch(memory, memory.meeting.meeting_id, moves, slot)
    own = retry_slots(memory, moves)
    if attempt >= len(own):
        return PASS
    return _batch(memory, memory.meeting.meeting_id, moves, own[attempt])


def retry_slots(memory: Memory, moves: tuple[Reschedule, ...]) -> tuple[Slot, ...]:
    """Return the slots the agent can book by itself now, ascending [R].

    They are free or hold an errand that has a landing slot, are unmarked, and are not targets of
    confirmed moves. Slots that its confirmed moves vacate are not included.
    """
    has_landing = landing_slot(memory, moves) is not None
    return tuple(
        [
            slot
            for slot, item in zip(all_slots(len(memory.calendar)), memory.calendar, strict=True)
            if (item is None or (isinstance(item, Errand) and not item.blocked and has_landing))
            and not _is_marked(memory, slot)
        ]
    )


def landing_slot(memory: Memory, moves: tuple[Reschedule, ...]) -> Slot | None:
    """Return where a displaced errand lands.

    The lowest free slot that is not a target of the batch; if there is none, the lowest that the
    confirmed moves vacate.
    """
    targets = [move.to_slot for move in moves]
    for slot, item in zip(all_slots(len(memory.calendar)), memory.calendar, strict=True):
        if item is None and slot not in targets:
            return slot
    return min((move.from_slot for move in moves), default=None)


def _batch(
    memory: Memory, meeting_id: MeetingId, moves: tuple[Reschedule, ...], slot: Slot
) -> Turn:
    """Return moves and schedule as one batch, or an empty one if the slot is not possible."""
    item = memory.calendar[slot]
    actions: list[Action] = list(moves)
    if item is None:
        if any(move.to_slot == slot for move in moves):
            return PASS
    elif isinstance(item, Booking):
        if all(move.from_slot != slot for move in moves):
            return PASS
    else:
        landing = landing_slot(memory, moves)
        if item.blocked or landing is None:
            return PASS
        actions.append(_move(item.errand_id, slot, landing))
    actions.append(Schedule(meeting_id, slot))
    return Turn(tuple(actions))


def _is_marked(memory: Memory, slot: Slot) -> bool:
    if slot in memory.negotiation.marks():
        return True
    return bool(memory.repairs) and memory.is_taken(slot, by_others_than=memory.negotiation)


def _move(item_id: ItemId, from_slot: Slot, to_slot: Slot) -> Reschedule:
    return Reschedule(item_id, from_slot, to_slot, JUSTIFICATION)
