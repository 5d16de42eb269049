"""Shares with Wilson intervals, and whether two players' shares differ."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats


class Share(NamedTuple):
    """How many of how many."""

    found: int
    total: int

    @property
    def rate(self) -> float | None:
        """The share itself; absent of nothing."""
        return self.found / self.total if self.total else None


def wilson(share: Share, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Return the Wilson interval of a share; absent of nothing."""
    if not share.total:
        return None, None
    test = stats.binomtest(share.found, share.total)
    interval = test.proportion_ci(confidence_level=confidence, method="wilson")
    return float(interval.low), float(interval.high)


def difference(one: Share, other: Share) -> float | None:
    """Return the p-value of two shares being one, by Fisher's exact test.

    Messages of one game depend on each other, so it is smaller than it should be: a
    description, no proof.
    """
    if not one.total or not other.total:
        return None
    table = [[share.found, share.total - share.found] for share in (one, other)]
    return float(stats.fisher_exact(table).pvalue)


def corrected(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct the p-values of a table for their number (Benjamini-Hochberg), absent ones apart."""
    given = [p for p in p_values if p is not None]
    if not given:
        return list(p_values)
    adjusted = iter(np.clip(stats.false_discovery_control(given), 0, 1).tolist())
    return [None if p is None else float(next(adjusted)) for p in p_values]
