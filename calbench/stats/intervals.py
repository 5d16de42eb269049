"""Ends of intervals from resamples: percentiles, moved outward as far as few units demand.

The plain percentile interval is too narrow for few units, for two reasons: a resample varies
by the variance with divisor n instead of n - 1, and it uses normal quantiles instead of those of
the t distribution. The expanded percentile interval corrects both (Hesterberg 2015, "What teachers
should know about the bootstrap", The American Statistician 69, section 5.3) [C]: it takes the
percentiles at which
the normal distribution is ``sqrt(n / (n - 1)) t`` away from its centre, with t the quantile of
n - 1 degrees of freedom. With 45 units it is 4% wider than the plain one, with 15 it is 13%.
"""

from functools import lru_cache
from math import sqrt

import numpy as np

from calbench.stats.sums import Floats, Ints


@lru_cache(maxsize=4096)
def tail_share(num_units: int, confidence: float) -> float:
    """Return the share of resamples beyond each end of an interval.

    Args:
        num_units: at least two.
        confidence: of the interval.
    """
    from scipy.stats import norm, t

    freedom = num_units - 1
    distance = sqrt(num_units / freedom) * t.isf((1 - confidence) / 2, freedom)
    return float(norm.sf(distance))


def ends_of(draws: Floats, num_units: Ints, confidence: float) -> tuple[Floats, Floats]:
    """Return lower and upper ends, column by column; not a number below two units.

    Args:
        draws: ``[resample, column]``; not a number where a resample has no value: it is left out.
        num_units: that count in each column.
        confidence: as in :func:`tail_share`.
    """
    lows, highs = np.full((2, draws.shape[1]), np.nan)
    is_defined = ~np.isnan(draws)
    is_whole = is_defined.all(axis=0)
    for count in sorted({int(n) for n in num_units if n > 1}):
        tail = tail_share(count, confidence)
        shares = [tail, 1 - tail]
        whole = np.flatnonzero((num_units == count) & is_whole)
        if whole.size:
            lows[whole], highs[whole] = np.quantile(draws[:, whole], shares, axis=0)
        for column in np.flatnonzero((num_units == count) & ~is_whole & is_defined.any(axis=0)):
            known = draws[is_defined[:, column], column]
            lows[column], highs[column] = np.quantile(known, shares)
    return lows, highs
