"""Paired differences of means over the units that count for both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calbench.stats.bootstrap import resample_weights
from calbench.stats.intervals import ends_of
from calbench.stats.permutation import swap_p_values
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, rounded_sums

Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Differences:
    """The first mean of each pair less the second, all arrays ``[pair]``.

    Attributes:
        value: the difference; not a number where no unit counts for both.
        low: lower end of the interval; not a number below two units.
        high: upper end.
        p_value: two-sided, of the paired permutation test.
        num_units: units that count for both.
        spread: standard deviation of the difference over units: what one unit adds to it, times
            their number; not a number below two units.
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
        names: what the resamples are for; those of ``bootstrap_means`` with equal names.
    """
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    common = (sums.counts[:, left] > 0) & (sums.counts[:, right] > 0)
    found = _unknown(common.sum(axis=0).astype(np.int64))
    known = np.flatnonzero(common.any(axis=0)) if len(common) else np.array([], dtype=np.int64)
    if known.size:
        first, second = (
            Sums(
                (sums.totals[:, side] * common)[:, known], (sums.counts[:, side] * common)[:, known]
            )
            for side in (left, right)
        )
        _compare(found, known, first, second, common[:, known], spec, *names)
    return found


def _unknown(num_units: Ints) -> Differences:
    value, low, high, p_value, spread = np.full((5, len(num_units)), np.nan)
    return Differences(value, low, high, p_value, num_units, spread)


def _compare(
    found: Differences,
    known: Ints,
    first: Sums,
    second: Sums,
    common: Truths,
    spec: AnalysisSpec,
    *names: int | str,
) -> None:
    """Fill in the pairs in which some unit counts for both."""
    num_units = found.num_units[known]
    has_interval = num_units > 1
    low, high = paired_ends(first, second, num_units, spec, *names)
    found.value[known] = _means(first) - _means(second)
    found.low[known] = np.where(has_interval, low, np.nan)
    found.high[known] = np.where(has_interval, high, np.nan)
    found.p_value[known] = swap_p_values(first, second, spec)
    found.spread[known] = np.where(has_interval, _spreads(first, second, common), np.nan)


def _means(sums: Sums) -> Floats:
    return np.asarray(sums.totals.sum(axis=0) / sums.counts.sum(axis=0))


def _spreads(first: Sums, second: Sums, common: Truths) -> Floats:
    """Return the standard deviation over units of what each adds to the difference.

    A ratio of sums is linearised: with equal counts these are the differences themselves.
    """
    num_units = common.sum(axis=0)
    shares = [
        (sums.totals - _means(sums) * sums.counts) * num_units / sums.counts.sum(axis=0)
        for sums in (first, second)
    ]
    squares = ((shares[0] - shares[1]) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(num_units - 1, 1)))


def paired_ends(
    first: Sums, second: Sums, num_units: Ints, spec: AnalysisSpec, *names: int | str
) -> tuple[Floats, Floats]:
    """Return the ends of every column's interval: the first mean less the second.

    Both are resampled together. A resample without a unit that counts has no difference and is
    left out.

    Args:
        first: what units add to one side's means.
        second: the same of the other.
        num_units: that count for both, in each column.
        spec: resamples, seed and confidence.
        names: what the resamples are for.
    """
    ours, theirs = rounded_sums(first.totals), rounded_sums(second.totals)
    blocks = []
    for weights in resample_weights(len(ours), spec, *names):
        with np.errstate(invalid="ignore"):
            blocks.append(
                (weights @ ours) / (weights @ first.counts)
                - (weights @ theirs) / (weights @ second.counts)
            )
    return ends_of(np.concatenate(blocks), num_units, spec.confidence)
