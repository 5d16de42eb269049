"""How a round begins and ends, and what a game that cannot go on records (section 3)."""

from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.observations import Observation
from calbench.engine.state import State
from calbench.errors import Halt
from calbench.scenarios.models import IncomingMeetingEntry, Scenario
from calbench.traces.events import (
    ConsistencyViolation,
    GameHalted,
    Outcome,
    Resolution,
    RoundStart,
)
from calbench.traces.models import RoundOutcome


def round_start(scenario: Scenario, entry: IncomingMeetingEntry, round_index: int) -> RoundStart:
    """Return the event for the meeting of one round."""
    meeting = scenario.meeting_by_id[MeetingId(entry.meeting_id)]
    return RoundStart(
        round=round_index,
        meeting_id=meeting.meeting_id,
        participants=meeting.participants,
        speaker_order=tuple([AgentId(agent) for agent in entry.speaker_order]),
    )


def resolve(state: State, meeting: Meeting, round_index: int) -> None:
    """Judge a round: this meeting needs one common slot, and every earlier one must be intact.

    A meeting that was scheduled and has been broken since counts as broken until it is intact
    again; copies of failed meetings do not count. Earlier successes are not withdrawn.
    """
    slots = state.slots_of(meeting)
    broken = _still_broken(state, round_index) if state.unsure else ()
    is_whole = _is_whole(slots)
    if not is_whole:
        _record_violation(state, meeting.meeting_id, slots, round_index, is_earlier=False)
    outcome = _outcome(slots, is_whole=is_whole, has_broken=bool(broken))
    if outcome == "scheduled":
        state.standing[meeting.meeting_id] = meeting
    _record_end(state, meeting.meeting_id, round_index, outcome, slots, broken)


def _still_broken(state: State, round_index: int) -> tuple[MeetingId, ...]:
    """Record which earlier meetings are broken, in the order in which they were placed."""
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
    return tuple(broken)


def _record_end(
    state: State,
    meeting_id: MeetingId,
    round_index: int,
    outcome: Outcome,
    slots: dict[str, Slot | None],
    broken: tuple[MeetingId, ...],
) -> None:
    coordinated = outcome == "scheduled"
    state.events.append(
        Resolution(
            round=round_index,
            meeting_id=meeting_id,
            coordinated=coordinated,
            outcome=outcome,
            slot_by_agent=slots,
            broken_meetings=broken,
        )
    )
    state.outcomes.append(RoundOutcome(meeting_id, coordinated, dict(slots)))


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


def halt(
    state: State, scenario: Scenario, observation: Observation, reason: Halt, detail: str
) -> None:
    """Record why a game stopped, and the current and all later rounds as failed for that reason.

    Such a game is recorded whole and excluded from every score.

    Args:
        state: of the game when it stopped.
        scenario: of the game.
        observation: what the agent that could not answer was shown.
        reason: a provider's fault, or the end of the budget.
        detail: in words, without keys and addresses.
    """
    state.events.append(
        GameHalted(
            round=observation.round_index,
            phase=observation.phase,
            agent_id=observation.agent_id,
            reason=reason,
            detail=detail,
        )
    )
    for round_index in range(len(state.outcomes), len(scenario.meetings)):
        entry = scenario.meetings[round_index]
        meeting_id = MeetingId(entry.meeting_id)
        if round_index > observation.round_index:  # opened only to be resolved
            state.events.append(round_start(scenario, entry, round_index))
        slots = state.slots_of(scenario.meeting_by_id[meeting_id])
        _record_end(state, meeting_id, round_index, reason, slots, ())
