"""Means with their uncertainty over units: see :mod:`calbench.stats.intervals`."""

from dataclasses import dataclass

import numpy as np

from calbench.stats.intervals import Bounds, Kinds, ends_of, sample_of
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths


@dataclass(frozen=True, slots=True)
class Means:
    """Means with their intervals, all arrays ``[column]``.

    Attributes:
        value: the mean over all values that count; not a number where none does.
        low: lower end of the interval; not a number where there is none.
        high: upper end.
        kind: how the interval was made, or why there is none.
        num_units: units with a value that counts.
        num_values: values that count.
    """

    value: Floats
    low: Floats
    high: Floats
    kind: Kinds
    num_units: Ints
    num_values: Ints


def estimated(
    sums: Sums,
    spec: AnalysisSpec,
    *,
    bounds: Bounds | None = None,
    exact: Truths | None = None,
) -> Means:
    """Estimate many means over the same units.

    Args:
        sums: what every unit adds to each mean, ``[unit, column]``.
        spec: confidence.
        bounds: least and greatest value that is possible; none unless given.
        exact: whether a mean is constant by construction, ``[column]``; none unless given.
    """
    sample = sample_of(sums)
    num_values = sums.counts.sum(axis=0).astype(np.int64)
    ends = ends_of(sample, spec, bounds, exact)
    return Means(sample.value, *ends, sample.num_units, num_values)
