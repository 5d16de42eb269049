"""How optimal schedules split their cost over agents.

Fairness depends on which of several optimal schedules is the reference, so its range over all of
their cost vectors is reported as a sensitivity analysis (section 3.1; the analysis is ours [C]).

A dynamic programme finds the vectors of up to 14 meetings, within bounds on its work. Beyond them
none are listed, unless a sample is asked for: then the solver enumerates schedules.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from calbench.domain.randomness import derived_seed, stream
from calbench.oracle.choices import Choice, choices_of
from calbench.oracle.problem import Problem
from calbench.oracle.programme import MOST_EXACT_MEETINGS, TooMuchWorkError, least_cost_vectors
from calbench.oracle.solve import NO_SCHEDULE, Infeasible, Optimal, shortage, solve_best

DEFAULT_LIMIT = 1000
"""More distinct vectors than this are sampled [C]."""

MOST_ENUMERATED_SCHEDULES = 20_000
"""The solver stops after this many schedules, because very many can share few vectors [C]."""

Extent = Literal["exact", "sampled"]
"""What is listed beyond the exact method: nothing, or a sample."""


@dataclass(frozen=True, slots=True)
class CostVectors:
    """Distinct per-agent cost vectors of optimal schedules.

    Attributes:
        vectors: sorted; entry ``[v][agent]`` is a cost in accounting units.
        is_sample: whether there are, or may be, other vectors.
    """

    vectors: tuple[tuple[int, ...], ...]
    is_sample: bool


def optimal_cost_vectors(
    problem: Problem,
    seed: int,
    limit: int = DEFAULT_LIMIT,
    extent: Extent = "exact",
    optimum: int | None = None,
) -> CostVectors | Infeasible | None:
    """Return the distinct cost vectors of all optimal schedules.

    Args:
        problem: the problem, complete or restricted to the meetings that were scheduled.
        seed: the scenario's seed; used only for a sample.
        limit: of more vectors than this, ``limit`` are returned, marked as a sample.
        extent: what is returned if the exact method would take more than 14 meetings (without
            those that cost nothing in any optimal schedule), or too many steps.
        optimum: the least cost, if it is known; saves work and changes no result.

    Returns:
        The vectors; ``None`` if they are left out as ``extent`` says.
    """
    short = shortage(problem)
    if short is not None:
        return short
    needed = _without_effortless_meetings(problem)
    choices = choices_of(needed)
    if len(choices) <= MOST_EXACT_MEETINGS:
        with suppress(TooMuchWorkError):
            found = least_cost_vectors(
                choices,
                problem.num_agents,
                problem.num_slots,
                optimum=optimum,
                seed=seed,
                limit=limit,
            )
            return NO_SCHEDULE if found is None else CostVectors(tuple(found[0]), found[1])
    return _enumerated_vectors(choices, needed, seed, limit) if extent == "sampled" else None


def _without_effortless_meetings(problem: Problem) -> Problem:
    """Leave out meetings that cost nothing in every optimal schedule.

    If a meeting has more slots that cost nothing than there are meetings it shares an agent
    with, one of these slots is always unused. So the meeting costs nothing in any optimal
    schedule, and every optimal schedule of the others can be completed with it: the vectors are
    the same. Leaving one out can make another effortless. With prior meetings, which might move
    for it, nothing is left out.
    """
    if problem.prior_meetings:
        return problem
    kept = [
        (choice, sum(not any(charges) for charges in choice.charges_by_slot.values()))
        for choice in choices_of(problem)
    ]
    while True:
        effortful = [
            (choice, num_free)
            for choice, num_free in kept
            if num_free <= sum(choice.shares_agent_with(other) for other, _ in kept) - 1  # itself
        ]
        if len(effortful) == len(kept):
            return problem.restricted(choice.meeting_id for choice, _ in kept)
        kept = effortful


def _enumerated_vectors(
    choices: Sequence[Choice], problem: Problem, seed: int, limit: int
) -> CostVectors | Infeasible:
    """Find the vectors by letting CP-SAT enumerate the schedules of optimal cost."""
    best = solve_best(problem)
    if not isinstance(best, Optimal):
        return best
    # Importing the solver takes half a second, and most problems do not need it.
    from calbench.oracle.model import enumerate_cost_vectors

    found, is_complete = enumerate_cost_vectors(
        choices,
        problem.num_agents,
        cost=best.schedule.cost,
        seed=derived_seed(seed, "cost-vectors"),
        most_vectors=limit,
        most_schedules=MOST_ENUMERATED_SCHEDULES,
    )
    if len(found) > limit:
        found = stream(seed, "cost-vectors").sample(found, limit)
    return CostVectors(tuple(sorted(found)), not is_complete)
