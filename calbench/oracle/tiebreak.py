"""The lexicographically first of the cheapest, or dearest, schedules, by CP-SAT.

First the least cost is proven. Then the slots are minimised in the order of the meetings, among the
schedules of that cost. A slot whose regret, what it costs above its meeting's cheapest one, exceeds
the regret of the whole schedule is in none of these, because no other meeting has less than none;
few slots are left over. The rest is a number whose digits are the ranks of the slots, read with as
many digits at a time as an objective holds; each further group of digits is minimised with the
earlier ones fixed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ortools.sat.python import cp_model

from calbench.domain.ids import Slot
from calbench.oracle.choices import LARGEST_OBJECTIVE, Choice
from calbench.oracle.model import ScheduleModel

Direction = Literal[1, -1]
"""1 for the least cost, -1 for the greatest."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Slots of all meetings, as good as the effort allowed.

    Attributes:
        slots: one per meeting; ``None`` if the solver was stopped before it found any.
        bound: every schedule costs at least (direction 1) or at most (-1) this.
        is_first: whether the cost is proven and the vector is the first of that cost.
    """

    slots: tuple[Slot, ...] | None
    bound: int
    is_first: bool


def extreme_slots(
    choices: Sequence[Choice],
    direction: Direction,
    effort: float | None = None,
    hint: Sequence[Slot] | None = None,
) -> Solution:
    """Return the lexicographically first slot vector of extreme cost.

    Args:
        choices: meetings in the order of the vector.
        direction: 1 for the least cost, -1 for the greatest.
        effort: deterministic seconds after which the solver stops; ``None``: it does not.
        hint: a schedule from which the search starts.

    Raises:
        NoScheduleError: there is no schedule.
        ValueError: the costs are too large for exact arithmetic in the solver.
    """
    model = ScheduleModel(choices)
    found = model.minimized(model.cost * direction, hint, effort)
    slots, bound = found.slots, direction * found.bound
    if slots is None or not found.is_proven:
        return Solution(slots, bound, is_first=False)
    left = None if effort is None else effort - found.effort
    still_open = _affordable(choices, direction, slots)
    num_fixed = 0
    while num_fixed < len(choices):
        if left is not None and left <= 0:
            return Solution(slots, bound, is_first=False)
        model = ScheduleModel(still_open)
        model.fix_cost(bound)
        last, number = _next_digits(model, num_fixed)
        group = model.minimized(number, slots, left)
        slots = group.slots or slots
        if not group.is_proven:
            return Solution(slots, bound, is_first=False)
        left = None if left is None else left - group.effort
        still_open, num_fixed = _fixed(still_open, slots[:last]), last
    return Solution(slots, bound, is_first=True)


def _affordable(
    choices: Sequence[Choice], direction: Direction, slots: Sequence[Slot]
) -> list[Choice]:
    """Leave out every slot with more regret than a schedule of extreme cost has in total."""
    costs = [
        {slot: direction * sum(charges) for slot, charges in choice.charges_by_slot.items()}
        for choice in choices
    ]
    least = [min(own.values()) for own in costs]
    chosen = sum(own[slot] for own, slot in zip(costs, slots, strict=True))
    regret = chosen - sum(least)
    return [
        _restricted(choice, [slot for slot in own if own[slot] - cheapest <= regret])
        for choice, own, cheapest in zip(choices, costs, least, strict=True)
    ]


def _restricted(choice: Choice, slots: Sequence[Slot]) -> Choice:
    return replace(choice, charges_by_slot={slot: choice.charges_by_slot[slot] for slot in slots})


def _next_digits(model: ScheduleModel, first: int) -> tuple[int, cp_model.LinearExpr]:
    """Return the slots from index ``first`` on that fit an objective, as a number.

    The digit of a meeting is the rank of its slot among those that are open to it.

    Returns:
        The index of the first meeting that does not fit, and the number.
    """
    last, weight = first, 1
    while last < len(model.places) and weight * len(model.places[last]) <= LARGEST_OBJECTIVE:
        weight *= len(model.places[last])
        last += 1
    literals: list[cp_model.IntVar] = []
    weights: list[int] = []
    for places in model.places[first:last]:
        weight //= len(places)
        literals.extend(places[slot] for slot in sorted(places))
        weights.extend(rank * weight for rank in range(len(places)))
    return last, cp_model.LinearExpr.weighted_sum(literals, weights)


def _fixed(choices: Sequence[Choice], slots: Sequence[Slot]) -> list[Choice]:
    """Give the first meetings these slots, which are then closed to those who share an agent."""
    first = [
        _restricted(choice, [slot])
        for choice, slot in zip(choices[: len(slots)], slots, strict=True)
    ]
    taken = {
        (agent, slot)
        for choice, slot in zip(first, slots, strict=True)
        for agent in choice.participants
    }
    rest = [
        _restricted(
            choice,
            [
                slot
                for slot in choice.charges_by_slot
                if not any((agent, slot) in taken for agent in choice.participants)
            ],
        )
        for choice in choices[len(slots) :]
    ]
    return [*first, *rest]
