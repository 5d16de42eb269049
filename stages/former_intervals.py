"""Intervals that tables had before metrics version 3, kept to compare their coverage.

The expanded percentile bootstrap (Hesterberg 2015, "What teachers should know about the
bootstrap", The American Statistician 69, section 5.3) for means, Wilson's for shares.
"""

from math import sqrt

import numpy as np

from calbench.stats.bootstrap import resample_weights
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Sums, rounded_sums

RESAMPLES = 2000


def former_ends(sums: Sums, spec: AnalysisSpec) -> tuple[Floats, Floats]:
    """Return the ends of intervals over at least two units, for ``[unit, suite]``."""
    from scipy.stats import norm, t

    num_units, num_suites = sums.totals.shape
    freedom = num_units - 1
    distance = sqrt(num_units / freedom) * t.isf((1 - spec.confidence) / 2, freedom)
    tail = float(norm.sf(distance))
    weights = np.concatenate(list(resample_weights(num_units, RESAMPLES, 0, "former")))
    ends = np.empty((2, num_suites))
    for start in range(0, num_suites, 1000):
        part = slice(start, start + 1000)
        means = (weights @ rounded_sums(sums.totals[:, part])) / (weights @ sums.counts[:, part])
        ends[:, part] = np.quantile(means, [tail, 1 - tail], axis=0)
    return ends[0], ends[1]


def wilson_ends(sums: Sums, spec: AnalysisSpec) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's intervals, which take all trials as independent."""
    from scipy.stats import norm

    z = norm.isf((1 - spec.confidence) / 2)
    trials = sums.counts.sum(axis=0)
    share = sums.totals.sum(axis=0) / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z * np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2)) / (1 + z**2 / trials)
    return np.asarray(centre - half), np.asarray(centre + half)
