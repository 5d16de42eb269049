"""Ends of intervals over units (scenarios, for instance), and which kind of interval there is [C].

What decides is the sample alone:

- below :data:`FEWEST_UNITS` units there are no ends;
- where no value is that of more than :data:`MOST_ALIKE` of the units, a t interval over what each
  unit adds to the mean. For a ratio of sums it is the jackknife's, so that units may hold any
  number of values;
- otherwise the spread of a sample says too little about rare units. Where the values have bounds
  by definition, the ends are exact: the greatest share of units with another value, times the
  greatest possible change. So are those of values that lie on the bounds only;
- without bounds, a t interval that reaches the most common value, up to :data:`MOST_REACHED`;
  beyond it there are no ends.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.stats.spec import TAIL_SHARE, AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths, exact_totals

Kinds = npt.NDArray[np.str_]

T, BOUND, FEW, SAME, EXACT, NONE = "t", "bound", "few", "same", "exact", ""
KINDS = (T, BOUND, FEW, SAME, EXACT, NONE)
"""How an interval was made, or why there is none; nothing where there is no value either."""

FEWEST_UNITS = 4
"""Below, no interval tried covered 93% of our own suites [C]."""

MOST_ALIKE = 0.6
"""Greatest share of units with one value for a t interval [C]."""

MOST_REACHED = 0.7
"""Greatest share for one that reaches this value [C].

Nearly all units of a population may have a value that fewer have in a sample. Its mean is then
too far from that value, and would be published only when it is.
"""

SAME_DIGITS = 9
"""Values that agree to this many decimals are one value: last bits are rounding [C]."""


LEAST_REST = 1e-9
"""Least share of the weight that is taken to be in the other units [C]."""


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
            units, ``[unit, column]``; 0 where it does not count.
        weights: of each unit in the mean, ``[unit, column]``; 1 on average over those that
            count.
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
        added = np.where(sums.counts > 0, _pull(weights, num_units) * (own - value), 0.0)
    return Sample(value, own, added, weights)


def _pull(weights: Floats, num_units: Ints) -> Floats:
    """Return the weight of each unit's distance from the mean in what it adds.

    A unit with much of the weight pulls the mean to itself, so it looks closer to the truth than it
    is. The jackknife's mean, without the unit, does not move: that distance is as much greater as
    the rest has less of the weight. Where all units weigh the same, these are the weights [C].
    """
    counted = np.maximum(num_units, 1)
    rest = np.maximum(1 - weights / counted, LEAST_REST)
    return np.asarray(weights * (1 - 1 / np.maximum(counted, 2)) / rest)


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
    ordered = np.sort(np.round(own, SAME_DIGITS), axis=0)
    places = np.arange(len(own))[:, np.newaxis]
    is_new = np.ones(own.shape, dtype=np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    starts = np.maximum.accumulate(np.where(is_new, places, 0), axis=0)
    # A row before all others, for columns in which nothing counts.
    runs = np.vstack([np.zeros((1, own.shape[1])), (places - starts + 1) * ~np.isnan(ordered)])
    values = np.vstack([np.full((1, own.shape[1]), np.nan), ordered])
    last, columns = runs.argmax(axis=0), np.arange(own.shape[1])
    return Most(values[last, columns], runs[last, columns].astype(np.int64))


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
    most = most_common(sample.own)
    kind = _kinds(sample, most, bounds, exact)
    ends = np.full((2, size), np.nan)
    for each, made in (
        (T, _t_ends(sample, most, spec)),
        (BOUND, _exact_ends(sample, most, bounds, spec)),
    ):
        ends[:, kind == each] = np.clip(made, bounds.least, bounds.greatest)[:, kind == each]
    return Ends(ends[0], ends[1], kind)


def _kinds(sample: Sample, most: Most, bounds: Bounds, exact: Truths | None) -> Kinds:
    num_units = sample.num_units
    is_bounded = np.isfinite(bounds.least) & np.isfinite(bounds.greatest)
    kinds = np.select(
        [
            num_units == 0,
            np.zeros(len(num_units), dtype=bool) if exact is None else exact,
            num_units < FEWEST_UNITS,
            is_bounded & _are_on(bounds, sample),
            most.units <= MOST_ALIKE * num_units,
            is_bounded,
            most.units <= MOST_REACHED * num_units,
        ],
        [NONE, EXACT, FEW, BOUND, T, BOUND, T],
        SAME,
    )
    return kinds.astype(np.str_)


def _are_on(bounds: Bounds, sample: Sample) -> Truths:
    """Whether units have the least or the greatest possible value, and weigh the same."""
    own = sample.own
    is_on = np.isnan(own) | (own == bounds.least) | (own == bounds.greatest)
    is_even = np.isnan(own) | (sample.weights == sample.weights.max(axis=0, initial=0.0))
    return np.asarray((is_on & is_even).all(axis=0))


def _t_ends(sample: Sample, most: Most, spec: AnalysisSpec) -> Floats:
    """Return the ends of t intervals, ``[2, column]``."""
    num_units = np.maximum(sample.num_units, 2)
    tail = TAIL_SHARE * (1 - spec.confidence) / 2
    quantiles = np.array([t_quantile(int(n) - 1, tail) for n in num_units], dtype=np.float64)
    half = quantiles * spread_of(sample) / np.sqrt(num_units)
    low, high = sample.value - half, sample.value + half
    reaches = most.units > MOST_ALIKE * num_units
    return np.stack(
        [
            np.where(reaches, np.minimum(low, most.value), low),
            np.where(reaches, np.maximum(high, most.value), high),
        ]
    )


@lru_cache(maxsize=4096)
def t_quantile(freedom: int, tail: float) -> float:
    """Return what Student's t exceeds with probability ``tail``."""
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, tail))


