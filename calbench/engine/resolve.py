"""RESOLUTION: did the meeting succeed, and do the earlier ones still stand (section 3)."""

from calbench.domain.calendars import Meeting
from calbench.domain.ids import MeetingId, Slot
from calbench.engine.state import State
from calbench.traces.events import ConsistencyViolation, Outcome, Resolution
from calbench.traces.models import RoundOutcome


def resolve(state: State, meeting: Meeting, round_index: int) -> None:
    """Judge the round: one common slot for this meeting, and every standing one whole.

    A meeting that was scheduled and broken since counts until it is whole again; copies of
    failed meetings do not. Earlier successes are not withdrawn.
    """
    slots = state.slots_of(meeting)
    broken: list[MeetingId] = []
    for meeting_id, earlier in state.standing.items():
        if meeting_id not in state.unsure:
            continue
        held = state.slots_of(earlier)
        if _is_whole(held):
            state.unsure.remove(meeting_id)
        else:
            broken.append(meeting_id)
            _record_violation(state, meeting_id, held, round_index, is_earlier=True)
    is_whole = _is_whole(slots)
    if not is_whole:
        _record_violation(state, meeting.meeting_id, slots, round_index, is_earlier=False)
    outcome = _outcome(slots, is_whole=is_whole, has_broken=bool(broken))
    coordinated = outcome == "scheduled"
    if coordinated:
        state.standing[meeting.meeting_id] = meeting
    state.events.append(
        Resolution(
            round=round_index,
            meeting_id=meeting.meeting_id,
            coordinated=coordinated,
            outcome=outcome,
            slot_by_agent=slots,
            broken_meetings=tuple(broken),
        )
    )
    state.outcomes.append(
        RoundOutcome(
            meeting_id=meeting.meeting_id, coordinated=coordinated, slot_by_agent=dict(slots)
        )
    )


def _is_whole(slots: dict[str, Slot | None]) -> bool:
    held = set(slots.values())
    return len(held) == 1 and None not in held


def _outcome(slots: dict[str, Slot | None], *, is_whole: bool, has_broken: bool) -> Outcome:
    """Name the first reason for failure: no batch, then different slots, then older damage."""
    if None in slots.values():
        return "no_batch"
    if not is_whole:
        return "inconsistent_slots"
    return "earlier_meeting_broken" if has_broken else "scheduled"


def _record_violation(
    state: State,
    meeting_id: MeetingId,
    slots: dict[str, Slot | None],
    round_index: int,
    *,
    is_earlier: bool,
) -> None:
    state.events.append(
        ConsistencyViolation(
            round=round_index, meeting_id=meeting_id, is_earlier=is_earlier, slot_by_agent=slots
        )
    )
