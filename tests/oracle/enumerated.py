"""The definition of the feasible count, with which the fast one is compared (section 3)."""

from ortools.sat.python import cp_model

from calbench.oracle.problem import Problem


class _Counter(cp_model.CpSolverSolutionCallback):
    """Counts solutions."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def on_solution_callback(self) -> None:
        """Called by the solver once per solution."""
        self.count += 1


def enumerate_feasible(problem: Problem) -> int:
    """Count feasible assignments by having CP-SAT enumerate them (about 20 µs each) [P].

    The same number as :func:`calbench.oracle.count.count_feasible`, for any number of
    meetings, in time proportional to the answer.
    """
    if not problem.meetings:
        return 1
    model = cp_model.CpModel()
    slots = [
        model.new_int_var_from_domain(
            cp_model.Domain.from_values(list(problem.unheld_slots(participants))), ""
        )
        for _, participants in problem.meetings
    ]
    model.add_all_different(slots)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    solver.parameters.enumerate_all_solutions = True
    counter = _Counter()
    solver.solve(model, counter)
    return counter.count
