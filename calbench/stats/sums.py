"""Sums over groups, exact in any order, so that last bits agree between processors."""

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

FRACTION_BITS = 24
"""Sums below 2**29 stay exact in a double; rounding is far below the digits of tables."""


class Sums(NamedTuple):
    """What units (scenarios, for instance) add to means, one mean per column.

    Attributes:
        totals: ``[unit, column]``; 0 where a unit adds nothing.
        counts: number of values in each total, ``[unit, column]``.
    """

    totals: Floats
    counts: Floats


def rounded_sums(totals: Floats) -> Floats:
    """Round sums to multiples of ``2**-FRACTION_BITS``, which add exactly in any order."""
    return np.asarray(np.ldexp(np.rint(np.ldexp(totals, FRACTION_BITS)), -FRACTION_BITS))


def exact_totals(totals: Floats) -> Floats:
    """Return the sum of each column of ``[unit, column]``, rounded once."""
    return np.array([fsum(column) for column in totals.T.tolist()], dtype=np.float64)


def grouped_sums(values: Sequence[float] | Floats, groups: Ints, num_groups: int) -> Sums:
    """Add up values by group, each sum rounded once.

    Args:
        values: ``[value]``; not a number where one does not count.
        groups: the group of each, from 0; below 0 for none.
        num_groups: number of groups.

    Returns:
        Totals and counts, ``[group]``.
    """
    given = np.asarray(values, dtype=np.float64)
    counted = ~np.isnan(given) & (groups >= 0)
    given, groups = given[counted], groups[counted]
    counts = np.bincount(groups, minlength=num_groups)
    ordered = given[np.argsort(groups, kind="stable")].tolist()
    ends = np.cumsum(counts).tolist()
    parts = (ordered[start:end] for start, end in zip([0, *ends], ends, strict=False))
    totals = np.array([fsum(part) for part in parts], dtype=np.float64)
    return Sums(totals, counts.astype(np.float64))
