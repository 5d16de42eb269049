"""Rank correlations over strata: Spearman's rho, its interval, and a test."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np

from calbench.stats.sums import Floats

LEAST_UNITS = 10
"""Units of a stratum below which it has no correlation [C]."""

DECIMALS = 10
"""Of values that are ranked [C]: those that agree to so many are equal on every processor."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho within strata; not a number where there is none.

    Attributes:
        rho: mean over the strata, weighted by their units.
        low: lower end of its interval.
        high: upper end.
        p: two-sided, of no correlation within any stratum.
        num_units: in the strata that have a correlation.
    """

    rho: float
    low: float
    high: float
    p: float
    num_units: int


NONE = Correlation(np.nan, np.nan, np.nan, np.nan, 0)
"""Of no stratum with enough units and different values."""


def spearman(xs: Floats, ys: Floats) -> float | None:
    """Return the rank correlation, ties at their mean rank; ``None`` where a side never varies.

    Ranks are halves of integers, so all sums are exact.
    """
    from scipy.stats import rankdata

    x, y = (2 * rankdata(np.round(each, DECIMALS)) - len(xs) - 1 for each in (xs, ys))
    spread = float(x @ x) * float(y @ y)
    return float(x @ y) / sqrt(spread) if spread > 0 else None


def correlation(strata: Sequence[tuple[Floats, Floats]], confidence: float) -> Correlation:
    """Correlate two values within strata.

    The interval is by Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) of Bonett and Wright;
    the test takes the permutation distribution as normal, with its own variance 1 / (n - 1).
    Strata with few units, or in which one of the values never varies, say nothing.

    Args:
        strata: values of each, one pair for each unit, without missing ones.
        confidence: of the interval.
    """
    from scipy.stats import norm

    known = [
        (len(xs), rho)
        for xs, ys in strata
        if len(xs) >= LEAST_UNITS and (rho := spearman(xs, ys)) is not None
    ]
    if not known:
        return NONE
    units = sum(n for n, _ in known)
    mean = sum(n * rho for n, rho in known) / units
    null = sqrt(sum(n**2 / (n - 1) for n, _ in known))
    p = min(1.0, float(2 * norm.sf(abs(mean) * units / null)))
    if abs(mean) >= 1:
        return Correlation(mean, np.nan, np.nan, p, units)
    width = float(norm.ppf((1 + confidence) / 2)) * sqrt(
        (1 + mean**2 / 2) / sum(n - 3 for n, _ in known)
    )
    z = atanh(mean)
    return Correlation(mean, tanh(z - width), tanh(z + width), p, units)
