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
"""Sums below :data:`EXACT_BELOW` stay exact in a double; rounding is far below tables' digits."""

EXACT_BELOW = 2.0**29


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
    found = np.asarray(totals.sum(axis=0), dtype=np.float64)
    for column in np.flatnonzero(~_add_exactly(totals)):
        found[column] = fsum(totals[:, column].tolist())
    return found


def grouped_sums(values: Sequence[float] | Floats, groups: Ints, num_groups: int) -> Sums:
    """Add up values by group, each sum rounded once.

    Args:
        values: ``[value]``, or ``[value, column]``; not a number where one does not count.
        groups: the group of each, from 0; below 0 for none.
        num_groups: number of groups.

    Returns:
        Totals and counts, ``[group]`` or ``[group, column]``.
    """
    given = np.asarray(values, dtype=np.float64)
    columns = given[:, np.newaxis] if given.ndim == 1 else given
    totals, counts = (np.zeros((num_groups, columns.shape[1])) for _ in Sums._fields)
    for place, column in enumerate(columns.T):  # one by one: there may be millions of values
        totals[:, place], counts[:, place] = _sums(column, groups, num_groups)
    shape = (num_groups, *given.shape[1:])
    return Sums(totals.reshape(shape), counts.reshape(shape))


def _sums(given: Floats, groups: Ints, num_groups: int) -> tuple[Floats, Ints]:
    """Return the totals and counts of one column, ``[group]``."""
    counted = ~np.isnan(given) & (groups >= 0)
    given, groups = given[counted], groups[counted]
    counts = np.bincount(groups, minlength=num_groups)
    totals = np.bincount(groups, given, minlength=num_groups).astype(np.float64)
    if not _add_exactly(given):
        inexact = counts[groups] > 2  # one or two values are rounded once by any sum
        given, groups = given[inexact], groups[inexact]
        order = np.argsort(groups, kind="stable")
        ordered, (own, starts) = given[order].tolist(), np.unique(groups[order], return_index=True)
        ends = [*starts[1:].tolist(), len(ordered)]
        for group, start, end in zip(own.tolist(), starts.tolist(), ends, strict=False):
            totals[group] = fsum(ordered[start:end])
    return totals, counts


def _add_exactly(values: Floats) -> Truths:
    """Whether sums of each column of ``[value, column]`` are exact in any order.

    They are if all are multiples of ``2**-FRACTION_BITS``, and together not too large.
    """
    scaled = np.ldexp(values, FRACTION_BITS)
    is_whole = (scaled == np.rint(scaled)).all(axis=0)
    return np.asarray(is_whole & (np.abs(values).sum(axis=0) < EXACT_BELOW))
