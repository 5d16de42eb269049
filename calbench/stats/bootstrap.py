"""Means with their uncertainty: expanded percentile bootstrap over units [C].

A mean is a ratio of two sums over units (scenarios, for instance), so a resample of units needs
only each unit's sum and count. All columns are resampled together: resample *r* has the same units
in each of them, which keeps differences paired.

The same input gives the same bytes on every processor: draws come from the raw bits of PCG64,
whose sequence numpy guarantees, and sums are rounded before they are added, so that they add
exactly in any order.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calbench.domain.randomness import derived_seed
from calbench.stats.intervals import ends_of
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, exact_totals, rounded_sums

DRAWS_AT_ONCE = 250_000
"""Bounds the memory of a resample matrix to some 10 MB, whatever the number of units [C]."""


@dataclass(frozen=True, slots=True)
class Means:
    """Means with their intervals, all arrays ``[column]``.

    Attributes:
        value: the mean over all values that count; not a number where none does.
        low: lower end of the interval; not a number below two units, where a bootstrap over units
            would give an interval of no width.
        high: upper end.
        num_units: units with a value that counts.
        num_values: values that count.
    """

    value: Floats
    low: Floats
    high: Floats
    num_units: Ints
    num_values: Ints


def resample_weights(
    num_units: int,
    spec: AnalysisSpec,
    *names: int | str,
    draws_at_once: int = DRAWS_AT_ONCE,
) -> Iterator[Floats]:
    """Yield how often each unit is in each resample, in blocks ``[resample, unit]``.

    Args:
        num_units: how many units are drawn from, and drawn; below 2**32.
        spec: number of resamples and seed.
        names: what the resamples are for; equal names give equal resamples.
        draws_at_once: most entries of a block; the weights do not depend on it.
    """
    bits = np.random.PCG64(derived_seed(spec.bootstrap_seed, "bootstrap", *names))
    rows_at_once = max(1, draws_at_once // num_units)
    for start in range(0, spec.bootstrap_resamples, rows_at_once):
        rows = min(rows_at_once, spec.bootstrap_resamples - start)
        high_bits = bits.random_raw(rows * num_units) >> np.uint64(32)
        drawn = (high_bits * np.uint64(num_units)) >> np.uint64(32)
        cells = drawn.astype(np.int64).reshape(rows, num_units)
        cells += np.arange(rows)[:, np.newaxis] * num_units
        counts = np.bincount(cells.ravel(), minlength=rows * num_units)
        yield counts.reshape(rows, num_units).astype(np.float64)


def bootstrap_means(sums: Sums, spec: AnalysisSpec, *names: int | str) -> Means:
    """Estimate many means over the same units, resampled together.

    Args:
        sums: what every unit adds to each mean, ``[unit, column]``.
        spec: resamples, seed and confidence.
        names: what the resamples are for.
    """
    num_values = sums.counts.sum(axis=0).astype(np.int64)
    num_units = (sums.counts > 0).sum(axis=0).astype(np.int64)
    with np.errstate(invalid="ignore"):
        value = exact_totals(sums.totals) / exact_totals(sums.counts)
    low, high = _ends(sums, num_units, spec, *names)
    return Means(value, low, high, num_units, num_values)


def _ends(
    sums: Sums, num_units: Ints, spec: AnalysisSpec, *names: int | str
) -> tuple[Floats, Floats]:
    """Return the ends of every column's interval; a resample without a value is left out."""
    if not sums.totals.size:
        low, high = np.full((2, len(num_units)), np.nan)
        return low, high
    totals = rounded_sums(sums.totals)
    blocks = []
    for weights in resample_weights(len(totals), spec, *names):
        with np.errstate(invalid="ignore"):
            blocks.append((weights @ totals) / (weights @ sums.counts))
    return ends_of(np.concatenate(blocks), num_units, spec.confidence)
