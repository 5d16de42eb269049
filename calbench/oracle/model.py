"""The CP-SAT model of a schedule; only this module and ``enumeration`` use OR-tools."""

from collections.abc import Sequence
from typing import Literal

from ortools.sat.python import cp_model

from calbench.domain.ids import AgentId, Slot
from calbench.oracle.choices import Choice

SOLVER_SEED = 0
"""Any seed gives the same schedule, because the answer is unique; fixed for equal times."""

LARGEST_OBJECTIVE = 2**45
"""Objectives stay below this, because CP-SAT compares its bounds as doubles (53 bits)."""


def exact_solver() -> cp_model.CpSolver:
    """Return a solver with one worker, a fixed seed and no time limit (section 3) [C].

    Presolve's probing and symmetry detection are off and the linear relaxation is always on:
    two to four times faster on these models, with the same answers.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    # Otherwise the solver would handle Ctrl-C by stopping its search; the command handles it.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.random_seed = SOLVER_SEED
    solver.parameters.linearization_level = 2
    solver.parameters.cp_model_probing_level = 0
    solver.parameters.symmetry_level = 0
    return solver


class ScheduleModel:
    """All schedules of a problem as a constraint model.

    Attributes:
        model: the constraints.
        places: one literal per meeting and slot, meetings in the order of the slot vector.
    """

    def __init__(self, choices: Sequence[Choice]) -> None:
        """Build the constraints.

        Raises:
            ValueError: the costs are too large for exact arithmetic in the solver.
        """
        self._choices = tuple(choices)
        self._greatest_cost = sum(choice.greatest_cost for choice in choices)
        if self._greatest_cost >= LARGEST_OBJECTIVE:
            raise ValueError(f"costs sum to {self._greatest_cost}; solved exactly below 2**45")
        self.model = cp_model.CpModel()
        self.places: list[dict[Slot, cp_model.IntVar]] = [
            {slot: self.model.new_bool_var("") for slot in choice.charges_by_slot}
            for choice in choices
        ]
        for literals in self.places:
            self.model.add_exactly_one(literals.values())
        self._forbid_double_booking()
        self._justify_moves()

    def _forbid_double_booking(self) -> None:
        """No agent has two meetings in a slot; meetings without a common agent may share one."""
        present: dict[tuple[AgentId, Slot], list[cp_model.IntVar]] = {}
        for choice, literals in zip(self._choices, self.places, strict=True):
            for slot, literal in literals.items():
                for agent in choice.participants:
                    present.setdefault((agent, slot), []).append(literal)
        for group in present.values():
            if len(group) > 1:
                self.model.add_at_most_one(group)

    def _justify_moves(self) -> None:
        """A prior meeting moves only if another meeting takes its slot for a participant.

        The other meeting may be a prior one: in this slot it has moved, because no two meetings
        of an agent had the same original slot.
        """
        for choice, literals in zip(self._choices, self.places, strict=True):
            if choice.original is not None:
                takers = [
                    other_literals[choice.original]
                    for other, other_literals in zip(self._choices, self.places, strict=True)
                    if other is not choice
                    and other.shares_agent_with(choice)
                    and choice.original in other_literals
                ]
                self.model.add_at_least_one([*takers, literals[choice.original]])

    @property
    def cost(self) -> cp_model.LinearExpr:
        """Total cost of the schedule, in accounting units."""
        return cp_model.LinearExpr.weighted_sum(
            [literal for literals in self.places for literal in literals.values()],
            [sum(c) for choice in self._choices for c in choice.charges_by_slot.values()],
        )

    def cost_variables(self, num_agents: int) -> list[cp_model.IntVar]:
        """Add one variable per agent that equals what the agent pays."""
        terms: list[list[tuple[cp_model.IntVar, int]]] = [[] for _ in range(num_agents)]
        for choice, literals in zip(self._choices, self.places, strict=True):
            for slot, charges in choice.charges_by_slot.items():
                for agent, charge in zip(choice.participants, charges, strict=True):
                    terms[agent].append((literals[slot], charge))
        variables = []
        for pairs in terms:
            variable = self.model.new_int_var(0, self._greatest_cost, "")
            self.model.add(
                variable
                == cp_model.LinearExpr.weighted_sum([v for v, _ in pairs], [c for _, c in pairs])
            )
            variables.append(variable)
        return variables

    def solve(self, direction: Literal[1, -1]) -> tuple[Slot, ...] | None:
        """Return the lexicographically first slot vector of least (1) or greatest (-1) cost.

        The vector is read as a number in base ``num_slots``, with as many digits at a time as
        fit below :data:`LARGEST_OBJECTIVE`. The first digits are minimised together with the
        cost, which outweighs them, and each further group with all earlier ones fixed. The model
        cannot be used again, because constraints are added to it.

        Returns:
            One slot per meeting, or ``None`` if there is no schedule.
        """
        room = LARGEST_OBJECTIVE // (self._greatest_cost + 1)
        found = self._fix_digits(0, room, direction)
        if found is not None:
            self.fix_cost(self._cost_of(found[0]))
        while found is not None and found[1] < len(self.places):
            found = self._fix_digits(found[1], LARGEST_OBJECTIVE, 0)
        return None if found is None else found[0]

    def fix_cost(self, cost: int) -> None:
        """Allow only schedules of this total cost, in accounting units."""
        self.model.add(self.cost == cost)

    def _fix_digits(
        self, first: int, room: int, cost_factor: int
    ) -> tuple[tuple[Slot, ...], int] | None:
        """Minimise the cost times a factor, then the slots from index ``first`` that fit ``room``.

        Fixes these slots, and returns the whole vector and the index of the first open slot.
        """
        base = 1 + max((slot for literals in self.places for slot in literals), default=0)
        last, weight = first, 1
        while last < len(self.places) and weight * base <= room:
            last, weight = last + 1, weight * base
        digits = self.places[first:last]
        slots = self._minimize(self.cost * (cost_factor * weight) + _number(digits, base))
        if slots is None:
            return None
        for literals, slot in zip(digits, slots[first:last], strict=True):
            self.model.add(literals[slot] == 1)
        return slots, last

    def _minimize(self, objective: cp_model.LinearExpr) -> tuple[Slot, ...] | None:
        """Solve to proven optimality; the solution becomes the hint of the next solve."""
        self.model.minimize(objective)
        solver = exact_solver()
        status = solver.solve(self.model)
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise RuntimeError(f"CP-SAT stopped without a proof: {solver.status_name(status)}")
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        slots = []
        for literals in self.places:
            for slot, literal in literals.items():
                is_chosen = solver.boolean_value(literal)
                self.model.add_hint(literal, is_chosen)
                if is_chosen:
                    slots.append(slot)
        return tuple(slots)

    def _cost_of(self, slots: Sequence[Slot]) -> int:
        return sum(
            sum(choice.charges_by_slot[slot])
            for choice, slot in zip(self._choices, slots, strict=True)
        )


def _number(digits: Sequence[dict[Slot, cp_model.IntVar]], base: int) -> cp_model.LinearExpr:
    """Return the slots as a number whose first digit weighs most."""
    literals: list[cp_model.IntVar] = []
    weights: list[int] = []
    for index, places in enumerate(reversed(digits)):
        literals.extend(places.values())
        weights.extend(slot * base**index for slot in places)
    return cp_model.LinearExpr.weighted_sum(literals, weights)
