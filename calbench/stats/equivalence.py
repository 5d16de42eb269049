"""Whether two samples over the same units are shown to be equal: two one-sided tests [C].

That no difference was found does not show that there is none. Equality within a margin is shown if
both "the difference is at least the margin" and "it is at most minus the margin" are rejected
(Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach",
J. Pharmacokinetics and Biopharmaceutics 15). Both are paired t-tests over the units that count for
both samples. Of a ratio of sums each unit's linear term counts; with equal counts that is its
difference.
"""

from typing import NamedTuple

import numpy as np

from calbench.stats.sums import Floats, Sums, Truths, exact_totals, rounded_sums

FEWEST_UNITS = 4
"""Below, a t interval does not hold what it claims [C], so no such test is made."""

MOST_ALIKE = 0.6
"""Greatest share of units with one difference for a t-test, as for a t interval [C]."""

SAME_DIGITS = 9
"""Differences that agree to this many decimals are one: last bits are rounding [C]."""


class Equivalence(NamedTuple):
    """What units say about the equality of two means, all ``[column]``.

    Attributes:
        p_value: the larger one of the two tests; not a number if units are too few or too alike.
        is_identical: no unit differs; false where none counts for both.
        is_constant: all units have one difference, or there is one unit.
    """

    p_value: Floats
    is_identical: Truths
    is_constant: Truths


def equivalence(first: Sums, second: Sums, margin: float | Floats) -> Equivalence:
    """Test whether two means are closer than a margin, column by column.

    Args:
        first: what every unit adds to one mean, ``[unit, column]``.
        second: the same for the other; units that count for one alone are left out.
        margin: in the unit of the means, one for all or ``[column]``; above 0.
    """
    from scipy.special import stdtr

    is_common = (first.counts > 0) & (second.counts > 0)
    num_units = is_common.sum(axis=0)
    one, other = (
        Sums(rounded_sums(each.totals) * is_common, each.counts * is_common)
        for each in (first, second)
    )
    is_same = (one.totals == other.totals) & (one.counts == other.counts)
    value, terms = _difference(one, other)
    most_alike = _most_alike(one, other)
    freedom = np.maximum(num_units - 1, 1)
    error = np.sqrt(exact_totals(terms**2) / freedom / np.maximum(num_units, 1))
    is_test = (num_units >= FEWEST_UNITS) & (most_alike <= MOST_ALIKE * num_units) & (error > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        below = stdtr(freedom, (value - margin) / error)
        above = stdtr(freedom, (-value - margin) / error)
    p_value = np.where(is_test, np.maximum(below, above), np.nan)
    is_identical = (num_units > 0) & is_same.all(axis=0)
    return Equivalence(p_value, is_identical, most_alike == num_units)


def _difference(one: Sums, other: Sums) -> tuple[Floats, Floats]:
    """Return the difference of each column, and what each unit's term is off it."""
    values, terms = [], []
    for sums in (one, other):
        counts = exact_totals(sums.counts)
        num_units = (sums.counts > 0).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = exact_totals(sums.totals) / counts
            off = (sums.totals - value * sums.counts) * num_units / counts
        values.append(value)
        terms.append(np.where(sums.counts > 0, off, 0.0))
    return values[0] - values[1], terms[0] - terms[1]


def _most_alike(one: Sums, other: Sums) -> Floats:
    """Return how many units have the most frequent difference of each column."""
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.round(one.totals / one.counts - other.totals / other.counts, SAME_DIGITS)
    counts = [np.unique(each[~np.isnan(each)], return_counts=True)[1] for each in own.T]
    return np.array([each.max(initial=0) for each in counts], dtype=np.float64)
