"""What many tests at once demand of their p-values."""

from collections.abc import Sequence

import numpy as np

from calbench.stats.sums import Floats


def adjusted_p_values(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values adjusted for their number: false discovery rate, Benjamini-Hochberg.

    Those that are not a number belong to no test: they stay so, and count for nothing. The others
    keep their order, each at least as large as before, and none above 1.
    """
    from scipy.stats import false_discovery_control

    adjusted = np.array(p_values, dtype=np.float64)
    is_test = ~np.isnan(adjusted)
    if is_test.any():
        adjusted[is_test] = false_discovery_control(adjusted[is_test], method="bh")
    return adjusted