def _exact_ends(sample: Sample, most: Most, bounds: Bounds, spec: AnalysisSpec) -> Floats:
    """Return the most common value, moved by as much as unseen units might, ``[2, column]``.

    A unit that differs weighs at most as much as the heaviest one seen. If all units are on the
    bounds, it is also known by how much they move it at least.
    """
    num_units = sample.num_units
    others = num_units - most.units
    pairs = zip(others.tolist(), num_units.tolist(), strict=True)
    shares = [share_ends(*pair, spec.confidence) for pair in pairs]
    least, greatest = np.array(shares, dtype=np.float64).reshape(-1, 2).T
    heaviest = np.minimum(greatest * sample.weights.max(axis=0, initial=0.0), 1.0)
    with np.errstate(invalid="ignore"):
        low, high = (most.value + heaviest * (end - most.value) for end in bounds)
        on, is_low = _are_on(bounds, sample), most.value == bounds.least
        low = np.where(on & is_low, most.value + least * (bounds.greatest - most.value), low)
        high = np.where(on & ~is_low, most.value + least * (bounds.least - most.value), high)
    return np.stack([low, high])


@lru_cache(maxsize=4096)
def share_ends(differing: int, num_units: int, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's exact interval of a share of units.

    Args:
        differing: units of the sample that differ.
        num_units: size of the sample.
        confidence: of the two-sided interval.
    """
    from scipy.special import betaincinv

    tail, rest = (1 - confidence) / 2, num_units - differing
    low = float(betaincinv(differing, rest + 1, tail)) if differing else 0.0
    high = float(betaincinv(differing + 1, rest, 1 - tail)) if rest else 1.0
    return low, high


class Means(NamedTuple):
    """Means with their intervals, all arrays ``[column]``.

    Attributes:
        value: the mean over all values that count; not a number where none does.
        low: lower end of the interval; not a number where there is none.
        high: upper end.
        kind: how the interval was made, or why there is none.
        num_units: units with a value that counts.
    """

    value: Floats
    low: Floats
    high: Floats
    kind: Kinds
    num_units: Ints


def estimated(
    sums: Sums,
    spec: AnalysisSpec,
    *,
    bounds: Bounds | None = None,
    exact: Truths | None = None,
) -> Means:
    """Estimate many means over the same units.

    Args:
        sums: what every unit adds to each mean, ``[unit, column]``.
        spec: confidence.
        bounds: least and greatest value that is possible; none unless given.
        exact: whether a mean is constant by construction, ``[column]``; none unless given.
    """
    sample = sample_of(sums)
    ends = ends_of(sample, spec, bounds, exact)
    return Means(sample.value, *ends, sample.num_units)
