"""Paired differences of means over the units that count for both: how large, equal or not, power.

That no difference was found does not show that there is none. Equality within a margin is shown if
both "the difference is at least the margin" and "it is at most minus the margin" are rejected
(Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach",
J. Pharmacokinetics and Biopharmaceutics 15). Both are paired t-tests over the units that count for
both samples, and are made where there would be a t interval: elsewhere the spread of a sample says
too little.

Schuirmann's p-value is that of an interval with twice the test's tail within the margin. Skewed
differences reject more often than such tests allow, so we take the tails of the intervals that we
show: equality is shown at 1 - confidence where the interval lies within the margin [C].

Minimum detectable difference and required sample size follow from the standard deviation of the
paired differences, taken as normal, for a two-sided paired t-test: its power comes from the
noncentral t distribution [C].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, isnan, sqrt
from typing import NamedTuple

import numpy as np

from calbench.stats.intervals import (
    FEWEST_UNITS,
    MOST_ALIKE,
    SAME_DIGITS,
    Bounds,
    Ends,
    Kinds,
    Sample,
    difference_of,
    ends_of,
    most_common,
    spread_of,
    t_quantile,
)
from calbench.stats.resampling import swap_p_values
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths, rounded_sums


@dataclass(frozen=True, slots=True)
class Differences:
    """The first mean of each pair minus the second, all arrays ``[pair]``.

    Attributes:
        value: the difference; not a number where no unit counts for both.
        low: lower end of the interval; not a number where there is none.
        high: upper end.
        kind: how the interval was made, or why there is none.
        p_value: of the paired permutation test, two-sided unless asked otherwise; not a number
            without a common unit, or where none was asked for.
        num_units: units that count for both.
        spread: standard deviation over units of what each adds to the difference, times their
            number; not a number below two units, 0 where all have one difference.
    """

    value: Floats
    low: Floats
    high: Floats
    kind: Kinds
    p_value: Floats
    num_units: Ints
    spread: Floats


def paired_differences(
    sums: Sums,
    pairs: Sequence[tuple[int, int]],
    spec: AnalysisSpec,
    *,
    bounds: Bounds | None = None,
    exact: Truths | None = None,
    is_tested: Truths | None = None,
    is_less: bool = False,
) -> Differences:
    """Compare means over the same units.

    Args:
        sums: what every unit adds to each mean, ``[unit, column]``.
        pairs: which columns to compare.
        spec: swaps, seed and confidence.
        bounds: least and greatest value of each column, as in ``paired_ends``.
        exact: whether a column is constant by construction; a difference is if both are.
        is_tested: which pairs to test, ``[pair]``; all unless given.
        is_less: whether tests are one-sided: that the first mean is less.
    """
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    first, second = _common(
        *(Sums(sums.totals[:, side], sums.counts[:, side]) for side in (left, right))
    )
    sample = difference_of(first, second)
    p_value = np.full(len(pairs), np.nan)
    known = np.flatnonzero((sample.num_units > 0) & (True if is_tested is None else is_tested))
    if known.size:
        one, other = (
            Sums(each.totals[:, known], each.counts[:, known]) for each in (first, second)
        )
        p_value[known] = swap_p_values(one, other, spec, is_less=is_less)
    ends = ends_of(
        sample,
        spec,
        None if bounds is None else _of_differences(bounds, left, right),
        None if exact is None else exact[left] & exact[right],
    )
    return Differences(sample.value, *ends, p_value, sample.num_units, spread_of(sample))


def paired_ends(
    first: Sums,
    second: Sums,
    spec: AnalysisSpec,
    *,
    bounds: Bounds | None = None,
    exact: Truths | None = None,
) -> Ends:
    """Return the ends of every column's interval: the first mean minus the second.

    Units that count for one side only add to its mean, not to the number of units.

    Args:
        first: what units add to the means of one side.
        second: the same for the other side.
        spec: confidence.
        bounds: least and greatest value that is possible on either side, ``[column]``.
        exact: whether a column is constant by construction on both sides, ``[column]``.
    """
    every = np.arange(first.totals.shape[1])
    differences = None if bounds is None else _of_differences(bounds, every, every)
    return ends_of(difference_of(first, second), spec, differences, exact)


def _common(first: Sums, second: Sums) -> tuple[Sums, Sums]:
    """Return both with nothing from units that do not count for both."""
    is_common = (first.counts > 0) & (second.counts > 0)
    return (
        Sums(first.totals * is_common, first.counts * is_common),
        Sums(second.totals * is_common, second.counts * is_common),
    )


def _of_differences(
    bounds: Bounds, left: Sequence[int] | Ints, right: Sequence[int] | Ints
) -> Bounds:
    """Return the least and greatest difference between values with bounds."""
    return Bounds(
        bounds.least[left] - bounds.greatest[right], bounds.greatest[left] - bounds.least[right]
    )


class Crossings(NamedTuple):
    """Where differences that change with a price are 0, all ``[column]``.

    Attributes:
        price: at which the difference is 0; not a number where it does not depend on a price.
        low: lower end of its interval; not a number where there is none, or one without end.
        high: upper end.
    """

    price: Floats
    low: Floats
    high: Floats


def crossings(free: Sample, priced: Sample, spec: AnalysisSpec) -> Crossings:
    """Return the price at which ``free + price * priced`` is 0, column by column.

    The interval has the prices at which the t interval of this difference holds 0 (Fieller 1954,
    "Some problems in interval estimation", J. Royal Statistical Society B 16); where it would be no
    interval, because ``priced`` may be 0 itself, there is none.

    Args:
        free: differences of means that no price changes, with what each unit adds.
        priced: those that it multiplies, over the same units.
        spec: confidence.
    """
    num_units = free.num_units
    is_zero = np.round(priced.value, SAME_DIGITS) == 0
    slope = np.where(is_zero, np.nan, priced.value)
    price = -free.value / slope
    tail = TAIL_SHARE * (1 - spec.confidence) / 2
    freedom = np.maximum(num_units - 1, 1)
    factor = np.array([t_quantile(int(each), tail) for each in freedom]) ** 2
    factor /= np.maximum(num_units, 1) * freedom
    square = slope**2 - factor * (priced.added**2).sum(axis=0)
    middle = free.value * slope - factor * (free.added * priced.added).sum(axis=0)
    rest = free.value**2 - factor * (free.added**2).sum(axis=0)
    is_alike = most_common(free.own + price * priced.own).units > MOST_ALIKE * num_units
    with np.errstate(invalid="ignore"):
        is_shown = (square > 0) & (num_units >= FEWEST_UNITS) & ~is_alike
    half = np.sqrt(np.maximum(middle**2 - square * rest, 0.0))
    ends = [(sign * half - middle) / np.where(is_shown, square, np.nan) for sign in (-1, 1)]
    return Crossings(price, *ends)


class Equivalence(NamedTuple):
    """What units say about the equality of two means, all ``[column]``.

    Attributes:
        p_value: the least 1 - confidence whose t interval lies within the margin; not a number if
            units are too few or too alike.
        is_identical: no unit differs; false where none counts for both.
    """

    p_value: Floats
    is_identical: Truths


def equivalence(first: Sums, second: Sums, margin: float | Floats) -> Equivalence:
    """Test whether two means are closer than a margin, column by column.

    Args:
        first: what every unit adds to one mean, ``[unit, column]``.
        second: the same for the other; units that count for one alone are left out.
        margin: in the unit of the means, one for all or ``[column]``; above 0.
    """
    from scipy.special import stdtr

    is_common = (first.counts > 0) & (second.counts > 0)
    one, other = (
        Sums(rounded_sums(each.totals) * is_common, each.counts * is_common)
        for each in (first, second)
    )
    sample = difference_of(one, other)
    num_units, spread = sample.num_units, spread_of(sample)
    is_test = (num_units >= FEWEST_UNITS) & (spread > 0)
    is_test &= most_common(sample.own).units <= MOST_ALIKE * num_units
    error = np.where(is_test, spread, 1.0) / np.sqrt(np.maximum(num_units, 1))
    freedom = np.maximum(num_units - 1, 1)
    tails = [stdtr(freedom, (value - margin) / error) for value in (sample.value, -sample.value)]
    p_value = np.minimum(np.maximum(*tails) / (TAIL_SHARE / 2), 1.0)
    is_same = (one.totals == other.totals) & (one.counts == other.counts)
    is_identical = (num_units > 0) & is_same.all(axis=0)
    return Equivalence(np.where(is_test, p_value, np.nan), is_identical)


NORMAL_FROM = 500
"""From this many units on, the normal distribution replaces t: closer than a table's digits [C]."""

