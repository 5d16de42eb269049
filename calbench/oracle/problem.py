"""What the oracle is asked: all calendars and meetings, known in advance; its greedy yardstick."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from calbench.domain.ids import AgentId, MeetingId, Slot


@dataclass(frozen=True, slots=True)
class PriorMeeting:
    """A meeting from before the game; each participant pays ``cost`` if it moves."""

    participants: tuple[AgentId, ...]
    slot: Slot
    cost: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A scenario with full information: a hashable value (paper, section 3).

    Attributes:
        num_slots: slots of every calendar.
        errand_costs: ``[agent][slot]``, accounting cost of the movable errand there, ``None``
            if there is none.
        blocked: slots of each agent's immovable errands, by agent.
        meetings: incoming meetings with their participants, in ascending id.
        prior_meetings: meetings that exist before the game, in ascending id.
    """

    num_slots: int
    errand_costs: tuple[tuple[int | None, ...], ...]
    blocked: tuple[frozenset[Slot], ...]
    meetings: tuple[tuple[MeetingId, tuple[AgentId, ...]], ...]
    prior_meetings: tuple[tuple[MeetingId, PriorMeeting], ...]

    def restricted(self, meeting_ids: Iterable[MeetingId]) -> "Problem":
        """Keep only these incoming meetings; prior meetings stay.

        Raises:
            ValueError: an id is not that of an incoming meeting.
        """
        kept = frozenset(meeting_ids)
        unknown = kept - {meeting_id for meeting_id, _ in self.meetings}
        if unknown:
            raise ValueError(f"not among the incoming meetings: {sorted(unknown)}")
        return replace(self, meetings=tuple(entry for entry in self.meetings if entry[0] in kept))

    @property
    def num_agents(self) -> int:
        """Number of calendars."""
        return len(self.errand_costs)

    @property
    def free_slots_by_agent(self) -> tuple[tuple[Slot, ...], ...]:
        """Slots without an errand, blocked or not, and without a prior meeting, by agent."""
        return tuple(
            tuple(
                Slot(slot)
                for slot, cost in enumerate(self.errand_costs[agent])
                if cost is None and slot not in self.blocked[agent] and slot not in taken
            )
            for agent, taken in enumerate(self.prior_slots_by_agent)
        )

    @property
    def prior_slots_by_agent(self) -> tuple[frozenset[Slot], ...]:
        """Slots that hold a prior meeting, by agent."""
        slots: list[set[Slot]] = [set() for _ in self.errand_costs]
        for _, prior in self.prior_meetings:
            for agent in prior.participants:
                slots[agent].add(prior.slot)
        return tuple(frozenset(taken) for taken in slots)

    @property
    def num_meetings_by_agent(self) -> tuple[int, ...]:
        """Number of incoming meetings, by agent."""
        counts = [0] * self.num_agents
        for _, participants in self.meetings:
            for agent in participants:
                counts[agent] += 1
        return tuple(counts)

    def allowed_slots(self, participants: Sequence[AgentId]) -> tuple[Slot, ...]:
        """Slots that no participant has blocked, ascending; they may hold prior meetings."""
        blocked = frozenset[Slot]().union(*(self.blocked[agent] for agent in participants))
        return tuple(Slot(slot) for slot in range(self.num_slots) if slot not in blocked)

    def unheld_slots(self, participants: Sequence[AgentId]) -> tuple[Slot, ...]:
        """Allowed slots at which no participant has a prior meeting, ascending."""
        prior_slots = self.prior_slots_by_agent
        held = frozenset[Slot]().union(*(prior_slots[agent] for agent in participants))
        return tuple(slot for slot in self.allowed_slots(participants) if slot not in held)

    def displaced_costs(self, participants: Sequence[AgentId], slot: Slot) -> tuple[int, ...]:
        """Accounting cost of the errand in ``slot``, 0 if none, for each participant."""
        return tuple(self.errand_costs[agent][slot] or 0 for agent in participants)

    def displacement_cost(self, participants: Sequence[AgentId], slot: Slot) -> int:
        """Accounting cost of all movable errands that a meeting at ``slot`` displaces."""
        return sum(self.displaced_costs(participants, slot))


def greedy_cost(problem: Problem) -> int | None:
    """Return the total cost of placing each meeting, by id, at its first clearable slot [R].

    A slot can be cleared if no participant has it blocked, holds a prior meeting in it or has an
    earlier meeting in it, and each of them still has a spare free slot (every meeting uses one,
    for itself or for the errand that it displaces). Costs do not guide the choice.

    Returns:
        Accounting cost of the errands in the slots, or ``None`` if a meeting finds no slot.
    """
    used: list[set[Slot]] = [set() for _ in range(problem.num_agents)]
    spare = [len(slots) for slots in problem.free_slots_by_agent]
    total = 0
    for _, participants in problem.meetings:
        if any(len(used[agent]) >= spare[agent] for agent in participants):
            return None
        taken = set[Slot]().union(*(used[agent] for agent in participants))
        slot = next((s for s in problem.unheld_slots(participants) if s not in taken), None)
        if slot is None:
            return None
        for agent in participants:
            used[agent].add(slot)
        total += problem.displacement_cost(participants, slot)
    return total
