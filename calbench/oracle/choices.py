"""Where each meeting may finally be, and what that costs: the input of every exact method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.problem import PriorMeeting, Problem

LARGEST_OBJECTIVE = 2**45
"""Sums of costs stay below this, because CP-SAT compares its bounds as doubles (53 bits)."""


Direction = Literal[1, -1]
"""1 for the least cost, -1 for the greatest."""


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

    def restricted(self, slots: Iterable[Slot]) -> "Choice":
        """Leave only these slots open."""
        return replace(self, charges_by_slot={slot: self.charges_by_slot[slot] for slot in slots})


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


def affordable(choices: Sequence[Choice], budget: int, direction: Direction = 1) -> list[Choice]:
    """Leave out slots that cost too much even if every other meeting has its cheapest slot.

    Args:
        choices: of all meetings.
        budget: what all may cost together.
        direction: -1 where the dearest is sought: it changes the sign of costs and of the budget.
    """
    costs = [
        {slot: direction * sum(charges) for slot, charges in choice.charges_by_slot.items()}
        for choice in choices
    ]
    cheapest = [min(own.values(), default=0) for own in costs]
    slack = direction * budget - sum(cheapest)
    return [
        choice.restricted([slot for slot in own if own[slot] - least <= slack])
        for choice, own, least in zip(choices, costs, cheapest, strict=True)
    ]


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
