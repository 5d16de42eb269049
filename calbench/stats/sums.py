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


VALUES_AT_ONCE = 2**20
"""Values that are added up at once, if columns are not longer [C]: bounds memory."""


def grouped_sums(
    values: Sequence[float] | Floats,
    groups: Ints,
    num_groups: int,
    at_once: int = VALUES_AT_ONCE,
) -> Sums:
    """Add up values by group, each sum rounded once.

    Args:
        values: ``[value]``, or ``[value, column]``; not a number where one does not count.
        groups: the group of each, from 0; below 0 for none.
        num_groups: number of groups.
        at_once: bounds memory; the sums do not depend on it.

    Returns:
        Totals and counts, ``[group]`` or ``[group, column]``.
    """
    given = np.asarray(values, dtype=np.float64)
    columns = given[:, np.newaxis] if given.ndim == 1 else given
    width = max(1, at_once // max(len(given), 1))
    parts = [
        _grouped_sums(columns[:, start : start + width], groups, num_groups)
        for start in range(0, max(columns.shape[1], 1), width)
    ]
    shape = (num_groups, *given.shape[1:])
    return Sums(*(np.hstack(each).reshape(shape) for each in zip(*parts, strict=True)))


def _grouped_sums(given: Floats, groups: Ints, num_groups: int) -> Sums:
    """Add up some columns, ``[value, column]``, of :func:`grouped_sums`."""
    counted = ~np.isnan(given) & (groups >= 0)[:, np.newaxis]
    exact = _add_exactly(np.where(counted, given, 0.0))
    cells = groups[:, np.newaxis] * given.shape[1] + np.arange(given.shape[1])
    cells, given, num_cells = cells[counted], given[counted], num_groups * len(exact)
    counts = np.bincount(cells, minlength=num_cells)
    totals = np.bincount(cells, given, minlength=num_cells).astype(np.float64)
    # One or two values are rounded once by any sum.
    inexact = (counts[cells] > 2) & ~exact[cells % max(len(exact), 1)]
    cells, given = cells[inexact], given[inexact]
    order = np.argsort(cells, kind="stable")
    ordered, (cells, starts) = given[order].tolist(), np.unique(cells[order], return_index=True)
    ends = [*starts[1:].tolist(), len(ordered)]
    for cell, start, end in zip(cells.tolist(), starts.tolist(), ends, strict=False):
        totals[cell] = fsum(ordered[start:end])
    shape = (num_groups, len(exact))
    return Sums(totals.reshape(shape), counts.astype(np.float64).reshape(shape))


def _add_exactly(values: Floats) -> Truths:
    """Whether sums of a column's values are exact in any order, ``[column]``.

    They are if all are multiples of ``2**-FRACTION_BITS``, and together not too large.
    """
    scaled = np.ldexp(values, FRACTION_BITS)
    is_whole = (scaled == np.rint(scaled)).all(axis=0)
    return np.asarray(is_whole & (np.abs(values).sum(axis=0) < EXACT_BELOW))
