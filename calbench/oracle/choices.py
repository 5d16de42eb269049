"""Where each meeting may finally be, and what that costs: the input of every exact method."""

from collections.abc import Sequence
from dataclasses import dataclass

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.problem import PriorMeeting, Problem

LARGEST_OBJECTIVE = 2**45
"""Sums of costs stay below this, because CP-SAT compares its bounds as doubles (53 bits)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The final slots open to one meeting.

    Attributes:
        meeting_id: the meeting.
        participants: who holds it.
        original: slot of a prior meeting; ``None`` for an incoming meeting.
        charges_by_slot: for every possible final slot, what each participant pays, aligned
            with ``participants``: the errand in the slot, and for a prior meeting that leaves
            its original slot also the cost of its move.
    """

    meeting_id: MeetingId
    participants: tuple[AgentId, ...]
    original: Slot | None
    charges_by_slot: dict[Slot, tuple[int, ...]]

    @property
    def greatest_cost(self) -> int:
        """The most that this meeting can cost all its participants together."""
        return max((sum(charges) for charges in self.charges_by_slot.values()), default=0)

    def shares_agent_with(self, other: "Choice") -> bool:
        """Whether the two cannot be in one slot."""
        return not set(self.participants).isdisjoint(other.participants)


def choices_of(problem: Problem) -> tuple[Choice, ...]:
    """Return the choices in the order of the slot vector: incoming by id, then prior by id.

    The sum of the charges is the cost of a schedule, because at most one meeting of an
    agent ends in a slot: no errand is paid twice.
    """
    incoming = [
        Choice(meeting_id, participants, None, _charges(problem, participants))
        for meeting_id, participants in problem.meetings
    ]
    prior = [
        Choice(meeting_id, m.participants, m.slot, _charges(problem, m.participants, m))
        for meeting_id, m in problem.prior_meetings
    ]
    return (*incoming, *prior)


def greatest_total(choices: Sequence[Choice]) -> int:
    """Return an upper bound of what a schedule can cost.

    Raises:
        ValueError: it is too large for exact arithmetic in the solver.
    """
    total = sum(choice.greatest_cost for choice in choices)
    if total >= LARGEST_OBJECTIVE:
        raise ValueError(f"costs sum to {total}; solved exactly below 2**45")
    return total


def _charges(
    problem: Problem, participants: Sequence[AgentId], prior: PriorMeeting | None = None
) -> dict[Slot, tuple[int, ...]]:
    """Return what each participant pays, by slot where the meeting may end."""
    move = 0 if prior is None else prior.cost
    costs = [problem.errand_costs[agent] for agent in participants]
    charges = {
        slot: tuple([(cost[slot] or 0) + move for cost in costs])
        for slot in problem.allowed_slots(participants)
    }
    if prior is not None and prior.slot in charges:
        charges[prior.slot] = (0,) * len(participants)
    return charges
