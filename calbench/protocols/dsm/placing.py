"""DECISION and VOLUNTARY: from an announced plan to a batch (paper, appendix D.3)."""

from collections.abc import Sequence

from calbench.domain.actions import PASS, Action, CalendarAction, Reschedule, Schedule, Turn
from calbench.domain.calendars import Booking, Calendar, Meeting, all_slots, first_free
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.messages import MeetingMove
from calbench.domain.observations import Observation
from calbench.domain.rules import Applied, apply_batch
from calbench.protocols.base import JUSTIFICATION, place


def placeable_slots(calendar: Calendar) -> list[Slot]:
    """Return the slots an agent may choose, ascending.

    They are free, or hold a movable errand or a meeting while another slot is free [R].
    """
    if first_free(calendar) is None:
        return []
    slots = zip(all_slots(len(calendar)), calendar, strict=True)
    return [slot for slot, item in slots if item is None or item.is_movable]


def decide(
    observation: Observation,
    meeting: Meeting,
    slot: Slot | None,
    moves: Sequence[MeetingMove],
    *,
    is_initiator: bool,
) -> Turn:
    """Return the batch of a participant.

    The agreed slot if it is placeable, else the lowest placeable one; on retry *k* number *k*
    of the placeable slots, counted from 0 [R]. Only the agreed slot moves a meeting: if another
    slot holds one, the batch is empty and is rejected [R; for retries C].

    Args:
        observation: of the deciding agent.
        meeting: to be placed.
        slot: the agreed slot; ``None`` if no decision was heard, which gives an empty batch,
            and the same retries [C].
        moves: the announced moves that this agent knows.
        is_initiator: the initiator performs all these moves; another participant moves only
            the meeting at the agreed slot [R].
    """
    calendar = observation.calendar
    slots = placeable_slots(calendar)
    if observation.attempt == 0:
        if slot is None:
            return PASS
        if slot in slots:
            item = calendar[slot]
            if not isinstance(item, Booking):
                return place(observation, meeting, slot)
            standing = item.meeting.meeting_id
            own = moves if is_initiator else [m for m in moves if m.meeting_id == standing][:1]
            return _displacing(calendar, meeting, slot, own)
    if observation.attempt >= len(slots):
        return PASS
    return place(observation, meeting, slots[observation.attempt])


def volunteer(calendar: Calendar, moves: Sequence[MeetingMove]) -> Turn:
    """Return an outsider's batch: all announced moves of meetings it holds, or none of them.

    A meeting is moved from the slot that holds its copy [C].
    """
    slot_by_meeting: dict[MeetingId, Slot] = {
        item.meeting.meeting_id: Slot(slot)
        for slot, item in enumerate(calendar)
        if isinstance(item, Booking)
    }
    batch = [
        _move(move, slot_by_meeting[move.meeting_id])
        for move in moves
        if move.meeting_id in slot_by_meeting
    ]
    return _lawful(calendar, batch, None) if batch else PASS


def _displacing(
    calendar: Calendar, meeting: Meeting, slot: Slot, moves: Sequence[MeetingMove]
) -> Turn:
    """Clear a slot with a meeting; without an announced move the batch is empty."""
    if not moves:
        return PASS
    # The chain begins at the agreed slot; each next meeting is where the last one goes.
    starts = (slot, *[move.to_slot for move in moves[:-1]])
    batch: list[CalendarAction] = [
        _move(move, start) for move, start in zip(moves, starts, strict=True)
    ]
    batch.append(Schedule(meeting_id=meeting.meeting_id, slot=slot))
    return _lawful(calendar, batch, meeting)


def _move(move: MeetingMove, from_slot: Slot) -> Reschedule:
    return Reschedule(
        item_id=move.meeting_id,
        from_slot=from_slot,
        to_slot=move.to_slot,
        justification=JUSTIFICATION,
    )


def _lawful(calendar: Calendar, batch: Sequence[CalendarAction], meeting: Meeting | None) -> Turn:
    """Return a batch, or an empty one if it would be rejected anyway.

    An announced target may be occupied here: its plan was announced although infeasible, or it
    assumed a slot to be vacated that was not vacated on this calendar.
    """
    if not isinstance(apply_batch(calendar, batch, meeting), Applied):
        return PASS
    actions: tuple[Action, ...] = tuple(batch)
    return Turn(actions)
