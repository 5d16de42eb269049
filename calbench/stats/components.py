"""Variance components of values by unit and slice: what more slices, or more units, narrow [C].

A value is that of a unit (a scenario, for instance) in one of several slices. It is taken as a
mean, plus what all slices on the unit share, plus what only this slice adds. More slices on the
same units average only the last part; more units average both.
"""

from collections.abc import Iterable
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np

from calbench.stats.sums import Floats


class Components(NamedTuple):
    """Estimated variances of both parts; the first may come out below 0."""

    between: float
    within: float


class Widths(NamedTuple):
    """Width of an interval of a mean, relative to what it is now.

    Attributes:
        slice: with one more slice on the same units.
        units: with as many games as that, on further units with the slices there are.
        limit: with any number of slices on the same units.
    """

    slice: float
    units: float
    limit: float


def components(values: Floats) -> Components | None:
    """Estimate both variances by the analysis of variance of one random factor.

    Args:
        values: ``[unit, slice]``; not a number where a unit has no value in a slice.

    Returns:
        Unbiased estimates, also where units have unequally many values; ``None`` below two units,
        or where no unit has two values.
    """
    units = [own[~np.isnan(own)].tolist() for own in np.asarray(values, dtype=np.float64)]
    units = [own for own in units if own]
    counts = [len(own) for own in units]
    total, num_units = sum(counts), len(units)
    if num_units < 2 or total == num_units:
        return None
    mean = fsum(value for own in units for value in own) / total
    means = [fsum(own) / len(own) for own in units]
    within = fsum(
        (value - at) ** 2 for own, at in zip(units, means, strict=True) for value in own
    ) / (total - num_units)
    between = fsum(count * (at - mean) ** 2 for count, at in zip(counts, means, strict=True)) / (
        num_units - 1
    )
    weight = (total - sum(count**2 for count in counts) / total) / (num_units - 1)
    return Components((between - within) / weight, within)


def common_share(found: Iterable[Components]) -> float:
    """Return the share of the variance that slices on a unit have in common, over some groups.

    Returns:
        From 0 to 1; not a number where nothing varies.
    """
    listed = list(found)
    between, within = (fsum(part) for part in zip(*listed, strict=True)) if listed else (0.0, 0.0)
    if between + within <= 0:
        return float("nan")
    return min(max(between / (between + within), 0.0), 1.0)


def widths(share: float, slices: float) -> Widths:
    """Return how an interval of a mean over units narrows.

    Quantiles are taken as they are, and further slices and units as like those there are.

    Args:
        share: see :func:`common_share`.
        slices: values of a unit, on average.
    """
    now = share + (1 - share) / slices
    return Widths(
        slice=sqrt((share + (1 - share) / (slices + 1)) / now),
        units=sqrt(slices / (slices + 1)),
        limit=sqrt(share / now),
    )
