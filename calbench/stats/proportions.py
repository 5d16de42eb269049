"""Proportions: Wilson's interval, and whether two differ (paper, appendix G.5)."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from calbench.stats.spec import AnalysisSpec

ROUNDING = 1e-9
"""Ways to split successes that differ by less, relatively, are equally likely: rounding [C]."""


class Proportion(NamedTuple):
    """A proportion with its Wilson interval, which assumes independent trials."""

    value: float
    low: float
    high: float


def wilson(successes: int, trials: int, spec: AnalysisSpec) -> Proportion | None:
    """Return a proportion with its interval of ``spec.confidence``; ``None`` without trials."""
    from scipy.special import ndtri

    if not trials:
        return None
    share, z = successes / trials, float(ndtri((1 + spec.confidence) / 2))
    centre = share + z**2 / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    low, high = (end / (1 + z**2 / trials) for end in (centre - half, centre + half))
    # At 0 and 1 an end is the share but for rounding.
    return Proportion(share, min(max(low, 0.0), share), max(min(high, 1.0), share))


def fisher_p_value(one: tuple[int, int], other: tuple[int, int]) -> float | None:
    """Return the p-value of Fisher's exact test that two proportions are equal.

    Dependent trials make it smaller than it should be: it describes and proves nothing.

    Args:
        one: successes and trials.
        other: the same for the other.

    Returns:
        ``None`` where either has no trials.
    """
    from scipy.special import gammaln

    (first, of_first), (second, of_second) = one, other
    if not of_first or not of_second:
        return None
    successes = first + second
    split = np.arange(max(0, successes - of_second), min(successes, of_first) + 1)
    # Of every way to split the successes, how often it comes, as a logarithm but for a constant.
    parts = (split, of_first - split, successes - split, of_second - successes + split)
    weights = -np.sum([gammaln(part + 1) for part in parts], axis=0)
    shares = np.exp(weights - weights.max())
    seen = shares[first - split[0]] * (1 + ROUNDING)
    return float(min(1.0, shares[shares <= seen].sum() / shares.sum()))
