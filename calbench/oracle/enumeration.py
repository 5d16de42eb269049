"""Cost vectors of many schedules, enumerated by CP-SAT."""

from collections.abc import Sequence

from ortools.sat.python import cp_model

from calbench.oracle.choices import Choice
from calbench.oracle.model import ScheduleModel, exact_solver


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
