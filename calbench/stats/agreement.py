"""How far two raters agree on the same cells: statistics, intervals, and agreement by chance.

Each rater gives each cell a signed whole number, 0 for no change. Every statistic is a function
of sums over cells, so what a unit (a scenario, for instance) contributes needs only its sums.
These are whole numbers, exact in any order.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np

from calbench.domain.randomness import derived_seed
from calbench.stats.intervals import (
    FEW,
    MOST_ALIKE,
    NONE,
    SAME,
    Ends,
    T,
    most_common,
    t_quantile,
)
from calbench.stats.resampling import DRAWS_AT_ONCE
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec
from calbench.stats.sums import Floats, Ints, exact_totals

MOST_DEALT = 1000
"""Most units in the test against chance, which compares all pairs [C]."""

LEAST_UNITS = 15
"""Units below which there is no interval: of 8, those of shares covered 91% [C]."""

LEAST_CORRELATED = 180
"""The same for correlations of numbers: near 1 a few units decide, of 90 they covered 92% [C]."""

REACHED = 0.3
"""Share of units with one value above which an interval reaches this value [C].

Most units may agree wholly, and in a sample so few of them that it does not seem so: intervals that
did not reach their value covered 38%.
"""

NUM_SUMS = 19
"""Sums over cells on which all statistics rest."""

_ZEROS = 4
"""Index of the sum that counts cells where both raters give 0."""

Statistic = Callable[[Floats], Floats]
"""From sums ``[..., sum]`` to a number for each; not a number where there is none."""


def cell_sums(first: Ints, second: Ints, groups: Ints, num_groups: int) -> Floats:
    """Return the sums over each group's cells, ``[group, 19]``.

    First the number of cells with each pair of signs, the first rater's first, ``[3, 3]`` for
    -, 0, +; then the sums of x, y, x^2, y^2 and x*y over all cells; then the same over cells
    where neither is 0.

    Args:
        first: numbers of the first rater, ``[cell]``.
        second: those of the second.
        groups: group of each cell, from 0.
        num_groups: number of groups.
    """
    x, y = first.astype(np.float64), second.astype(np.float64)
    pairs = 3 * (np.sign(first) + 1) + np.sign(second) + 1
    counts = np.bincount(9 * groups + pairs, minlength=9 * num_groups).reshape(num_groups, 9)
    is_both = (first != 0) & (second != 0)
    moments = [
        np.bincount(groups, weights=terms * kept, minlength=num_groups)
        for kept in (np.ones_like(x), is_both)
        for terms in (x, y, x * x, y * y, x * y)
    ]
    return np.column_stack([counts, *moments]).astype(np.float64)


def with_zeros(sums: Floats, num_cells: Ints) -> Floats:
    """Return sums over ``num_cells`` cells of each group; cells not in ``sums`` are 0 for both."""
    whole = sums.copy()
    whole[:, _ZEROS] += num_cells - sums[:, :9].sum(axis=1)
    return whole


def _signs(sums: Floats) -> Floats:
    return np.asarray(sums[..., :9].reshape(*sums.shape[:-1], 3, 3))


def ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; not a number, or infinite, where the whole is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(part / whole)


def cells(sums: Floats) -> Floats:
    """All cells."""
    return np.asarray(_signs(sums).sum(axis=(-1, -2)))


def first_nonzero(sums: Floats) -> Floats:
    """Cells where the first rater is not 0."""
    return np.asarray(_signs(sums)[..., [0, 2], :].sum(axis=(-1, -2)))


def second_nonzero(sums: Floats) -> Floats:
    """Cells where the second is not."""
    return np.asarray(_signs(sums)[..., :, [0, 2]].sum(axis=(-1, -2)))


def both_nonzero(sums: Floats) -> Floats:
    """Cells where neither is 0."""
    return np.asarray(_signs(sums)[..., ::2, ::2].sum(axis=(-1, -2)))


def same_direction(sums: Floats) -> Floats:
    """Cells where both have the same sign, other than 0."""
    return np.asarray(sums[..., 0] + sums[..., 8])


def jaccard(sums: Floats) -> Floats:
    """Cells where both are nonzero, as a share of those where either is."""
    both = both_nonzero(sums)
    return ratio(both, first_nonzero(sums) + second_nonzero(sums) - both)


def first_coverage(sums: Floats) -> Floats:
    """Share of the second rater's nonzero cells where the first is nonzero too."""
    return ratio(both_nonzero(sums), second_nonzero(sums))


