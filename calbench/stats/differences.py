"""Paired differences of means over the units that count for both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calbench.stats.intervals import Bounds, Ends, Kinds, difference_of, ends_of, spread_of
from calbench.stats.permutation import swap_p_values
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths


@dataclass(frozen=True, slots=True)
class Differences:
    """The first mean of each pair minus the second, all arrays ``[pair]``.

    Attributes:
        value: the difference; not a number where no unit counts for both.
        low: lower end of the interval; not a number where there is none.
        high: upper end.
        kind: how the interval was made, or why there is none.
        p_value: two-sided, of the paired permutation test; not a number without a common unit, or
            where none was asked for.
        num_units: units that count for both.
        spread: standard deviation over units of what each adds to the difference, times their
            number; not a number below two units, 0 where all have one difference.
    """

    value: Floats
    low: Floats
    high: Floats
    kind: Kinds
    p_value: Floats
    num_units: Ints
    spread: Floats


def paired_differences(
    sums: Sums,
    pairs: Sequence[tuple[int, int]],
    spec: AnalysisSpec,
    *,
    bounds: Bounds | None = None,
    exact: Truths | None = None,
    is_tested: Truths | None = None,
) -> Differences:
    """Compare means over the same units.

    Args:
        sums: what every unit adds to each mean, ``[unit, column]``.
        pairs: which columns to compare.
        spec: swaps, seed and confidence.
        bounds: least and greatest value of each column, as in ``paired_ends``.
        exact: whether a column is constant by construction; a difference is if both are.
        is_tested: which pairs to test, ``[pair]``; all unless given.
    """
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    first, second = _common(
        *(Sums(sums.totals[:, side], sums.counts[:, side]) for side in (left, right))
    )
    sample = difference_of(first, second)
    p_value = np.full(len(pairs), np.nan)
    known = np.flatnonzero((sample.num_units > 0) & (True if is_tested is None else is_tested))
    if known.size:
        one, other = (
            Sums(each.totals[:, known], each.counts[:, known]) for each in (first, second)
        )
        p_value[known] = swap_p_values(one, other, spec)
    ends = ends_of(
        sample,
        spec,
        None if bounds is None else _of_differences(bounds, left, right),
        None if exact is None else exact[left] & exact[right],
    )
    return Differences(sample.value, *ends, p_value, sample.num_units, spread_of(sample))


def paired_ends(
    first: Sums,
    second: Sums,
    spec: AnalysisSpec,
    *,
    bounds: Bounds | None = None,
    exact: Truths | None = None,
) -> Ends:
    """Return the ends of every column's interval: the first mean minus the second.

    Units that count for one side only add to its mean, not to the number of units.

    Args:
        first: what units add to the means of one side.
        second: the same for the other side.
        spec: confidence.
        bounds: least and greatest value that is possible on either side, ``[column]``.
        exact: whether a column is constant by construction on both sides, likewise.
    """
    every = np.arange(first.totals.shape[1])
    differences = None if bounds is None else _of_differences(bounds, every, every)
    return ends_of(difference_of(first, second), spec, differences, exact)


def _common(first: Sums, second: Sums) -> tuple[Sums, Sums]:
    """Return both with nothing from units that do not count for both."""
    is_common = (first.counts > 0) & (second.counts > 0)
    return (
        Sums(first.totals * is_common, first.counts * is_common),
        Sums(second.totals * is_common, second.counts * is_common),
    )


def _of_differences(
    bounds: Bounds, left: Sequence[int] | Ints, right: Sequence[int] | Ints
) -> Bounds:
    """Return the least and greatest difference between values with bounds."""
    return Bounds(
        bounds.least[left] - bounds.greatest[right], bounds.greatest[left] - bounds.least[right]
    )
