"""Whether two samples over the same units are shown to be equal: two one-sided tests [C].

That no difference was found does not show that there is none. Equality within a margin is shown if
both "the difference is at least the margin" and "it is at most minus the margin" are rejected
(Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach",
J. Pharmacokinetics and Biopharmaceutics 15). Both are paired t-tests over the units that count for
both samples, and are made where there would be a t interval: elsewhere the spread of a sample says
too little.

Schuirmann's p-value is that of an interval with twice the test's tail within the margin. Skewed
differences reject more often than such tests allow, so we take the tails of the intervals that we
show: equality is shown at 1 - confidence where the interval lies within the margin [C].
"""

from typing import NamedTuple

import numpy as np

from calbench.stats.intervals import (
    FEWEST_UNITS,
    MOST_ALIKE,
    TAIL_SHARE,
    difference_of,
    most_common,
    spread_of,
)
from calbench.stats.sums import Floats, Sums, Truths, rounded_sums


class Equivalence(NamedTuple):
    """What units say about the equality of two means, all ``[column]``.

    Attributes:
        p_value: the least 1 - confidence whose t interval lies within the margin; not a number if
            units are too few or too alike.
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
    p_value = np.minimum(np.maximum(*tails) / (TAIL_SHARE / 2), 1.0)
    is_same = (one.totals == other.totals) & (one.counts == other.counts)
    is_identical = (num_units > 0) & is_same.all(axis=0)
    return Equivalence(np.where(is_test, p_value, np.nan), is_identical)
