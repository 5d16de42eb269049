"""How hard a scenario is: the share of assignments that its calendars admit (section 3).

The paper counts assignments with a solver that enumerates them. A dynamic programme over slots
gives the same number. Its state is the set of placed meetings: a slot takes one meeting or none,
so the number of ways to place a set up to slot s is the number up to the slot before, plus, for
each meeting of the set that is allowed at s, the number of ways to place the others before s.

The number of states doubles with each meeting. A scenario that is too large for that gets an
estimate beside the absent number, if a seed for sampling is given: sequential importance sampling
of a permanent (Rasmussen, 1994; Chen, Diaconis, Holmes and Liu, 2005). Meetings take slots one
after the other, those with the fewest allowed slots first. A draw weighs one over the probability
with which it was made, or nothing if a meeting found no slot left, so its expectation is the number
of feasible assignments, however slots are preferred. A slot is preferred by the chance that no
later meeting takes it, if each took one of its slots at random. This makes the weights nearly
equal: in most scenarios 1,000 draws give two or three digits. Every operation is exact or rounded
once, in a fixed order: the same bytes on every processor.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from calbench.domain.ids import Slot
from calbench.domain.randomness import derived_seed
from calbench.oracle.problem import Problem

MOST_COUNTED_MEETINGS = 14
"""The number of states doubles with each meeting; larger scenarios are not counted [C]."""

BATCH = 1_000
"""Assignments that are sampled at once; bounds the memory [C]."""

BATCHES = (1, 20)
"""Batches of an estimate; the second number if the first is not enough [C]."""

WIDTH = 2.6
"""Standard errors on each side of the estimate [C].

A normal distribution would need 1.96 for 95%. Weights are skewed, and where they differ much, a
sample's spread is often too small.
"""

LEAST_EFFECTIVE_DRAWS = 100
"""If as few equal weights would hold as much information, no estimate is made [C].

The effective number is (sum of weights)**2 / sum of squared weights (Kish, 1965).
"""

LEAST_COMPLETE = 0.5
"""If a smaller share of the draws finds slots for all meetings, no estimate is made [C].

Where most ways end early, those that do not can differ so much that no sample shows it.
"""

LEAST_EXPONENT = -1_000
"""Of two: fractions below a double's range are not estimated."""

PREFERENCE_BITS = 16
"""Preferences are whole numbers up to two to this power, so that their sums are exact."""

MOST_LIKELY = 0.9
"""Greatest chance with which one later meeting is taken to need a slot [C]."""

_Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A feasible fraction with an interval that holds it with a chance of at least 95%.

    The chance is measured on scenarios as they are drawn. Calendars made to mislead the sampling
    can do so.

    Attributes:
        fraction: unbiased, except that a first batch whose weights differ much is drawn anew.
        low: lower end of the interval.
        high: upper end, at most 1.
        draws: sampled assignments.
    """

    fraction: float
    low: float
    high: float
    draws: int


@dataclass(frozen=True, slots=True)
class Unestimated:
    """No estimate can be relied upon, and why."""

    reason: str


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


def estimate_fraction(problem: Problem, seed: int) -> Estimate | Unestimated:
    """Estimate the share of injective assignments that satisfy the calendars.

    Args:
        problem: at most as many meetings as slots, each with a slot that is allowed.
        seed: the scenario's.
    """
    allowed = [problem.unheld_slots(participants) for _, participants in problem.meetings]
    found: Estimate | Unestimated = Unestimated("no assignment was sampled")
    for num_batches in BATCHES:
        drawn = [
            _weights(allowed, problem.num_slots, derived_seed(seed, "fraction", num_batches, batch))
            for batch in range(num_batches)
        ]
        found = _estimate(
            np.concatenate([mantissas for mantissas, _ in drawn]),
            np.concatenate([exponents for _, exponents in drawn]),
        )
        if isinstance(found, Estimate):
            break
    return found


def _estimate(mantissas: _Array, exponents: _Array) -> Estimate | Unestimated:
    """Return the mean of the weights, which are ``mantissas * 2**exponents``."""
    draws = len(mantissas)
    num_complete = int(np.count_nonzero(mantissas))
    if num_complete < LEAST_COMPLETE * draws:
        return Unestimated(f"{num_complete} of {draws} sampled assignments are complete")
    most = int(exponents[mantissas > 0].max())
    # Relative to the greatest weight; what is too small for a double becomes 0.
    weights = np.ldexp(mantissas, np.maximum(exponents - most, -2_000)).tolist()
    total = math.fsum(weights)
    effective = total * total / math.fsum(weight * weight for weight in weights)
    if effective < LEAST_EFFECTIVE_DRAWS:
        return Unestimated(
            f"the weights of {draws} sampled assignments are worth {effective:.0f} equal ones"
        )
    if most < LEAST_EXPONENT:
        return Unestimated(f"the feasible fraction is below 2**{LEAST_EXPONENT}")
    fraction = math.ldexp(total / draws, most)
    error = math.sqrt(max(0.0, draws / effective - 1) / (draws - 1))  # relative
    factor = 1 + WIDTH * error
    return Estimate(fraction, fraction / factor, min(1.0, fraction * factor), draws)


def _weights(allowed: Sequence[Sequence[Slot]], num_slots: int, seed: int) -> tuple[_Array, _Array]:
    """Sample a batch; return the weights over S!/(S - M)!, as mantissas and exponents of two."""
    ordered = sorted(allowed, key=len)
    bits = np.random.PCG64(seed)
    is_free = np.ones((BATCH, num_slots), dtype=bool)
    rows = np.arange(BATCH)
    mantissas, exponents = np.ones(BATCH), np.zeros(BATCH, dtype=np.int64)
    for place, (slots, own) in enumerate(_preferences(ordered, num_slots)):
        ends = np.cumsum(is_free[:, slots] * own, axis=1, dtype=np.uint64)
        totals = ends[:, -1]
        # Up to 2**12 slots preferred by up to 2**16: the product stays below 2**64.
        target = ((bits.random_raw(BATCH) >> np.uint64(28)) * totals) >> np.uint64(36)
        taken = np.argmax(ends > target[:, None], axis=1)
        is_free[rows, slots[taken]] = False
        chances = own[taken] * np.float64(num_slots - place)
        mantissas, shifts = np.frexp(mantissas * (totals / chances))
        exponents += shifts
    return mantissas, exponents


def _preferences(
    allowed: Sequence[Sequence[Slot]], num_slots: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]]:
    """Return each meeting's slots, and by how much it prefers them, at least 1."""
    is_allowed = np.zeros((len(allowed), num_slots), dtype=bool)
    for place, slots in enumerate(allowed):
        is_allowed[place, slots] = True
    sizes = is_allowed.sum(axis=1)
    result = []
    for place, own in enumerate(is_allowed):
        later = is_allowed[place + 1 :]
        # Of each later meeting's slots, as many are left as of all slots.
        num_left = sizes[place + 1 :] * (1 - place / num_slots)
        kept = 1 - 1 / np.maximum(num_left, 1 / MOST_LIKELY)
        untaken = np.where(later, kept[:, None], 1.0).prod(axis=0)[own]
        scaled = np.rint(untaken / untaken.max() * 2**PREFERENCE_BITS)
        result.append((np.flatnonzero(own), np.maximum(scaled, 1).astype(np.uint64)))
    return result
