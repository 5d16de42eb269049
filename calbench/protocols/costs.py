"""Local insertion costs and the choice that follows from them (paper, appendix D.1)."""

from collections.abc import Sequence

from calbench.domain.calendars import Calendar, all_slots, first_free
from calbench.domain.ids import Slot

CostVector = tuple[int | None, ...]
"""Local cost by slot; ``None`` is infeasible."""


def local_costs(calendar: Calendar) -> CostVector:
    """Return what placing a meeting costs the owner, by slot, in shown costs.

    A free slot costs 0; a movable errand costs its shown cost if another slot is free for it;
    blocked errands and meetings are infeasible (appendix D.1).
    """
    if first_free(calendar) is None:
        return (None,) * len(calendar)
    return tuple([0 if item is None else item.local_cost for item in calendar])


def feasible_slots(costs: CostVector) -> tuple[Slot, ...]:
    """Return the slots with a cost, ascending."""
    return tuple([slot for slot in all_slots(len(costs)) if costs[slot] is not None])


def cheapest_slot(vectors: Sequence[CostVector]) -> Slot | None:
    """Return the slot with the smallest (sum, index) that is feasible for all.

    Args:
        vectors: one vector of the same length for each participant.

    Returns:
        The slot, or ``None`` if no slot is feasible for all.
    """
    best: tuple[int, int] | None = None
    for index, column in enumerate(zip(*vectors, strict=True)):
        total = 0
        for cost in column:
            if cost is None:
                break
            total += cost
        else:
            if best is None or total < best[0]:
                best = (total, index)
    return None if best is None else Slot(best[1])
