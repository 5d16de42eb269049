"""The greedy yardstick: each meeting takes the first slot that can be cleared for it."""

from calbench.domain.ids import Slot
from calbench.oracle.problem import Problem


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
