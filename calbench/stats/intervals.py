"""Ends of intervals over units (scenarios, for instance), and which kind of interval there is [C].

What decides is the sample alone:

- below :data:`FEWEST_UNITS` units there are no ends;
- where no single value is that of more than :data:`MOST_ALIKE` of the units, a t interval over
  what each unit adds to the mean. For a ratio of sums these are linearised, so that units may
  hold any number of values;
- otherwise the spread of a sample says too little about rare units: an exact bound on the share
  of units with another value, times the greatest possible change, where the values have bounds by
  definition; else there are no ends.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths, exact_totals

Kinds = npt.NDArray[np.str_]

T, BOUND, FEW, SAME, EXACT, NONE = "t", "bound", "few", "same", "exact", ""
KINDS = (T, BOUND, FEW, SAME, EXACT, NONE)
"""How an interval was made, or why there is none; nothing where there is no value either."""

FEWEST_UNITS = 4
"""Below, no interval tried covered 93% of our own suites [C]."""

MOST_ALIKE = 0.6
"""Greatest share of units with one value for a t interval [C]."""

SAME_DIGITS = 9
"""Values that agree to this many decimals are one value: last bits are rounding [C]."""


class Bounds(NamedTuple):
    """Least and greatest value that is possible by definition, infinite if none, ``[column]``."""

    least: Floats
    greatest: Floats


class Sample(NamedTuple):
    """What units say about means, or about differences between means.

    Attributes:
        value: of each mean, ``[column]``; not a number where no unit counts.
        own: the value of each unit alone, ``[unit, column]``; not a number where it does not
            count.
        added: what each unit adds to the difference between sample and truth, times the number of
            units, likewise; 0 where it does not count.
        weights: of each unit in the mean, likewise; 1 on average over those that count.
    """

    value: Floats
    own: Floats
    added: Floats
    weights: Floats

    @property
    def num_units(self) -> Ints:
        """Units that count, ``[column]``."""
        return np.asarray((~np.isnan(self.own)).sum(axis=0), dtype=np.int64)


class Ends(NamedTuple):
    """Ends of intervals, not a number where there are none, and their kinds, ``[column]``."""

    low: Floats
    high: Floats
    kind: Kinds


def sample_of(sums: Sums) -> Sample:
    """Return what units say about ratios of two sums."""
    num_units = (sums.counts > 0).sum(axis=0)
    counts = exact_totals(sums.counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = exact_totals(sums.totals) / counts
        own = np.where(sums.counts > 0, sums.totals / sums.counts, np.nan)
        weights = np.where(sums.counts > 0, sums.counts * num_units / counts, 0.0)
        added = np.where(sums.counts > 0, weights * (own - value), 0.0)
    return Sample(value, own, added, weights)


def difference_of(first: Sums, second: Sums) -> Sample:
    """Return what units say about the first mean minus the second.

    Units that count for both have a value; those that count for one side only add to it.

    Args:
        first: what units add to one mean.
        second: the same for the other.
    """
    sides = sample_of(first), sample_of(second)
    own = sides[0].own - sides[1].own
    common = (~np.isnan(own)).sum(axis=0)
    one, other = (each.added * (common / np.maximum(each.num_units, 1)) for each in sides)
    weights = np.maximum(sides[0].weights, sides[1].weights)
    return Sample(sides[0].value - sides[1].value, own, one - other, weights)


class Most(NamedTuple):
    """The value that most units have, ``[column]``: itself, and how many units have it."""

    value: Floats
    units: Ints


def most_common(own: Floats) -> Most:
    """Return the most common value of each column, the least of several.

    Args:
        own: of each unit, ``[unit, column]``; not a number where it does not count.
    """
    num_units, num_columns = own.shape
    value, count = np.full(num_columns, np.nan), np.zeros(num_columns, dtype=np.int64)
    ordered = np.sort(np.round(own, SAME_DIGITS), axis=0)
    run = np.zeros(num_columns, dtype=np.int64)
    for unit in range(num_units):
        before = ordered[max(unit - 1, 0)]
        run = np.where(ordered[unit] == before, run, 0) + ~np.isnan(ordered[unit])
        is_more = run > count
        value[is_more], count[is_more] = ordered[unit][is_more], run[is_more]
    return Most(value, count)


def spread_of(sample: Sample) -> Floats:
    """Return the standard deviation over units of what each adds; not a number below two.

    It is 0, and not what rounding leaves, where all units have one value.
    """
    num_units = sample.num_units
    squares = (sample.added**2).sum(axis=0)
    spread = np.sqrt(squares / np.maximum(num_units - 1, 1))
    spread[most_common(sample.own).units == num_units] = 0.0
    return np.where(num_units > 1, spread, np.nan)


def ends_of(
    sample: Sample, spec: AnalysisSpec, bounds: Bounds | None = None, exact: Truths | None = None
) -> Ends:
    """Return the ends of every column's interval, and its kind.

    Args:
        sample: what units say.
        spec: confidence.
        bounds: of the values; none unless given.
        exact: whether a column is constant by construction, ``[column]``; none unless given.
    """
    size = len(sample.value)
    if bounds is None:
        bounds = Bounds(np.full(size, -np.inf), np.full(size, np.inf))
    num_units, most = sample.num_units, most_common(sample.own)
    is_bounded = np.isfinite(bounds.least) & np.isfinite(bounds.greatest)
    kind = np.select(
        [
            num_units == 0,
            np.zeros(size, dtype=bool) if exact is None else exact,
            num_units < FEWEST_UNITS,
            most.units <= MOST_ALIKE * num_units,
            is_bounded,
        ],
        [NONE, EXACT, FEW, T, BOUND],
        SAME,
    ).astype(np.str_)
    ends = np.full((2, size), np.nan)
    for each, made in ((T, _t_ends(sample, spec)), (BOUND, _bounds(sample, most, bounds, spec))):
        ends[:, kind == each] = np.clip(made, bounds.least, bounds.greatest)[:, kind == each]
    return Ends(ends[0], ends[1], kind)


def _t_ends(sample: Sample, spec: AnalysisSpec) -> Floats:
    """Return the ends of t intervals, ``[2, column]``."""
    num_units = np.maximum(sample.num_units, 2)
    tail = (1 - spec.confidence) / 2
    quantiles = np.array([_t_quantile(int(n) - 1, tail) for n in num_units], dtype=np.float64)
    half = quantiles * spread_of(sample) / np.sqrt(num_units)
    return np.stack([sample.value - half, sample.value + half])


@lru_cache(maxsize=4096)
def _t_quantile(freedom: int, tail: float) -> float:
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, tail))


def _bounds(sample: Sample, most: Most, bounds: Bounds, spec: AnalysisSpec) -> Floats:
    """Return the most common value, moved by as much as unseen units might, ``[2, column]``.

    A unit that differs weighs at most as much as the heaviest one seen.
    """
    with np.errstate(invalid="ignore"):
        others = sample.num_units - most.units
        shares = [
            most_that_differ(int(k), int(n), spec.confidence)
            for k, n in zip(others, sample.num_units, strict=True)
        ]
        share = np.minimum(np.array(shares) * sample.weights.max(axis=0, initial=0.0), 1.0)
        return np.stack([most.value + share * (end - most.value) for end in bounds])


@lru_cache(maxsize=4096)
def most_that_differ(differing: int, num_units: int, confidence: float) -> float:
    """Return the upper end of Clopper and Pearson's exact interval of a share of units.

    Args:
        differing: units of the sample that differ.
        num_units: size of the sample.
        confidence: of the two-sided interval.
    """
    from scipy.special import betaincinv

    if differing >= num_units:
        return 1.0
    tail = (1 - confidence) / 2
    return float(betaincinv(differing + 1, num_units - differing, 1 - tail))
