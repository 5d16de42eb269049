"""An exact answer to whether meetings can be placed within a cost."""

from collections.abc import Sequence

from calbench.domain.ids import AgentId, Slot
from calbench.oracle.choices import Choice

_Options = list[tuple[int, Slot]]


def slots_within(choices: Sequence[Choice], budget: int) -> tuple[Slot, ...] | None:
    """Return slots for all meetings that together cost at most ``budget``, if there are any.

    No agent has two meetings in a slot. Branch and bound: a meeting may cost the budget less the
    other meetings' cheapest slots, and the meeting with the fewest slots left comes first. This
    is fast if the budget is close to the least cost.

    Returns:
        One slot for each choice, in their order.
    """
    options: list[_Options] = [
        sorted((sum(charges), slot) for slot, charges in choice.charges_by_slot.items())
        for choice in choices
    ]
    if not all(options):
        return None
    slack = budget - sum(option[0][0] for option in options)
    if slack < 0:
        return None
    affordable = [[o for o in option if o[0] <= option[0][0] + slack] for option in options]
    order = sorted(range(len(choices)), key=lambda index: (len(affordable[index]), index))
    found: dict[int, Slot] = {}
    if _place(choices, affordable, order, slack, found, set()):
        return tuple(found[index] for index in range(len(choices)))
    return None


def searched_least_cost(choices: Sequence[Choice]) -> int | None:
    """Return the least total cost of placing these meetings, by bisection over the budget.

    Fast if few meetings are in each other's way, however many there are.

    Returns:
        The cost; ``None`` if the meetings cannot all be placed.
    """
    low, high = 0, sum(choice.greatest_cost for choice in choices)
    if slots_within(choices, high) is None:
        return None
    while low < high:
        budget = (low + high) // 2
        found = slots_within(choices, budget)
        if found is None:
            low = budget + 1
        else:
            placed = zip(choices, found, strict=True)
            high = sum(sum(choice.charges_by_slot[slot]) for choice, slot in placed)
    return low


def _place(
    choices: Sequence[Choice],
    options: Sequence[_Options],
    order: Sequence[int],
    slack: int,
    found: dict[int, Slot],
    taken: set[tuple[AgentId, Slot]],
) -> bool:
    """Place the rest of the order; ``found`` and ``taken`` are unchanged on failure."""
    if len(found) == len(order):
        return True
    index = order[len(found)]
    least = options[index][0][0]
    for cost, slot in options[index]:
        if cost - least > slack:
            return False
        cells = {(agent, slot) for agent in choices[index].participants}
        if cells & taken:
            continue
        found[index] = slot
        if _place(choices, options, order, slack - (cost - least), found, taken | cells):
            return True
        del found[index]
    return False
