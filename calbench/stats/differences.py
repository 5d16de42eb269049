"""Paired differences of means over the units that count for both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calbench.stats.bootstrap import resample_weights
from calbench.stats.intervals import ends_of
from calbench.stats.permutation import swap_p_values
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, rounded_sums


@dataclass(frozen=True, slots=True)
class Differences:
    """The first mean of each pair minus the second, all arrays ``[pair]``.

    Attributes:
        value: the difference; not a number where no unit counts for both.
        low: lower end of the interval; not a number below two units.
        high: upper end.
        p_value: two-sided, of the paired permutation test.
        num_units: units that count for both.
        spread: standard deviation over units of what each adds to the difference, times their
            number; not a number below two units.
    """

    value: Floats
    low: Floats
    high: Floats
    p_value: Floats
    num_units: Ints
    spread: Floats


def paired_differences(
    sums: Sums, pairs: Sequence[tuple[int, int]], spec: AnalysisSpec, *names: int | str
) -> Differences:
    """Compare means over the same units, resampled together.

    Args:
        sums: what every unit adds to each mean, ``[unit, column]``.
        pairs: which columns to compare.
        spec: resamples, swaps, seed and confidence.
        names: what the resamples are for; equal names as in ``bootstrap_means`` give equal
            resamples.
    """
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    common = (sums.counts[:, left] > 0) & (sums.counts[:, right] > 0)
    num_units = common.sum(axis=0).astype(np.int64)
    known = np.flatnonzero(num_units)
    numbers = np.full((5, len(num_units)), np.nan)
    if known.size:
        first, second = (
            Sums(
                (sums.totals[:, side] * common)[:, known], (sums.counts[:, side] * common)[:, known]
            )
            for side in (left, right)
        )
        numbers[:, known] = _compared(first, second, num_units[known], spec, *names)
    value, low, high, p_value, spread = numbers
    return Differences(value, low, high, p_value, num_units, spread)


def _compared(
    first: Sums, second: Sums, num_units: Ints, spec: AnalysisSpec, *names: int | str
) -> Floats:
    """Return value, ends, p-value and spread of pairs with a unit that counts for both."""
    low, high = paired_ends(first, second, num_units, spec, *names)
    p_value = swap_p_values(first, second, spec)
    spread = np.where(num_units > 1, _spreads(first, second, num_units), np.nan)
    return np.stack([_means(first) - _means(second), low, high, p_value, spread])


def _means(sums: Sums) -> Floats:
    return np.asarray(sums.totals.sum(axis=0) / sums.counts.sum(axis=0))


def _spreads(first: Sums, second: Sums, num_units: Ints) -> Floats:
    """Return the standard deviation over units of what each adds to the difference.

    A ratio of sums is linearised: with equal counts these are the differences themselves.
    """
    shares = [
        (sums.totals - _means(sums) * sums.counts) * num_units / sums.counts.sum(axis=0)
        for sums in (first, second)
    ]
    squares = ((shares[0] - shares[1]) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(num_units - 1, 1)))


def paired_ends(
    first: Sums, second: Sums, num_units: Ints, spec: AnalysisSpec, *names: int | str
) -> tuple[Floats, Floats]:
    """Return the ends of every column's interval: the first mean minus the second.

    Both are resampled together. A resample without a unit that counts is left out.

    Args:
        first: what units add to the means of one side.
        second: the same for the other side.
        num_units: units of each column that count for both.
        spec: resamples, seed and confidence.
        names: what the resamples are for.
    """
    own, other = rounded_sums(first.totals), rounded_sums(second.totals)
    blocks = []
    for weights in resample_weights(len(own), spec, *names):
        with np.errstate(invalid="ignore"):
            blocks.append(
                (weights @ own) / (weights @ first.counts)
                - (weights @ other) / (weights @ second.counts)
            )
    return ends_of(np.concatenate(blocks), num_units, spec.confidence)
