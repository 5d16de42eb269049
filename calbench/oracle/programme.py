"""A dynamic programme over slots: the least cost of placing meetings, and the cost vectors of it.

Its state is the set of meetings placed in the slots so far. A slot takes any set of meetings
without a common participant. A prior meeting needs a reason to move, which shows in its original
slot: that slot holds the meeting itself or another meeting of one of its participants.

The states double with each meeting, and the sets grow with the agents, so the work is counted
before it is done: a problem beyond :data:`MOST_STEPS` or :data:`MOST_SUMS` is refused. Counts, not
seconds, because the same problem must be refused everywhere.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.domain.ids import Slot
from calbench.domain.randomness import stream
from calbench.oracle.choices import Choice, affordable

MOST_EXACT_MEETINGS = 14
"""The states double with each meeting, incoming or prior [C]."""

MOST_STEPS = 2**25
"""Most states that all sets of meetings in all slots may be added to [C]: a tenth of a second."""

STEPS_OF_GROUP = 2**12
"""What a set of meetings counts beside its states [C]: about the time to make it."""

MOST_SUMS = 2**21
"""Most sums of two cost vectors [C]: half a second."""

UNREACHABLE = 2**60
"""Above every cost (the solver allows costs below 2**45); another cost can be added to it."""

Costs = npt.NDArray[np.int64]


class TooMuchWorkError(Exception):
    """The programme would take more steps or sums than it may."""


class _Group(NamedTuple):
    """Meetings that share one slot, as a set of bits.

    ``vector`` packs what each agent pays into one integer: vectors are added in one operation.
    """

    members: int
    cost: int
    vector: int


def least_cost(choices: Sequence[Choice], num_slots: int, at_most: int | None = None) -> int | None:
    """Return the least total cost of placing these meetings; ``None`` if that is impossible.

    Args:
        choices: where each meeting may be.
        num_slots: of a calendar.
        at_most: what a known placement costs; saves the search for dearer ones.

    Raises:
        ValueError: more than 14 meetings.
        TooMuchWorkError: there are too many sets of meetings that may share a slot.
    """
    if len(choices) > MOST_EXACT_MEETINGS:
        raise ValueError(f"{len(choices)} meetings; solved exactly up to {MOST_EXACT_MEETINGS}")
    # The vectors of groups are only needed for cost vectors.
    kept = choices if at_most is None else affordable(choices, at_most)
    groups_by_slot = _groups_by_slot(kept, num_slots, 1)
    least = int(_least_costs(groups_by_slot, len(choices))[0][0])
    return None if least >= UNREACHABLE else least


def least_cost_vectors(
    choices: Sequence[Choice],
    num_agents: int,
    num_slots: int,
    *,
    optimum: int | None,
    seed: int,
    limit: int,
) -> tuple[list[tuple[int, ...]], bool] | None:
    """Find what each agent pays in the placements of least cost.

    Least costs are found backwards, vectors forwards. The forward pass visits only states from
    which the least cost is reached, so each vector of a state leads to a different one of the
    result: more vectors than the limit in one state prove that the result has more.

    Args:
        choices: where each meeting may be; at most 14.
        num_agents: length of a vector.
        num_slots: of a calendar.
        optimum: the least cost, if it is known; saves work and changes no result.
        seed: of the sample.
        limit: of more vectors than this, a sample of this many is kept.

    Returns:
        The distinct vectors, sorted, and whether they are a sample; ``None`` if the meetings
        cannot all be placed.

    Raises:
        TooMuchWorkError: the sets of meetings that may share a slot, or the vectors, are too many.
    """
    choices = choices if optimum is None else affordable(choices, optimum)
    width = sum(choice.greatest_cost for choice in choices).bit_length()
    groups_by_slot = _groups_by_slot(choices, num_slots, width)
    least = _least_costs(groups_by_slot, len(choices))
    if least[0][0] >= UNREACHABLE:
        return None
    vectors_by_state: dict[int, set[int]] = {0: {0}}
    is_sample, sums = False, 0
    for slot, (groups, ends) in enumerate(zip(groups_by_slot, pairwise(least), strict=True)):
        if _stays_empty(groups):
            continue
        vectors_by_state, added = _advance(vectors_by_state, groups, *ends, MOST_SUMS - sums)
        sums += added
        for state, vectors in vectors_by_state.items():
            if len(vectors) > limit:
                is_sample = True
                chance = stream(seed, "cost-vectors", slot, state)
                vectors_by_state[state] = set(chance.sample(sorted(vectors), limit))
    (packed,) = vectors_by_state.values()
    return sorted(_unpacked(vector, width, num_agents) for vector in packed), is_sample


def _unpacked(vector: int, width: int, length: int) -> tuple[int, ...]:
    """Return the numbers of a vector that is one number, of this many bits each."""
    mask = (1 << width) - 1
    return tuple([vector >> at * width & mask for at in range(length)])


def _groups_by_slot(
    choices: Sequence[Choice], num_slots: int, width: int
) -> list[Sequence[_Group]]:
    """Return the sets of meetings that may share each slot."""
    agents = [frozenset(choice.participants) for choice in choices]
    conflicts = [
        sum(1 << j for j, others in enumerate(agents) if not own.isdisjoint(others))
        for own in agents
    ]
    most = MOST_STEPS // (2 ** len(choices) + STEPS_OF_GROUP)
    found: list[Sequence[_Group]] = []
    for slot in range(num_slots):
        found.append(list(_groups_at(Slot(slot), choices, conflicts, width)))
        most -= len(found[-1]) - 1
        if most < 0:
            raise TooMuchWorkError
    return found


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


def _stays_empty(groups: Sequence[_Group]) -> bool:
    """Whether no meeting can be in a slot with these groups."""
    return len(groups) == 1 and not groups[0].members


def _least_costs(groups_by_slot: Sequence[Sequence[_Group]], num_meetings: int) -> list[Costs]:
    """Return ``[slot][state]``: least cost of placing, from this slot, what is not in state.

    Costs are kept in an array with an axis of two places for each meeting, not placed and placed,
    the last meeting first: a set of meetings is added to all states at once.
    """
    shape = (2,) * num_meetings
    costs = np.full(shape, UNREACHABLE, dtype=np.int64)
    costs.reshape(-1)[-1] = 0
    result = [costs]
    views: dict[int, tuple[Any, Any]] = {}
    for groups in reversed(groups_by_slot):
        after = result[-1]
        if _stays_empty(groups):
            result.append(after)
            continue
        costs = np.full(shape, UNREACHABLE, dtype=np.int64)
        for group in groups:
            if group.members not in views:
                views[group.members] = _views(group.members, num_meetings)
            without, with_them = views[group.members]
            apart = costs[without]
            np.minimum(apart, after[with_them] + group.cost, out=apart)
        result.append(costs)
    return [costs.reshape(-1) for costs in reversed(result)]


def _views(members: int, num_meetings: int) -> tuple[Any, Any]:
    """Return indices of all states without some meetings, and of the same states with them."""
    bits = [members >> index & 1 for index in reversed(range(num_meetings))]
    # With an ellipsis, because an array without an axis left would be a number and no view.
    without = (*(0 if bit else slice(None) for bit in bits), ...)
    return without, (*(1 if bit else slice(None) for bit in bits), ...)


def _advance(
    vectors_by_state: dict[int, set[int]],
    groups: Sequence[_Group],
    least_before: Costs,
    least_after: Costs,
    most_sums: int,
) -> tuple[dict[int, set[int]], int]:
    """Fill one slot in every way that still leads to the optimum; count the sums of vectors."""
    states = np.fromiter(vectors_by_state, dtype=np.int64)
    advanced: dict[int, set[int]] = {}
    sums = 0
    for group in groups:
        apart = states[(states & group.members) == 0]
        optimal = apart[least_after[apart | group.members] + group.cost == least_before[apart]]
        for state in optimal.tolist():
            vectors = vectors_by_state[state]
            sums += len(vectors)
            if sums > most_sums:
                raise TooMuchWorkError
            target = advanced.setdefault(state | group.members, set())
            target.update([vector + group.vector for vector in vectors])
    return advanced, sums