def second_coverage(sums: Floats) -> Floats:
    """Share of the first rater's nonzero cells where the second is nonzero too."""
    return ratio(both_nonzero(sums), first_nonzero(sums))


def directional_agreement(sums: Floats) -> Floats:
    """Share with the same sign among cells where both are nonzero."""
    return ratio(same_direction(sums), both_nonzero(sums))


def kappa(sums: Floats) -> Floats:
    """Cohen's kappa of the signs -, 0, + over all cells: (p - e) / (1 - e)."""
    signs = _signs(sums)
    num_cells = signs.sum(axis=(-1, -2))
    agreed = ratio(np.trace(signs, axis1=-2, axis2=-1), num_cells)
    expected = ratio((signs.sum(axis=-1) * signs.sum(axis=-2)).sum(axis=-1), num_cells * num_cells)
    return ratio(agreed - expected, 1 - expected)


def pearson(sums: Floats) -> Floats:
    """Pearson's correlation of the signed numbers over all cells."""
    return _correlation(cells(sums), sums[..., 9:14])


def pearson_both(sums: Floats) -> Floats:
    """The same over cells where both are nonzero."""
    return _correlation(both_nonzero(sums), sums[..., 14:19])


def _correlation(n: Floats, moments: Floats) -> Floats:
    x, y, xx, yy, xy = (moments[..., place] for place in range(5))
    spread = (n * xx - x * x) * (n * yy - y * y)
    return ratio(n * xy - x * y, np.sqrt(spread))


class Intervals(NamedTuple):
    """Statistics with their intervals, ``[statistic]``; absent is not a number.

    Attributes:
        value: of all units.
        low: lower end.
        high: upper end.
        kind: how the interval was made or why there is none: ``t`` over units, ``few`` units,
            ``same`` contribution of too many; empty without a value.
    """

    value: Floats
    low: Floats
    high: Floats
    kind: list[str]


def jackknife_intervals(
    sums: Floats, ranges: Sequence[tuple[Statistic, float]], spec: AnalysisSpec
) -> Intervals:
    """Estimate functions of sums over units, see :func:`jackknife_ends`.

    Args:
        sums: of each unit, exact in any order, ``[unit, sum]``.
        ranges: functions of their sum, each with its least possible value; the greatest is 1.
        spec: confidence.
    """
    total = sums.sum(axis=0)
    value = np.array([_finite(each(total)) for each, _ in ranges], dtype=np.float64)
    found = [jackknife_ends(sums[:, np.newaxis], *each, spec) for each in ranges]
    low, high = (np.array([ends[side][0] for ends in found]) for side in range(2))
    return Intervals(value, low, high, [str(ends.kind[0]) for ends in found])


def jackknife_ends(sums: Floats, statistic: Statistic, least: float, spec: AnalysisSpec) -> Ends:
    """Return the ends of t intervals over the units' contributions to a statistic [C].

    For n units, one contributes (n - 1) (g(f) - g(f without it)), the jackknife's linear part of a
    function ``f`` of sums. ``g`` is the logit over the possible values, whose ends are turned back:
    statistics are near their bounds, where plain intervals cover too little. There is no interval
    with fewer than :data:`LEAST_UNITS` units that have a value (:data:`LEAST_CORRELATED` for
    correlations), nor where more than :data:`MOST_ALIKE` of all have the same contribution or
    value, nor on a bound, nor without a value without one unit. Above :data:`REACHED` it reaches
    the most common value.

    Args:
        sums: of each unit, exact in any order, ``[unit, column, sum]``.
        statistic: function of their sum over units.
        least: its least possible value; the greatest is 1.
        spec: confidence.

    Returns:
        ``[column]``.
    """
    count, total = len(sums), sums.sum(axis=0)
    value, own = statistic(total), _finite(statistic(sums))
    most, middle = most_common(own), _logit(value, least)
    with np.errstate(invalid="ignore"):
        terms = (count - 1) * (middle - _logit(statistic(total - sums), least))
    is_known = np.isfinite(middle) & np.isfinite(terms).all(axis=0)
    most_terms = most_common(np.where(is_known, terms, np.nan))
    is_same = ~is_known | (np.maximum(most.units, most_terms.units) > MOST_ALIKE * count)
    is_few = (~np.isnan(own)).sum(axis=0) < least_units(statistic)
    kind = np.select([~np.isfinite(value), is_few, is_same], [NONE, FEW, SAME], T)
    shown, ends = kind == T, np.full((2, len(value)), np.nan)
    half = _half_widths(terms[:, shown], spec.confidence)
    reached = np.where(most.units > REACHED * count, most.value, np.nan)[shown]
    for side, sign, further in ((0, 1, np.fmin), (1, -1, np.fmax)):
        odds = np.exp(sign * half - middle[shown])
        ends[side, shown] = further(least + (1 - least) / (1 + odds), reached)
    return Ends(ends[0], ends[1], kind.astype(np.str_))


