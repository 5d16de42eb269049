"""Minimum detectable difference and required sample size of a paired comparison.

Both follow from the standard deviation of the paired differences, taken as normal, for a two-sided
paired t-test: its power comes from the noncentral t distribution [C].
"""

from functools import lru_cache
from math import ceil, isnan, sqrt

from calbench.stats.spec import AnalysisSpec

NORMAL_FROM = 500
"""From this many units on, the normal distribution replaces t: closer than a table's digits."""

MOST_UNITS = 10**9
"""A difference that takes a larger sample is zero but for rounding [C]."""

FEWEST_UNITS = 3
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
    if num_units < FEWEST_UNITS or spread == 0:
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
    needed = max(FEWEST_UNITS, ceil(noncentrality(NORMAL_FROM, level, spec.power) ** 2 * ratio))
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