MOST_UNITS = 10**9
"""A difference that takes a larger sample is zero but for rounding [C]."""

FEWEST_PAIRED = 3
"""Smaller samples show nothing: with one degree of freedom, t has no mean [C]."""


def minimum_detectable_difference(
    spread: float, num_units: int, spec: AnalysisSpec
) -> float | None:
    """Return the smallest true difference that the test detects with ``spec.power``.

    Args:
        spread: standard deviation of the paired differences over units.
        num_units: size of the sample.
        spec: power, and confidence: one minus the level of the test.

    Returns:
        In the unit of the differences; ``None`` below three units, or if nothing varies.
    """
    if num_units < FEWEST_PAIRED or spread == 0:
        return None
    level = 1 - spec.confidence
    return noncentrality(num_units, level, spec.power) * spread / sqrt(num_units)


def required_units(difference: float, spread: float, spec: AnalysisSpec) -> int | None:
    """Return the smallest sample that detects a difference of this size with ``spec.power``.

    Returns:
        Number of units, at least three; ``None`` for a difference of zero, also one that only
        rounding keeps from it, which no sample detects, or if nothing varies.
    """
    if abs(difference) * MOST_UNITS**0.5 <= spread or spread == 0:
        return None
    level = 1 - spec.confidence
    ratio = (spread / abs(difference)) ** 2
    needed = max(FEWEST_PAIRED, ceil(noncentrality(NORMAL_FROM, level, spec.power) ** 2 * ratio))
    # The t distribution needs a few more than the normal, never fewer.
    while noncentrality(needed, level, spec.power) ** 2 * ratio > needed:
        needed += 1
    return needed


@lru_cache(maxsize=4096)
def noncentrality(num_units: int, level: float, power: float) -> float:
    """Return how many standard errors a true difference must have to be detected.

    Args:
        num_units: at least three.
        level: of the two-sided test.
        power: share of samples in which it is detected.
    """
    from scipy.optimize import brentq
    from scipy.special import nctdtr, ndtri, stdtrit

    if num_units >= NORMAL_FROM:
        return float(ndtri(power) - ndtri(level / 2))
    freedom = num_units - 1
    limit = -stdtrit(freedom, level / 2)

    def excess_power(shift: float) -> float:
        wrong_side = nctdtr(freedom, shift, -limit)  # scipy returns NaN for tiny probabilities
        missed = nctdtr(freedom, shift, limit) - (0.0 if isnan(wrong_side) else wrong_side)
        return float(1 - missed - power)

    return float(brentq(excess_power, 0.0, 10 * limit, xtol=1e-10))
