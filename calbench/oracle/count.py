"""How hard a scenario is: the share of assignments that its calendars admit (section 3).

The paper counts assignments with a solver that enumerates them. A dynamic programme over slots
gives the same number. Its state is the set of placed meetings: a slot takes one meeting or none,
so the number of ways to place a set up to slot s is the number up to the slot before, plus, for
each meeting of the set that is allowed at s, the number of ways to place the others before s.

The number of states doubles with each meeting. A scenario that is too large for that gets an
estimate beside the absent number, if a seed for sampling is given.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from calbench.oracle.estimate import Estimate, estimate_fraction
from calbench.oracle.problem import Problem

MOST_COUNTED_MEETINGS = 14
"""The number of states doubles with each meeting; larger scenarios are not counted [C]."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Feasible share of a scenario; lower is harder. ``reason`` says why a number is absent.

    ``estimate`` stands in for an absent fraction and is never taken for an exact one.
    """

    feasible_count: int | None
    feasible_fraction: float | None
    reason: str | None
    estimate: Estimate | None = None


def difficulty(problem: Problem, seed: int | None = None) -> Difficulty:
    """Return the feasible count over S!/(S-M)!, the number of injective assignments [P].

    Args:
        problem: of any size.
        seed: the scenario's, for an estimate where more than 14 meetings are not counted;
            ``None``: without one.
    """
    num_meetings = len(problem.meetings)
    assignments = math.perm(problem.num_slots, num_meetings)
    if num_meetings > MOST_COUNTED_MEETINGS and assignments and _has_assignment(problem):
        return _uncounted(problem, seed)
    count = 0 if num_meetings > MOST_COUNTED_MEETINGS else count_feasible(problem)
    if assignments == 0:
        return Difficulty(
            count, None, f"{num_meetings} meetings do not fit {problem.num_slots} slots"
        )
    # Fraction divides exactly before it rounds, even if both numbers exceed a double.
    return Difficulty(count, float(Fraction(count, assignments)), None)


def _uncounted(problem: Problem, seed: int | None) -> Difficulty:
    """Return why there is no fraction, and an estimate of it if that is wanted and possible."""
    reason = f"{len(problem.meetings)} meetings; counted up to {MOST_COUNTED_MEETINGS}"
    if seed is None:
        return Difficulty(None, None, reason)
    found = estimate_fraction(problem, seed)
    if isinstance(found, Estimate):
        return Difficulty(None, None, reason, found)
    return Difficulty(None, None, f"{reason}; not estimated: {found.reason}")


def _has_assignment(problem: Problem) -> bool:
    """Whether the meetings can have distinct allowed slots: a matching that covers them all."""
    # Importing scipy takes a fifth of a second, and most scenarios are counted.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    is_allowed = np.zeros((len(problem.meetings), problem.num_slots), dtype=bool)
    for index, (_, participants) in enumerate(problem.meetings):
        is_allowed[index, list(problem.unheld_slots(participants))] = True
    matched = maximum_bipartite_matching(csr_array(is_allowed), perm_type="column")
    return bool((matched >= 0).all())


def count_feasible(problem: Problem) -> int:
    """Count the assignments of distinct slots to all incoming meetings, exactly.

    Slots are distinct over all meetings, even those without a common participant [P]. A slot
    is allowed if no participant has it blocked or holds a prior meeting in it (prior meetings
    count as fixed here [C]); errands never forbid a slot.

    Raises:
        ValueError: more than 14 meetings.
    """
    num_meetings = len(problem.meetings)
    if num_meetings > MOST_COUNTED_MEETINGS:
        raise ValueError(f"{num_meetings} meetings; counted up to {MOST_COUNTED_MEETINGS}")
    meetings_by_slot: list[list[int]] = [[] for _ in range(problem.num_slots)]
    for index, (_, participants) in enumerate(problem.meetings):
        for slot in problem.unheld_slots(participants):
            meetings_by_slot[slot].append(index)
    return _count_matchings(meetings_by_slot, num_meetings)


def _count_matchings(meetings_by_slot: Sequence[Sequence[int]], num_meetings: int) -> int:
    """Count the ways to give each meeting a different slot.

    Args:
        meetings_by_slot: indices of the meetings allowed at each slot.
        num_meetings: number of meetings, M; the state array has 2**M entries.
    """
    ways: npt.NDArray[Any] = np.zeros(2**num_meetings, dtype=np.int64)
    ways[0] = 1
    slots_so_far = [0] * num_meetings
    for meetings in meetings_by_slot:
        for meeting in meetings:
            slots_so_far[meeting] += 1
        # An upper bound: each meeting is in one of its slots so far, or not placed.
        if ways.dtype != object and math.prod(n + 1 for n in slots_so_far) >= 2**63:
            ways = ways.astype(object)
        before = ways.copy()
        for meeting in meetings:
            shape = (-1, 2, 2**meeting)  # the middle axis is the meeting's bit of the set
            ways.reshape(shape)[:, 1] += before.reshape(shape)[:, 0]
    return int(ways[-1])
