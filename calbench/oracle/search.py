"""Small problems by iterative deepening: the solver's answer without starting the solver.

Most problems have five meetings and are solved here in a fraction of a millisecond. Building and
presolving a constraint model takes ten times as long, and importing the solver half a second in
every process. The answer is unique (the extreme cost, then the first slot vector), so it does not
matter which of the two methods finds it.

The **regret** of a slot is what it costs above the meeting's cheapest one. Meetings are placed one
after the other within a budget of regret; if that fails, the budget grows to the least regret that
exceeded it (Korf, 1985). The first budget that suffices is the least.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from calbench.domain.ids import Slot
from calbench.oracle.choices import Choice

MOST_STEPS = 20_000
"""Slots tried before the search gives up: some milliseconds of work [C]."""


MOST_DEPTH = 100
"""Meetings of a problem that is searched; each one is a call within a call [C]."""


class GaveUpError(Exception):
    """The problem is too large, or :data:`MOST_STEPS` slots were tried without an answer."""


class _Option(NamedTuple):
    """A slot of a meeting; ``cells`` has one bit for the slot in each participant's calendar."""

    regret: int
    slot: Slot
    cells: int


_Options = Sequence[_Option]


def search(choices: Sequence[Choice], direction: Literal[1, -1]) -> tuple[Slot, ...] | None:
    """Return the lexicographically first slot vector of least (1) or greatest (-1) cost.

    Args:
        choices: incoming meetings. Prior ones need a reason to move, which is not checked here.
        direction: 1 for the best schedule, -1 for the worst.

    Returns:
        One slot per meeting, in their order, or ``None`` if there is no schedule.

    Raises:
        GaveUpError: the problem is too large for this method.
    """
    if len(choices) > MOST_DEPTH:
        raise GaveUpError
    num_slots = 1 + max((slot for choice in choices for slot in choice.charges_by_slot), default=0)
    options = [_options(choice, direction, num_slots) for choice in choices]
    if not all(options):
        return None
    attempts = _Attempts()
    cheapest_first = [sorted(own) for own in sorted(options, key=len)]
    budget: int | None = 0
    while budget is not None and attempts.slots(cheapest_first, budget) is None:
        budget = attempts.next_budget
    return None if budget is None else attempts.slots(options, budget)


def _options(choice: Choice, direction: Literal[1, -1], num_slots: int) -> _Options:
    """Return the slots of a meeting, ascending."""
    costs = {slot: direction * sum(paid) for slot, paid in choice.charges_by_slot.items()}
    least = min(costs.values(), default=0)
    calendars = sum(1 << (agent * num_slots) for agent in choice.participants)
    return [_Option(costs[slot] - least, slot, calendars << slot) for slot in sorted(costs)]


class _Attempts:
    """Searches within budgets of regret, all of them together within :data:`MOST_STEPS`.

    Attributes:
        next_budget: the least regret that exceeded the budget of the last search; ``None`` if
            no budget would have helped.
    """

    def __init__(self) -> None:
        self.next_budget: int | None = None
        self._steps = 0

    def slots(self, options: Sequence[_Options], budget: int) -> tuple[Slot, ...] | None:
        """Return the first slots within the budget, in the order of meetings and options."""
        self.next_budget = None
        found = self._placed(options, budget, spent=0, taken=0)
        return None if found is None else tuple(reversed(found))

    def _placed(
        self, options: Sequence[_Options], budget: int, spent: int, taken: int
    ) -> list[Slot] | None:
        """Place these meetings beside the cells that are taken; the last one comes first."""
        if not options:
            return []
        self._steps += len(options[0])
        if self._steps > MOST_STEPS:
            raise GaveUpError
        for regret, slot, cells in options[0]:
            if cells & taken:
                continue
            if spent + regret > budget:
                if self.next_budget is None or spent + regret < self.next_budget:
                    self.next_budget = spent + regret
                continue
            found = self._placed(options[1:], budget, spent + regret, taken | cells)
            if found is not None:
                found.append(slot)
                return found
        return None