def least_units(statistic: Statistic) -> int:
    """Return how many units a statistic needs for an interval."""
    return LEAST_CORRELATED if statistic in (pearson, pearson_both) else LEAST_UNITS


def _half_widths(terms: Floats, confidence: float) -> Floats:
    count = len(terms)
    mean = exact_totals(terms) / count
    spread = exact_totals((terms - mean) ** 2) / (count - 1)
    return t_quantile(count - 1, TAIL_SHARE * (1 - confidence) / 2) * np.sqrt(spread / count)


def _logit(value: Floats, least: float) -> Floats:
    """Return values in [least, 1] on the whole line; infinite or no number on the bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(ratio(np.asarray(value - least), np.asarray(1 - value))))


def _finite(value: Floats) -> Floats:
    return np.where(np.isfinite(value), value, np.nan)


class Chance(NamedTuple):
    """Directional agreement against chance.

    Attributes:
        agreement: mean directional agreement with the second rater's answers about other units.
        p_value: one-sided, of a permutation test.
    """

    agreement: float
    p_value: float


def spread_evenly(num_units: int, most: int = MOST_DEALT) -> Ints:
    """Return the indices of ``most`` units, evenly spaced, or of all if there are fewer."""
    return np.arange(min(num_units, most)) * num_units // min(max(num_units, 1), most)


def chance_agreement(
    first: Floats, second: Floats, spec: AnalysisSpec, *names: int | str
) -> Chance | None:
    """Test directional agreement against answers about other units [C].

    If the first rater's answers were unrelated to the unit, they would agree as well with the
    second rater's answers about another unit. So whole units are permuted: the first rater's cells
    of one unit are compared with the second's of another. Tendencies of either rater, such as
    calling most cells positive, and dependence within a unit are preserved.

    Args:
        first: signs of the first rater's cells, ``[unit, cell]``; 0 where a unit has no such cell.
        second: those of the second rater.
        spec: number of permutations and their seed.
        names: what the permutations are for.

    Returns:
        The chance level and ``(b + 1) / (m + 1)`` for ``b`` of ``m`` permutations that agree at
        least as well as observed; ``None`` below two units, or if no cells can be compared.
    """
    count = len(first)
    if count < 2:
        return None
    both = np.abs(first) @ np.abs(second).T
    agreed = (both + first @ second.T) / 2
    observed = ratio(np.trace(agreed), np.trace(both))
    if not np.isfinite(observed):
        return None
    rows = np.arange(count)
    shares = np.concatenate(
        [
            ratio(agreed[rows, deal].sum(axis=1), both[rows, deal].sum(axis=1))
            for deal in _deals(count, spec, *names)
        ]
    )
    hits = int((~(shares < observed)).sum())  # a deal without a cell to compare counts as a hit
    defined = shares[np.isfinite(shares)]
    level = fsum(defined) / defined.size if defined.size else float(observed)
    return Chance(level, (hits + 1) / (spec.permutations + 1))


def _deals(count: int, spec: AnalysisSpec, *names: int | str) -> Iterator[Ints]:
    """Yield ``spec.permutations`` permutations in blocks ``[permutation, unit]``."""
    bits = np.random.PCG64(derived_seed(spec.permutation_seed, *names))
    rows_at_once = max(1, DRAWS_AT_ONCE // count)
    for start in range(0, spec.permutations, rows_at_once):
        rows = min(rows_at_once, spec.permutations - start)
        keys = bits.random_raw(rows * count).reshape(rows, count)
        yield np.argsort(keys, axis=1, kind="stable").astype(np.int64)
