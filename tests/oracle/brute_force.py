"""The oracle from first principles: try every assignment and look at the calendars.

Shares no code with ``calbench.oracle`` beyond the types of question and answer.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.problem import Problem


@dataclass(frozen=True)
class Outcome:
    """A valid complete schedule: slots of incoming, then of prior meetings, both by id."""

    slots: tuple[Slot, ...]
    cost_by_agent: tuple[int, ...]

    @property
    def cost(self) -> int:
        return sum(self.cost_by_agent)


def outcomes(problem: Problem) -> Iterator[Outcome]:
    """Yield every valid complete schedule in lexicographic order of its slots."""
    incoming = dict(problem.meetings)
    participants = incoming | {m: p.participants for m, p in problem.prior_meetings}
    for slots in all_slot_vectors(problem):
        slot_of = dict(zip(participants, slots, strict=True))
        if all(_is_free_to_stand(problem, participants, slot_of, m) for m in participants) and all(
            _stays_or_gives_way(problem, participants, slot_of, m)
            for m, _ in problem.prior_meetings
        ):
            costs = [_payment(problem, participants, slot_of, a) for a in _agents(problem)]
            if None not in costs:
                yield Outcome(slots, tuple(c for c in costs if c is not None))


def all_slot_vectors(problem: Problem) -> Iterator[tuple[Slot, ...]]:
    """Yield every assignment of slots to incoming, then prior meetings, allowed or not."""
    num_meetings = len(problem.meetings) + len(problem.prior_meetings)
    slots = [Slot(slot) for slot in range(problem.num_slots)]
    return itertools.product(slots, repeat=num_meetings)


def best(problem: Problem) -> Outcome | None:
    """Return the first of the cheapest outcomes."""
    return min(outcomes(problem), key=lambda outcome: outcome.cost, default=None)


def worst(problem: Problem) -> Outcome | None:
    """Return the first of the dearest outcomes."""
    return max(outcomes(problem), key=lambda outcome: outcome.cost, default=None)


def optimal_vectors(problem: Problem) -> tuple[tuple[int, ...], ...] | None:
    """Return the distinct cost vectors of the cheapest outcomes, sorted."""
    everything = list(outcomes(problem))
    if not everything:
        return None
    least = min(outcome.cost for outcome in everything)
    return tuple(sorted({o.cost_by_agent for o in everything if o.cost == least}))


def count(problem: Problem) -> int:
    """Count injective assignments of incoming meetings; prior meetings and blocked slots forbid."""
    total = 0
    for slots in itertools.permutations(range(problem.num_slots), len(problem.meetings)):
        total += all(
            slot not in problem.blocked[agent]
            and not any(
                p.slot == slot and agent in p.participants for _, p in problem.prior_meetings
            )
            for slot, (_, participants) in zip(slots, problem.meetings, strict=True)
            for agent in participants
        )
    return total


def least_rearrangement_cost(problem: Problem, agent: int, meeting_slots: set[Slot]) -> int | None:
    """Return the least an agent pays to have these slots hold meetings, over all rearrangements.

    Tries every way to lay its movable errands into the slots that hold neither a meeting nor
    a blocked errand, whether or not a move is needed; ``None`` if they do not fit. No priors.
    """
    stands = [(s, c) for s, c in enumerate(problem.errand_costs[agent]) if c is not None]
    room = [
        s
        for s in range(problem.num_slots)
        if s not in meeting_slots and s not in problem.blocked[agent]
    ]
    return min(
        (
            sum(cost for (old, cost), new in zip(stands, places, strict=True) if old != new)
            for places in itertools.permutations(room, len(stands))
        ),
        default=None,
    )


def _agents(problem: Problem) -> list[AgentId]:
    return [AgentId(a) for a in range(len(problem.errand_costs))]


def _is_free_to_stand(
    problem: Problem,
    participants: dict[MeetingId, tuple[AgentId, ...]],
    slot_of: dict[MeetingId, Slot],
    meeting: MeetingId,
) -> bool:
    return all(
        slot_of[meeting] not in problem.blocked[agent]
        and not any(
            other != meeting and agent in participants[other] and slot_of[other] == slot_of[meeting]
            for other in participants
        )
        for agent in participants[meeting]
    )


def _stays_or_gives_way(
    problem: Problem,
    participants: dict[MeetingId, tuple[AgentId, ...]],
    slot_of: dict[MeetingId, Slot],
    meeting: MeetingId,
) -> bool:
    original = {m: prior.slot for m, prior in problem.prior_meetings}
    if slot_of[meeting] == original[meeting]:
        return True
    return any(
        slot_of[other] == original[meeting]
        and set(participants[other]) & set(participants[meeting])
        and (other not in original or slot_of[other] != original[other])
        for other in participants
        if other != meeting
    )


def _payment(
    problem: Problem,
    participants: dict[MeetingId, tuple[AgentId, ...]],
    slot_of: dict[MeetingId, Slot],
    agent: AgentId,
) -> int | None:
    """Play one calendar to its end; ``None`` if a displaced errand finds no slot."""
    occupied = {slot_of[m] for m, who in participants.items() if agent in who}
    occupied |= set(problem.blocked[agent])
    errands = {s: c for s, c in enumerate(problem.errand_costs[agent]) if c is not None}
    displaced = [cost for slot, cost in errands.items() if slot in occupied]
    occupied |= {Slot(slot) for slot in errands}
    if len(displaced) > problem.num_slots - len(occupied):
        return None
    moved = [
        prior.cost
        for meeting, prior in problem.prior_meetings
        if agent in prior.participants and slot_of[meeting] != prior.slot
    ]
    return sum(displaced) + sum(moved)
