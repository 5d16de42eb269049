"""A check of a schedule without a solver; a reader can follow it by hand.

It shares no arithmetic with the solver. It proves that a schedule is allowed and that its costs
are right, not that it is the best one.
"""

from collections.abc import Iterator

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Schedule


def check_schedule(problem: Problem, schedule: Schedule) -> tuple[str, ...]:
    """Name every rule that the schedule breaks (section 3); empty if it is valid.

    If meetings are missing, unknown, placed twice or out of bounds, only that is reported,
    because the other rules then have no meaning.
    """
    misplaced = tuple(_check_placement(problem, schedule))
    if misplaced:
        return misplaced
    meetings_at = _final_meetings(problem, schedule)
    return (
        *_check_double_booking(meetings_at),
        *_check_blocked(problem, meetings_at),
        *_check_prior_moves(problem, schedule, meetings_at),
        *_check_capacity(problem),
        *_check_costs(problem, schedule, meetings_at),
    )


_MeetingsAt = dict[tuple[AgentId, Slot], list[MeetingId]]


def _check_placement(problem: Problem, schedule: Schedule) -> Iterator[str]:
    """Every meeting of the problem is placed exactly once and in bounds, and no others are."""
    for kind, expected, placed in (
        ("meeting", [m for m, _ in problem.meetings], schedule.slot_by_meeting),
        ("prior meeting", [m for m, _ in problem.prior_meetings], schedule.prior_slot_by_meeting),
    ):
        ids = [meeting_id for meeting_id, _ in placed]
        for meeting_id in expected:
            if ids.count(meeting_id) != 1:
                yield f"{kind} {meeting_id} is placed {ids.count(meeting_id)} times, not once"
        for meeting_id, slot in placed:
            if meeting_id not in expected:
                yield f"{kind} {meeting_id} is not part of the problem"
            if not 0 <= slot < problem.num_slots:
                yield f"{kind} {meeting_id} is placed at slot {slot}, out of bounds"


def _final_meetings(problem: Problem, schedule: Schedule) -> _MeetingsAt:
    """List the final meetings in each slot of each calendar."""
    participants = dict(problem.meetings) | {m: p.participants for m, p in problem.prior_meetings}
    meetings_at: _MeetingsAt = {}
    for meeting_id, slot in (*schedule.slot_by_meeting, *schedule.prior_slot_by_meeting):
        for agent in participants[meeting_id]:
            meetings_at.setdefault((agent, slot), []).append(meeting_id)
    return meetings_at


def _check_double_booking(meetings_at: _MeetingsAt) -> Iterator[str]:
    for (agent, slot), ids in sorted(meetings_at.items()):
        if len(ids) > 1:
            yield f"agent {agent} has meetings {sorted(ids)} at slot {slot}"


def _check_blocked(problem: Problem, meetings_at: _MeetingsAt) -> Iterator[str]:
    for (agent, slot), ids in sorted(meetings_at.items()):
        if slot in problem.blocked[agent]:
            yield f"meeting {min(ids)} is at slot {slot}, blocked for agent {agent}"


def _check_prior_moves(
    problem: Problem, schedule: Schedule, meetings_at: _MeetingsAt
) -> Iterator[str]:
    """A moved prior meeting made way: another meeting of a participant took its slot.

    The other meeting is incoming or has moved too, because at first no agent had two meetings
    in one slot.
    """
    final_slots = dict(schedule.prior_slot_by_meeting)
    for meeting_id, prior in problem.prior_meetings:
        if final_slots[meeting_id] != prior.slot and not any(
            (agent, prior.slot) in meetings_at for agent in prior.participants
        ):
            yield f"prior meeting {meeting_id} moves, but no meeting takes its slot {prior.slot}"


def _check_capacity(problem: Problem) -> Iterator[str]:
    """Every item of a calendar, moved or not, must finally have its own slot."""
    for agent, errands in enumerate(problem.errand_costs):
        held = [
            *(cost for cost in errands if cost is not None),
            *problem.blocked[agent],
            *(m for m, prior in problem.prior_meetings if agent in prior.participants),
        ]
        free = problem.num_slots - len(held)
        needed = sum(agent in participants for _, participants in problem.meetings)
        if free < needed:
            yield f"agent {agent} has {free} free slots for {needed} meetings"


def _check_costs(problem: Problem, schedule: Schedule, meetings_at: _MeetingsAt) -> Iterator[str]:
    """Each agent pays once for each of its items that must move."""
    if len(schedule.cost_by_agent) != problem.num_agents:
        yield f"costs are given for {len(schedule.cost_by_agent)} of {problem.num_agents} agents"
        return
    final_slots = dict(schedule.prior_slot_by_meeting)
    for agent, stated in enumerate(schedule.cost_by_agent):
        paid = 0
        for slot in range(problem.num_slots):
            errand_cost = problem.errand_costs[agent][slot]
            if errand_cost is not None and (AgentId(agent), Slot(slot)) in meetings_at:
                paid += errand_cost
        for meeting_id, prior in problem.prior_meetings:
            if agent in prior.participants and final_slots[meeting_id] != prior.slot:
                paid += prior.cost
        if paid != stated:
            yield f"agent {agent} pays {paid}, but {stated} is stated"
