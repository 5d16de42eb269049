"""Whether two samples over the same units are shown to be equal: two one-sided tests [C].

That no difference was found does not show that there is none. Equality within a margin is shown if
both "the difference is at least the margin" and "it is at most minus the margin" are rejected
(Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach",
J. Pharmacokinetics and Biopharmaceutics 15). Both are paired t-tests over the units that count for
both samples, and are made where there would be a t interval: elsewhere the spread of a sample says
too little. Of a ratio of sums each unit's linear term counts; with equal counts that is its
difference.
"""

from typing import NamedTuple

import numpy as np

from calbench.stats.intervals import (
    FEWEST_UNITS,
    MOST_ALIKE,
    difference_of,
    most_common,
    spread_of,
)
from calbench.stats.sums import Floats, Sums, Truths, rounded_sums


class Equivalence(NamedTuple):
    """What units say about the equality of two means, all ``[column]``.

    Attributes:
        p_value: the larger one of the two tests; not a number if units are too few or too alike.
        is_identical: no unit differs; false where none counts for both.
    """

    p_value: Floats
    is_identical: Truths


def equivalence(first: Sums, second: Sums, margin: float | Floats) -> Equivalence:
    """Test whether two means are closer than a margin, column by column.

    Args:
        first: what every unit adds to one mean, ``[unit, column]``.
        second: the same for the other; units that count for one alone are left out.
        margin: in the unit of the means, one for all or ``[column]``; above 0.
    """
    from scipy.special import stdtr

    is_common = (first.counts > 0) & (second.counts > 0)
    one, other = (
        Sums(rounded_sums(each.totals) * is_common, each.counts * is_common)
        for each in (first, second)
    )
    sample = difference_of(one, other)
    num_units, spread = sample.num_units, spread_of(sample)
    is_test = (num_units >= FEWEST_UNITS) & (spread > 0)
    is_test &= most_common(sample.own).units <= MOST_ALIKE * num_units
    error = np.where(is_test, spread, 1.0) / np.sqrt(np.maximum(num_units, 1))
    freedom = np.maximum(num_units - 1, 1)
    tails = [stdtr(freedom, (value - margin) / error) for value in (sample.value, -sample.value)]
    is_same = (one.totals == other.totals) & (one.counts == other.counts)
    return Equivalence(
        np.where(is_test, np.maximum(*tails), np.nan), (num_units > 0) & is_same.all(axis=0)
    )
