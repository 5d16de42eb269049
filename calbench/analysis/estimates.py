"""Means with their uncertainty: expanded percentile bootstrap over scenarios [C].

A mean over agent-games is a ratio of two sums over scenarios, so a resample of scenarios
needs only each scenario's sum and count. All teams of a setting are resampled together:
resample *r* holds the same scenarios for each of them, which keeps differences paired.

The same input gives the same bytes on every processor: draws come from the raw bits of
PCG64, whose sequence numpy guarantees, and sums are rounded to multiples of 2**-24 before
they are added, so that they add exactly in any order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from calbench.analysis.intervals import ends_of
from calbench.analysis.spec import AnalysisSpec
from calbench.domain.randomness import derived_seed

Floats = npt.NDArray[np.float64]

FRACTION_BITS = 24
"""Sums below 2**29 stay exact in a double; what is rounded off is far below a table's digits."""

DRAWS_AT_ONCE = 250_000
"""Bounds the memory of a resample matrix to some 10 MB, whatever the number of scenarios [C]."""


@dataclass(frozen=True, slots=True)
class ScenarioSum:
    """What one scenario adds to a mean: a sum, and over how many agent-games it runs."""

    total: float
    count: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over agent-games with its interval.

    Attributes:
        value: the mean over all agent-games that count.
        low: lower end of the interval; ``None`` below two scenarios, where the bootstrap
            over scenarios would call the unknown certain.
        high: upper end.
        num_scenarios: scenarios with an agent-game that counts.
        num_agent_games: agent-games that count: the denominator.
    """

    value: float
    low: float | None
    high: float | None
    num_scenarios: int
    num_agent_games: int


def resample_weights(
    num_scenarios: int,
    spec: AnalysisSpec,
    *names: int | str,
    draws_at_once: int = DRAWS_AT_ONCE,
) -> Iterator[Floats]:
    """Yield how often each scenario is in each resample, in blocks ``[resample, scenario]``.

    Args:
        num_scenarios: how many scenarios are drawn from, and drawn; below 2**32.
        spec: number of resamples and seed.
        names: what the resamples are for; equal names give equal resamples.
        draws_at_once: most entries of a block; the weights do not depend on it.
    """
    bits = np.random.PCG64(derived_seed(spec.bootstrap_seed, "bootstrap", *names))
    rows_at_once = max(1, draws_at_once // num_scenarios)
    for start in range(0, spec.bootstrap_resamples, rows_at_once):
        rows = min(rows_at_once, spec.bootstrap_resamples - start)
        high_bits = bits.random_raw(rows * num_scenarios) >> np.uint64(32)
        drawn = (high_bits * np.uint64(num_scenarios)) >> np.uint64(32)
        cells = drawn.astype(np.int64).reshape(rows, num_scenarios)
        cells += np.arange(rows)[:, np.newaxis] * num_scenarios
        counts = np.bincount(cells.ravel(), minlength=rows * num_scenarios)
        yield counts.reshape(rows, num_scenarios).astype(np.float64)


def rounded_sums(totals: Floats) -> Floats:
    """Round sums so that they add exactly in any order."""
    return np.asarray(np.ldexp(np.rint(np.ldexp(totals, FRACTION_BITS)), -FRACTION_BITS))


def estimate_means(
    columns: Iterable[Sequence[ScenarioSum | None]], spec: AnalysisSpec, *names: int | str
) -> list[Estimate | None]:
    """Estimate many means over the same scenarios, resampled together.

    Args:
        columns: for each mean, what every scenario adds to it, all in the same order of
            scenarios; ``None`` where it was not played. They are taken one at a time.
        spec: resamples, seed and confidence.
        names: what the resamples are for.

    Returns:
        One estimate for each column; ``None`` where no agent-game counts.
    """
    sums = [column_arrays(column) for column in columns]
    if not sums:
        return []
    totals, counts = (np.stack(part, axis=1) for part in zip(*sums, strict=True))
    lows, highs = _intervals(totals, counts, spec, *names)
    return [
        _estimate(*column, low, high) for column, low, high in zip(sums, lows, highs, strict=True)
    ]


def column_arrays(column: Sequence[ScenarioSum | None]) -> tuple[Floats, Floats]:
    """Return sums and counts of scenarios as arrays; zeros where there are none."""
    totals = np.array([entry.total if entry else 0.0 for entry in column], dtype=np.float64)
    counts = np.array([entry.count if entry else 0 for entry in column], dtype=np.float64)
    return totals, counts


def _estimate(totals: Floats, counts: Floats, low: float, high: float) -> Estimate | None:
    count = int(counts.sum())
    if count == 0:
        return None
    num_scenarios = int((counts > 0).sum())
    has_interval = num_scenarios > 1
    return Estimate(
        value=fsum(totals.tolist()) / count,
        low=low if has_interval else None,
        high=high if has_interval else None,
        num_scenarios=num_scenarios,
        num_agent_games=count,
    )


def _intervals(
    totals: Floats, counts: Floats, spec: AnalysisSpec, *names: int | str
) -> tuple[list[float], list[float]]:
    """Return the ends of every column's interval; both arrays are ``[scenario, column]``.

    A resample without an agent-game that counts has no mean and is left out.
    """
    num_scenarios, num_columns = totals.shape
    if num_scenarios == 0:
        return [0.0] * num_columns, [0.0] * num_columns
    totals = rounded_sums(totals)
    blocks = []
    for weights in resample_weights(num_scenarios, spec, *names):
        with np.errstate(invalid="ignore"):
            blocks.append((weights @ totals) / (weights @ counts))
    counted = (counts > 0).sum(axis=0).tolist()
    return ends_of(np.concatenate(blocks), counted, spec.confidence)
