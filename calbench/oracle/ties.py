"""How optimal schedules split their cost over agents.

Fairness depends on which of several optimal schedules is the reference, so its range over all of
their cost vectors is reported as a sensitivity analysis (section 3.1; the analysis is ours [C]).

Up to 14 meetings, a dynamic programme over slots finds the vectors. Its state is the set of
meetings placed in the slots so far. A slot takes any set of meetings without a common
participant. A prior meeting needs a reason to move, which shows in its original slot: that slot
holds the meeting itself or another meeting of one of its participants. Beyond 14 meetings the
solver enumerates schedules.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calbench.domain.ids import Slot
from calbench.domain.randomness import derived_seed, stream
from calbench.oracle.choices import Choice, choices_of
from calbench.oracle.problem import Problem
from calbench.oracle.solve import NO_SCHEDULE, Infeasible, Optimal, shortage, solve_best

DEFAULT_LIMIT = 1000
"""More distinct vectors than this are sampled [C]."""

MOST_EXACT_MEETINGS = 14
"""The states double with each meeting, incoming or prior; above this the solver is used [C]."""

MOST_ENUMERATED_SCHEDULES = 20_000
"""The solver stops after this many schedules, because very many can share few vectors [C]."""

UNREACHABLE = 2**60
"""Above every cost (the solver allows costs below 2**45); another cost can be added to it."""


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
    problem: Problem, seed: int, limit: int = DEFAULT_LIMIT
) -> CostVectors | Infeasible:
    """Return the distinct cost vectors of all optimal schedules.

    Args:
        problem: the problem, complete or restricted to the meetings that were scheduled.
        seed: the scenario's seed; used only for a sample.
        limit: of more vectors than this, ``limit`` are returned, marked as a sample.
    """
    short = shortage(problem)
    if short is not None:
        return short
    needed = _without_effortless_meetings(problem)
    choices = choices_of(needed)
    if len(choices) <= MOST_EXACT_MEETINGS:
        return _programmed_vectors(choices, problem, seed, limit)
    return _enumerated_vectors(choices, needed, seed, limit)


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
    kept = list(choices_of(problem))
    while True:
        effortful = [
            choice
            for choice in kept
            if sum(not any(charges) for charges in choice.charges_by_slot.values())
            <= sum(choice.shares_agent_with(other) for other in kept) - 1  # not itself
        ]
        if len(effortful) == len(kept):
            return problem.restricted(choice.meeting_id for choice in kept)
        kept = effortful


@dataclass(frozen=True, slots=True)
class _Group:
    """Meetings that share one slot, as a set of bits.

    ``vector`` packs what each agent pays into one integer: vectors are added in one operation.
    """

    members: int
    cost: int
    vector: int


def _programmed_vectors(
    choices: Sequence[Choice], problem: Problem, seed: int, limit: int
) -> CostVectors | Infeasible:
    """Find the vectors by dynamic programming: least costs backwards, vectors forwards.

    The forward pass visits only states from which the optimum is reached, so each vector of a
    state leads to a different one of the result: more vectors than the limit in one state prove
    that the result has more.
    """
    width = sum(choice.greatest_cost for choice in choices).bit_length()
    groups_by_slot = _groups_by_slot(choices, problem.num_slots, width)
    least = _least_costs(groups_by_slot, len(choices))
    if least[0][0] >= UNREACHABLE:
        return NO_SCHEDULE
    vectors_by_state: dict[int, set[int]] = {0: {0}}
    is_sample = False
    for slot, groups in enumerate(groups_by_slot):
        vectors_by_state = _advance(vectors_by_state, groups, least[slot], least[slot + 1])
        for state, vectors in vectors_by_state.items():
            if len(vectors) > limit:
                is_sample = True
                chance = stream(seed, "cost-vectors", slot, state)
                vectors_by_state[state] = set(chance.sample(sorted(vectors), limit))
    (packed,) = vectors_by_state.values()
    mask = (1 << width) - 1
    return CostVectors(
        tuple(
            sorted(
                tuple((vector >> (agent * width)) & mask for agent in range(problem.num_agents))
                for vector in packed
            )
        ),
        is_sample,
    )


def least_cost(choices: Sequence[Choice], num_slots: int) -> int | None:
    """Return the least total cost of placing these meetings; ``None`` if that is impossible.

    Raises:
        ValueError: more than 14 meetings.
    """
    if len(choices) > MOST_EXACT_MEETINGS:
        raise ValueError(f"{len(choices)} meetings; solved exactly up to {MOST_EXACT_MEETINGS}")
    # The vectors of groups are only needed in the programme's second half, unused here.
    groups_by_slot = _groups_by_slot(choices, num_slots, 1)
    least = int(_least_costs(groups_by_slot, len(choices))[0][0])
    return None if least >= UNREACHABLE else least


def _groups_by_slot(
    choices: Sequence[Choice], num_slots: int, width: int
) -> list[Sequence[_Group]]:
    """Return the sets of meetings that may share each slot."""
    agents = [frozenset(choice.participants) for choice in choices]
    conflicts = [
        sum(1 << j for j, others in enumerate(agents) if not own.isdisjoint(others))
        for own in agents
    ]
    return [list(_groups_at(Slot(slot), choices, conflicts, width)) for slot in range(num_slots)]


def _groups_at(
    slot: Slot, choices: Sequence[Choice], conflicts: Sequence[int], width: int
) -> Iterator[_Group]:
    """Yield every set of meetings that may share the slot, including the empty one.

    If this is the original slot of a prior meeting, the set holds that meeting or one that shares
    an agent with it.
    """
    groups = [_Group(0, 0, 0)]
    for index, choice in enumerate(choices):
        charges = choice.charges_by_slot.get(slot)
        if charges is not None:
            paid = zip(choice.participants, charges, strict=True)
            vector = sum(charge << (agent * width) for agent, charge in paid)
            groups += [
                _Group(group.members | 1 << index, group.cost + sum(charges), group.vector + vector)
                for group in groups
                if not group.members & conflicts[index]
            ]
    # A meeting's conflicts include itself, so this means: it is here or made way.
    prior = [conflicts[index] for index, choice in enumerate(choices) if choice.original == slot]
    return (group for group in groups if all(group.members & mask for mask in prior))


def _least_costs(
    groups_by_slot: Sequence[Sequence[_Group]], num_meetings: int
) -> list[npt.NDArray[np.int64]]:
    """Return ``[slot][state]``: least cost of placing, from this slot, what is not in state."""
    states = np.arange(2**num_meetings)
    costs = np.full(2**num_meetings, UNREACHABLE, dtype=np.int64)
    costs[-1] = 0
    result = [costs]
    for groups in reversed(groups_by_slot):
        after, costs = costs, np.full(2**num_meetings, UNREACHABLE, dtype=np.int64)
        for group in groups:
            apart = states[(states & group.members) == 0]
            costs[apart] = np.minimum(costs[apart], after[apart | group.members] + group.cost)
        result.append(np.minimum(costs, UNREACHABLE))
        costs = result[-1]
    return result[::-1]


def _advance(
    vectors_by_state: dict[int, set[int]],
    groups: Sequence[_Group],
    least_before: npt.NDArray[np.int64],
    least_after: npt.NDArray[np.int64],
) -> dict[int, set[int]]:
    """Fill one slot in every way that still leads to the optimum."""
    states = np.fromiter(vectors_by_state, dtype=np.int64)
    advanced: dict[int, set[int]] = {}
    for group in groups:
        apart = states[(states & group.members) == 0]
        optimal = apart[least_after[apart | group.members] + group.cost == least_before[apart]]
        for state in optimal.tolist():
            target = advanced.setdefault(state | group.members, set())
            target.update([vector + group.vector for vector in vectors_by_state[state]])
    return advanced


def _enumerated_vectors(
    choices: Sequence[Choice], problem: Problem, seed: int, limit: int
) -> CostVectors | Infeasible:
    """Find the vectors by letting CP-SAT enumerate the schedules of optimal cost."""
    best = solve_best(problem)
    if not isinstance(best, Optimal):
        return best
    # Importing the solver takes half a second, and most problems do not need it.
    from calbench.oracle.enumeration import enumerate_cost_vectors

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
