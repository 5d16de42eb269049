"""Rank correlations over strata: Spearman's rho, its interval, and a test."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.stats.sums import Floats, exact_totals

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


def spearmans(xs: Floats, ys: Floats) -> Floats:
    """Return the rank correlation of each column of ``[unit, column]``; no number without one.

    Ties are at their mean rank. Ranks are halves of integers, so all sums are exact.
    """
    sides = pd.DataFrame(np.round(np.hstack([xs, ys]), DECIMALS))
    x, y = np.split(2 * sides.rank().to_numpy() - len(xs) - 1, 2, axis=1)
    spread = (x * x).sum(axis=0) * (y * y).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0, (x * y).sum(axis=0) / np.sqrt(spread), np.nan))


class Pooled(NamedTuple):
    """Correlations of several strata together, ``[column]``; no number where there is none.

    Attributes:
        rho: mean over the strata that have a correlation, weighted by their units.
        low: lower end of its interval; no number for a rho of -1 or 1, nor where a stratum has
            no correlation: which ones have is chance, and the mean without them another one.
        high: upper end.
    """

    rho: Floats
    low: Floats
    high: Floats


def pooled(rhos: Floats, units: Floats, confidence: float) -> Pooled:
    """Return mean correlations with their intervals.

    Args:
        rhos: of each stratum, ``[stratum, column]``; no number where it has none.
        units: of each stratum.
        confidence: of the intervals.
    """
    is_known = ~np.isnan(rhos)
    weights = is_known * units[:, np.newaxis]
    freedom = (weights - 3 * is_known).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = exact_totals(np.where(is_known, rhos, 0.0) * weights) / weights.sum(axis=0)
    low, high = fisher_ends(np.where(is_known.all(axis=0), rho, np.nan), freedom, confidence)
    return Pooled(rho, low, high)


def fisher_ends(rho: Floats, freedom: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals by Fisher's z; no numbers at -1 and 1.

    The variance is (1 + rho^2 / 2) / freedom (Bonett and Wright 2000, Psychometrika 65).

    Args:
        rho: correlations.
        freedom: of each, the units less 3 for each stratum.
        confidence: of the interval.
    """
    from scipy.special import ndtri

    within = np.where(np.abs(rho) < 1, rho, np.nan)
    half = float(ndtri((1 + confidence) / 2)) * np.sqrt((1 + within**2 / 2) / freedom)
    z = np.arctanh(within)
    return np.tanh(z - half), np.tanh(z + half)


def correlation(strata: Sequence[tuple[Floats, Floats]], confidence: float) -> Correlation:
    """Correlate two values within strata.

    The interval is by Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) of Bonett and Wright;
    the test takes the permutation distribution as normal, with its own variance 1 / (n - 1).
    Strata with few units, or in which one of the values never varies, say nothing; of the latter
    there is no interval.

    Args:
        strata: values of each, one pair for each unit, without missing ones.
        confidence: of the interval.
    """
    from scipy.special import ndtr

    every = [each for each in strata if len(each[0]) >= LEAST_UNITS]
    sizes = np.array([len(xs) for xs, _ in every], dtype=np.float64)
    rhos = np.array([spearmans(xs[:, np.newaxis], ys[:, np.newaxis])[0] for xs, ys in every])
    known = sizes[~np.isnan(rhos)]
    if not known.size:
        return NONE
    (mean,), (low,), (high,) = pooled(rhos[:, np.newaxis], sizes, confidence)
    units = int(known.sum())
    null = sqrt((known**2 / (known - 1)).sum())
    p = min(1.0, float(2 * ndtr(-abs(mean) * units / null)))
    return Correlation(float(mean), float(low), float(high), p, units)
