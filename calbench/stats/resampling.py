"""Units drawn again, and samples swapped: the bootstrap, and the paired permutation test.

If two samples differ in name only, it is a matter of chance in each unit which result belongs to
which. The test swaps them, unit by unit, in every way or in many random ways, and counts how often
the difference becomes as large as the one observed [C].

A p-value depends on the differences alone: not on the order of the units, on which sample comes
first, or on what else is tested. Many tests at once are adjusted for their number. Draws are the
same on every processor: they come from the raw bits of PCG64, whose sequence numpy guarantees.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor, log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.domain.randomness import derived_seed
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import FRACTION_BITS, Floats, Ints, Sums, rounded_sums

DRAWS_AT_ONCE = 250_000
"""Bounds the memory of a resample matrix to some 10 MB, whatever the number of units [C]."""


def resample_weights(
    num_units: int,
    resamples: int,
    seed: int,
    *names: int | str,
    draws_at_once: int = DRAWS_AT_ONCE,
) -> Iterator[Floats]:
    """Yield how often each unit is in each resample, in blocks ``[resample, unit]``.

    Args:
        num_units: how many units are drawn from, and drawn; below 2**32.
        resamples: how many.
        seed: of all resamples.
        names: what the resamples are for; equal names give equal resamples.
        draws_at_once: most entries of a block; the weights do not depend on it.
    """
    bits = np.random.PCG64(derived_seed(seed, "bootstrap", *names))
    rows_at_once = max(1, draws_at_once // num_units)
    for start in range(0, resamples, rows_at_once):
        rows = min(rows_at_once, resamples - start)
        high_bits = bits.random_raw(rows * num_units) >> np.uint64(32)
        drawn = (high_bits * np.uint64(num_units)) >> np.uint64(32)
        cells = drawn.astype(np.int64).reshape(rows, num_units)
        cells += np.arange(rows)[:, np.newaxis] * num_units
        counts = np.bincount(cells.ravel(), minlength=rows * num_units)
        yield counts.reshape(rows, num_units).astype(np.float64)


class _Swaps(NamedTuple):
    """Effect of swapping the two samples of a unit, units with the largest effect first.

    Attributes:
        totals: by how much a total moves from one sample to the other, ``[unit, column]``.
        counts: the same for the counts.
        total_sum: of both samples over all units, ``[column]``.
        count_sum: the same for the counts.
    """

    totals: Floats
    counts: Floats
    total_sum: Floats
    count_sum: Floats

    def differences(self, signs: Floats) -> Floats:
        """Return the difference after each swap, ``[swap, column]``."""
        found = signs @ self.totals
        uneven = np.flatnonzero(self.counts.any(axis=0))  # mostly none: both samples count alike
        moved, counts = found[:, uneven], signs @ self.counts[:, uneven]
        total_sum, count_sum = self.total_sum[uneven], self.count_sum[uneven]
        found *= 2 / self.count_sum
        first = (total_sum + moved) / (count_sum + counts)
        found[:, uneven] = first - (total_sum - moved) / (count_sum - counts)
        return np.asarray(found)

    def of(self, columns: Sequence[int], size: int) -> "_Swaps":
        """Return some columns, in which only the first ``size`` units change anything."""
        return _Swaps(
            self.totals[:size, columns],
            self.counts[:size, columns],
            self.total_sum[columns],
            self.count_sum[columns],
        )


def sign_flip_p_values(differences: Floats, spec: AnalysisSpec) -> Floats:
    """Return the two-sided p-value of each column's sum of paired differences.

    Args:
        differences: ``[unit, column]``; 0 where a unit has none.
        spec: number of random swaps, and their seed.
    """
    ones = np.ones_like(differences)
    return swap_p_values(Sums(differences, ones), Sums(np.zeros_like(ones), ones), spec)


def swap_p_values(
    first: Sums, second: Sums, spec: AnalysisSpec, *, is_less: bool = False
) -> Floats:
    """Return p-values of differences between two samples' means, column by column.

    A mean is a ratio of two sums over units; a swap exchanges what a unit adds to both sums of
    one sample with what it adds to those of the other.

    Args:
        first: one sample; in every column the same units count for both.
        second: the other.
        spec: number of random swaps, and their seed.
        is_less: whether the test is one-sided: that the first mean is less; else two-sided.

    Returns:
        The share of swaps after which the difference is as large (or low) as observed: of all
        swaps if there are at most ``spec.permutations + 1``, else ``(b + 1) / (m + 1)`` for ``b``
        of ``m`` random ones. Units without a difference have no influence.
    """
    swaps, seen, moving = _canonical(first, second, is_less=is_less)
    size_of = np.negative if is_less else np.abs
    p_values = np.ones(len(seen))
    exact_limit = floor(log2(spec.permutations + 1))
    for size in sorted({int(count) for count in moving if 0 < count <= exact_limit}):
        columns = np.flatnonzero(moving == size).tolist()
        sizes = size_of(swaps.of(columns, size).differences(_all_signs(size)))
        p_values[columns] = (sizes >= seen[columns]).mean(axis=0)
    columns = np.flatnonzero(moving > exact_limit).tolist()
    if columns:
        chosen = swaps.of(columns, int(moving.max()))
        hits = np.zeros(len(columns))
        for signs in _random_signs(int(moving.max()), len(columns), spec):
            hits += (size_of(chosen.differences(signs)) >= seen[columns]).sum(axis=0)
        p_values[columns] = (hits + 1) / (spec.permutations + 1)
    return p_values


def _canonical(first: Sums, second: Sums, *, is_less: bool) -> tuple[_Swaps, Floats, Ints]:
    """Order and direct the changes in a way that depends on nothing else.

    Every swap has an opposite, whose difference is its negative: how the changes are directed moves
    no share of all swaps.

    Returns:
        The swaps; how large a difference must be to count as large as observed; in how many units
        a swap changes anything.
    """
    ours, theirs = rounded_sums(first.totals), rounded_sums(second.totals)
    totals, counts = ours - theirs, first.counts - second.counts
    total_sum, count_sum = (ours + theirs).sum(axis=0), (first.counts + second.counts).sum(axis=0)
    as_played = _Swaps(totals, counts, total_sum, count_sum)
    seen = as_played.differences(np.ones((1, len(totals))))[0]
    seen = -seen if is_less else np.abs(seen)
    # Sums were rounded before they were added: swaps that tie may differ by this much.
    slack = np.float64(4 * len(totals) * 2.0**-FRACTION_BITS) / count_sum
    moving = ((totals != 0) | (counts != 0)).sum(axis=0)
    direction = np.where((totals < 0) | ((totals == 0) & (counts < 0)), -1.0, 1.0)
    totals, counts = totals * direction, counts * direction
    order = np.lexsort((-counts, -totals), axis=0)
    inert = np.take_along_axis((totals == 0) & (counts == 0), order, axis=0)
    # A change of counts alone may come after units without any change: those go last.
    order = np.take_along_axis(order, np.argsort(inert, axis=0, kind="stable"), axis=0)
    ordered = _Swaps(
        np.take_along_axis(totals, order, axis=0),
        np.take_along_axis(counts, order, axis=0),
        total_sum,
        count_sum,
    )
    least: Floats = seen - slack
    return ordered, least, moving


def _all_signs(size: int) -> Floats:
    """Return every choice of swaps, ``[2**size, size]``; -1 swaps, 1 does not."""
    choices = np.arange(2**size)[:, np.newaxis] >> np.arange(size)
    return np.where(choices & 1, -1.0, 1.0)


def _random_signs(size: int, columns: int, spec: AnalysisSpec) -> Iterator[Floats]:
    """Yield ``spec.permutations`` random choices of swaps in blocks ``[choice, unit]``.

    Each unit has its own bits, so its swaps do not depend on the number of units.
    """
    packed = np.stack(
        [_bits(spec.permutation_seed, unit, spec.permutations) for unit in range(size)]
    )
    bytes_at_once = max(1, DRAWS_AT_ONCE // (8 * max(size, columns)))
    for start in range(0, packed.shape[1], bytes_at_once):
        count = min(8 * bytes_at_once, spec.permutations - 8 * start)
        if count > 0:
            block = packed[:, start : start + bytes_at_once]
            signs = np.unpackbits(block, axis=1, count=count).T.astype(np.float64)
            signs *= -2.0
            signs += 1.0
            yield signs


@lru_cache(maxsize=4096)
def _bits(seed: int, unit: int, count: int) -> npt.NDArray[np.uint8]:
    """Return the random bits of one unit, eight to a byte."""
    source = np.random.PCG64(derived_seed(seed, "permutation", unit))
    return np.asarray(source.random_raw(-(-count // 64)).astype("<u8").view(np.uint8))


def holm_p_values(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values adjusted for their number: chance of any false rejection, Holm (1979).

    Those that are not a number belong to no test, as in :func:`adjusted_p_values`.
    """
    adjusted = np.array(p_values, dtype=np.float64)
    tests = np.flatnonzero(~np.isnan(adjusted))
    order = tests[np.argsort(adjusted[tests], kind="stable")]
    left = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(adjusted[order] * left), 1.0)
    return adjusted


def adjusted_p_values(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values adjusted for their number: false discovery rate, Benjamini-Hochberg.

    Those that are not a number belong to no test: they stay so, and do not count. The others keep
    their order, each at least as large as before, and none above 1.
    """
    adjusted = np.array(p_values, dtype=np.float64)
    tests = np.flatnonzero(~np.isnan(adjusted))
    order = tests[np.argsort(adjusted[tests])][::-1]
    ranks = np.arange(len(order), 0, -1)
    # No test passes that has a smaller rank than one that fails.
    adjusted[order] = np.minimum(np.minimum.accumulate(adjusted[order] * len(order) / ranks), 1.0)
    return adjusted
