"""Resamples of units (scenarios, for instance), drawn with replacement.

They are the same on every processor: draws come from the raw bits of PCG64, whose sequence numpy
guarantees.
"""

from collections.abc import Iterator

import numpy as np

from calbench.domain.randomness import derived_seed
from calbench.stats.sums import Floats

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
