"""What may make a scenario hard: costs that cheap slots, or the want of them, bring about [C]."""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.oracle.greedy import greedy_cost
from calbench.oracle.problem import Problem


class Obstacles(NamedTuple):
    """What stands between meetings and their cheapest slots, alone or together.

    Attributes:
        cheapest_cost: sum over the meetings of the accounting cost of their cheapest slots, each
            for itself; ``None`` if a meeting has no slot.
        clashes: expected number of pairs of meetings with a common participant that choose the
            same slot, if each chooses at random among its cheapest ones.
        greedy_cost: of :func:`calbench.oracle.greedy.greedy_cost`, likewise absent.
    """

    cheapest_cost: int | None
    clashes: float | None
    greedy_cost: int | None


@lru_cache(maxsize=1024)
def obstacles(problem: Problem) -> Obstacles:
    """Return what may make a scenario hard beside the few slots that its calendars admit [C]."""
    greedy = greedy_cost(problem)
    cheapest: list[tuple[frozenset[AgentId], frozenset[Slot]]] = []
    total = 0
    for _, participants in problem.meetings:
        costs = {
            slot: problem.displacement_cost(participants, slot)
            for slot in problem.unheld_slots(participants)
        }
        if not costs:
            return Obstacles(None, None, greedy)
        least = min(costs.values())
        total += least
        slots = frozenset(slot for slot, cost in costs.items() if cost == least)
        cheapest.append((frozenset(participants), slots))
    clashes = sum(
        Fraction(len(slots & others), len(slots) * len(others))
        for (who, slots), (whom, others) in combinations(cheapest, 2)
        if not who.isdisjoint(whom)
    )
    return Obstacles(total, float(clashes), greedy)
