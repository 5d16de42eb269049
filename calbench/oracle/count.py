"""How hard a scenario is: the share of assignments that its calendars admit (section 3).

The paper counts assignments with a solver that enumerates them. A dynamic programme over slots
gives the same number. Its state is the set of placed meetings: a slot takes one meeting or none,
so the number of ways to place a set up to slot s is the number up to the slot before, plus, for
each meeting of the set that is allowed at s, the number of ways to place the others before s.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from calbench.oracle.problem import Problem

MOST_COUNTED_MEETINGS = 14
"""The number of states doubles with each meeting; larger scenarios are not counted [C]."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Feasible share of a scenario; lower is harder. ``reason`` says why a number is absent."""

    feasible_count: int | None
    feasible_fraction: float | None
    reason: str | None


def difficulty(problem: Problem) -> Difficulty:
    """Return the feasible count over S!/(S-M)!, the number of injective assignments [P]."""
    num_meetings = len(problem.meetings)
    if num_meetings > MOST_COUNTED_MEETINGS:
        return Difficulty(
            None, None, f"{num_meetings} meetings; counted up to {MOST_COUNTED_MEETINGS}"
        )
    count = count_feasible(problem)
    assignments = math.perm(problem.num_slots, num_meetings)
    if assignments == 0:
        return Difficulty(
            count, None, f"{num_meetings} meetings do not fit {problem.num_slots} slots"
        )
    # Fraction divides exactly before it rounds, even if both numbers exceed a double.
    return Difficulty(count, float(Fraction(count, assignments)), None)


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
