"""Sums over units, made by hand or by chance."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from calbench.stats.sums import Sums

Unit = tuple[float, int] | None
"""What a unit adds to a mean: a total, and over how many values; ``None`` where it has none."""

UNITS = st.none() | st.tuples(st.integers(-30, 30).map(float), st.integers(0, 5))


def column(units: Sequence[Unit]) -> Sums:
    """Return units as one column; without values they add nothing."""
    known = [unit if unit is not None and unit[1] else (0.0, 0) for unit in units]
    pairs = np.array(known, dtype=np.float64).reshape(-1, 2)
    return Sums(pairs[:, :1], pairs[:, 1:])


def beside(*columns: Sequence[Unit]) -> Sums:
    """Return columns over the same units."""
    parts = [column(units) for units in columns]
    return Sums(
        np.hstack([part.totals for part in parts]), np.hstack([part.counts for part in parts])
    )


def random_units(seed: int, num_units: int) -> list[Unit]:
    chance = np.random.default_rng(seed)
    return [(float(chance.integers(0, 20)), int(chance.integers(1, 6))) for _ in range(num_units)]
