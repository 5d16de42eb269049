"""Proportions: Wilson's interval, and whether two differ (paper, appendix G.5)."""

from math import sqrt
from typing import NamedTuple

from calbench.stats.spec import AnalysisSpec


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
    from scipy.stats import fisher_exact

    if not one[1] or not other[1]:
        return None
    table = [[successes, trials - successes] for successes, trials in (one, other)]
    return float(fisher_exact(table).pvalue)
