"""The CP-SAT model of a schedule: all schedules of a cost, and the first of the extreme ones.

The lexicographically first of the cheapest, or dearest, schedules is found in steps. First the
least cost is proven. Then the slots are minimised in the order of the meetings, among the schedules
of that cost. A slot whose regret, what it costs above its meeting's cheapest one, exceeds the
regret of the whole schedule is in none of these, because no other meeting has less than none; few
slots are left over. The rest is a number whose digits are the ranks of the slots, read with as many
digits at a time as an objective holds; each further group of digits is minimised with the earlier
ones fixed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from calbench.domain.ids import AgentId, Slot
from calbench.oracle.choices import LARGEST_OBJECTIVE, Choice, Direction, affordable, greatest_total

SOLVER_SEED = 0
"""Any seed gives the same schedule, because the answer is unique; fixed for equal times."""


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


class NoScheduleError(Exception):
    """No schedule fits the constraints."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """What the solver found.

    Attributes:
        slots: one per meeting; ``None`` if it was stopped before it found any.
        bound: no schedule's objective is less; if it is that of ``slots``, they are proven.
        is_proven: whether ``slots`` minimise the objective.
        effort: deterministic seconds that it took.
    """

    slots: tuple[Slot, ...] | None
    bound: int
    is_proven: bool
    effort: float


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
        self._greatest_cost = greatest_total(choices)
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
        for choice in self._choices:
            if choice.original is not None:
                takers = [
                    other_literals[choice.original]
                    for other, other_literals in zip(self._choices, self.places, strict=True)
                    if other.shares_agent_with(choice)  # the meeting itself among them: it stays
                    and choice.original in other_literals
                ]
                self.model.add_at_least_one(takers)

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

    def fix_cost(self, cost: int) -> None:
        """Allow only schedules of this total cost, in accounting units."""
        self.model.add(self.cost == cost)

    def minimized(
        self,
        objective: cp_model.LinearExpr,
        hint: Sequence[Slot] | None = None,
        effort: float | None = None,
    ) -> Minimum:
        """Return slots of least objective, proven unless the solver was stopped.

        Args:
            objective: of the places.
            hint: slots from which the search starts.
            effort: stop after so many deterministic seconds, which count the solver's steps and
                are the same on a busy machine; ``None``: only with a proof.

        Raises:
            NoScheduleError: there is no schedule.
        """
        self.model.minimize(objective)
        for literals, slot in zip(self.places, () if hint is None else hint, strict=False):
            self.model.add_hint(literals[slot], True)
        solver = exact_solver()
        if effort is not None:
            solver.parameters.max_deterministic_time = effort
        status = solver.solve(self.model)
        if status == cp_model.INFEASIBLE:
            raise NoScheduleError
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            raise RuntimeError(f"CP-SAT refused the model: {solver.status_name(status)}")
        if effort is None and status != cp_model.OPTIMAL:
            raise RuntimeError(f"CP-SAT stopped without a proof: {solver.status_name(status)}")
        slots = None
        if status != cp_model.UNKNOWN:
            slots = tuple(
                next(slot for slot, literal in literals.items() if solver.boolean_value(literal))
                for literals in self.places
            )
        # A bound within rounding of an integer is that integer; objectives are below 2**45.
        bound = math.ceil(solver.best_objective_bound - 1e-6)
        is_proven = status == cp_model.OPTIMAL
        return Minimum(slots, bound, is_proven, solver.response_proto.deterministic_time)


class _VectorCollector(cp_model.CpSolverSolutionCallback):
    """Collects the distinct values of some variables, and stops the search at a bound."""

    def __init__(
        self, variables: Sequence[cp_model.IntVar], most_vectors: int, most_schedules: int
    ) -> None:
        super().__init__()
        self._variables = variables
        self._most_vectors = most_vectors
        self._schedules_left = most_schedules
        self.vectors: set[tuple[int, ...]] = set()

    def on_solution_callback(self) -> None:
        """Called by the solver once per schedule."""
        self.vectors.add(tuple(self.value(variable) for variable in self._variables))
        self._schedules_left -= 1
        if len(self.vectors) > self._most_vectors or self._schedules_left == 0:
            self.stop_search()


def enumerate_cost_vectors(
    choices: Sequence[Choice],
    num_agents: int,
    *,
    cost: int,
    seed: int,
    most_vectors: int,
    most_schedules: int,
) -> tuple[list[tuple[int, ...]], bool]:
    """Return distinct per-agent cost vectors of the schedules that cost ``cost`` in total.

    The search is random and seeded: if it stops early, it has seen different kinds of schedules.

    Returns:
        The vectors, sorted (at most ``most_vectors`` + 1), and whether these are all: false if
        the search stopped at the bound on vectors or on schedules.
    """
    schedules = ScheduleModel(choices)
    schedules.fix_cost(cost)
    collector = _VectorCollector(schedules.cost_variables(num_agents), most_vectors, most_schedules)
    solver = exact_solver()
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.randomize_search = True
    solver.parameters.enumerate_all_solutions = True
    status = solver.solve(schedules.model, collector)
    is_complete = status == cp_model.OPTIMAL and len(collector.vectors) <= most_vectors
    return sorted(collector.vectors), is_complete


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
    still_open = affordable(choices, bound, direction)
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
    chosen = list(zip(choices, slots, strict=False))
    taken = {(agent, slot) for choice, slot in chosen for agent in choice.participants}
    rest = [
        choice.restricted(
            slot
            for slot in choice.charges_by_slot
            if taken.isdisjoint((agent, slot) for agent in choice.participants)
        )
        for choice in choices[len(slots) :]
    ]
    return [*(choice.restricted([slot]) for choice, slot in chosen), *rest]
