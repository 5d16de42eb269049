"""A printed mean against what one more suite of the same kind would give.

A pool of units (scenarios, for instance) represents all that could have been drawn. Suites are
drawn from it without replacement, and each is held against the mean of the units that were not
drawn, as the printed number is held against the mean of the pool: so the spread contains the
chance of the suite and that of the pool. Before that, a drawn mean is rounded as the number was
printed. Sums are rounded before they are added, so that they add exactly in any order.
"""

from typing import NamedTuple

import numpy as np

from calbench.domain.randomness import derived_seed
from calbench.stats.sums import Floats, Ints, Sums, Truths, exact_totals, rounded_sums

TOLERANCE = 1e-9
"""Two differences that are closer are equal: no printed number has so many digits [C]."""

STEPS = 2.0**18
"""Steps into which the largest deviation is divided where products are added: these are then
whole numbers, which add exactly in any order."""

LEAST_EIGENVALUE = 1e-8
"""A direction of less variance than this share of the greatest one has none [C]."""


class Drawn(NamedTuple):
    """Means of drawn suites.

    Attributes:
        pool: over the whole pool, ``[mean]``.
        suites: over the units of each draw, ``[draw, mean]``.
        others: over the units that were not drawn, ``[draw, mean]``.
    """

    pool: Floats
    suites: Floats
    others: Floats


class Tested(NamedTuple):
    """How far printed numbers lie from the pool's, with their chance.

    Attributes:
        distance: standard deviations for one number, signed; Mahalanobis distance for several.
        p_value: share of draws at least as far away, itself counted: ``(b + 1) / (m + 1)``.
    """

    distance: float
    p_value: float


def drawn_units(strata: Ints, size: int, num_draws: int, *names: int | str) -> Ints:
    """Draw suites without replacement, equally many units of each stratum.

    Args:
        strata: of each unit, from 0, ``[unit]``.
        size: units of a suite; if it is no multiple of the strata, the first have one more.
        num_draws: how many suites.
        names: what they are for; equal names give equal draws.

    Returns:
        Indices of units, ``[place, draw]``.

    Raises:
        ValueError: a stratum has fewer units than it should give.
    """
    bits = np.random.PCG64(derived_seed(*names))
    num_strata, found = int(strata.max()) + 1, []
    for stratum in range(num_strata):
        units = np.flatnonzero(strata == stratum)
        quota = (size + num_strata - 1 - stratum) // num_strata
        if quota > len(units):
            raise ValueError(f"stratum {stratum} has {len(units)} units, not {quota}")
        found.append(units[_picks(bits, len(units), quota, num_draws)])
    return np.concatenate(found)


def _picks(bits: np.random.PCG64, num_units: int, num_picked: int, num_draws: int) -> Ints:
    """Return distinct indices, ``[place, draw]``: Fisher and Yates, all draws at once."""
    order = np.repeat(np.arange(num_units)[:, np.newaxis], num_draws, axis=1)
    draws = np.arange(num_draws)
    for place in range(num_picked):
        high_bits = bits.random_raw(num_draws) >> np.uint64(32)
        left = np.uint64(num_units - place)
        other = place + ((high_bits * left) >> np.uint64(32)).astype(np.int64)
        taken = order[other, draws]
        order[other, draws] = order[place]
        order[place] = taken
    return order[:num_picked]


def drawn_means(sums: Sums, units: Ints) -> Drawn:
    """Return the means of drawn suites, of the units not drawn, and of the pool.

    Args:
        sums: what every unit adds to each mean, ``[unit, mean]``.
        units: of each draw, ``[place, draw]``.
    """
    parts = np.hstack([rounded_sums(sums.totals), sums.counts])
    drawn = np.zeros((units.shape[1], parts.shape[1]))
    for place in units:
        drawn += parts[place]
    whole = parts.sum(axis=0)
    return Drawn(_means(whole), _means(drawn), _means(whole - drawn))


def _means(parts: Floats) -> Floats:
    totals, counts = np.split(parts, 2, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(totals / counts)


def deviations(drawn: Drawn, mean: int, decimals: int) -> Floats:
    """Return each drawn mean, rounded, minus that of the units not drawn, ``[draw]``.

    Args:
        drawn: the means.
        mean: which of them.
        decimals: with which the number was printed; negative for whole tens.
    """
    factor = 10.0**decimals
    return np.asarray(np.rint(drawn.suites[:, mean] * factor) / factor - drawn.others[:, mean])


def is_constant(drawn: Drawn) -> Truths:
    """Whether every unit gives the same, so that nothing is left to chance, ``[mean]``."""
    spread = np.abs(drawn.suites - drawn.pool).max(axis=0)
    return np.asarray(spread <= TOLERANCE)


def spreads(found: Floats) -> Floats:
    """Return the root mean square of each column of ``[draw, mean]``."""
    return np.sqrt(exact_totals(found * found) / len(found))


def single_test(offset: float, found: Floats) -> Tested:
    """Test one printed number.

    Args:
        offset: it minus the pool's mean.
        found: deviations of the draws, ``[draw]``, not all 0.
    """
    hits = int((np.abs(found) >= abs(offset) - TOLERANCE).sum())
    return Tested(float(offset / spreads(found[:, np.newaxis])[0]), (hits + 1) / (len(found) + 1))


def joint_test(offsets: Floats, found: Floats) -> Tested:
    """Test several printed numbers together.

    The distance is that of Mahalanobis, with the second moments of the draws' deviations about
    0. A combination of numbers that does not vary over the draws is left out.

    Args:
        offsets: the printed numbers minus the pool's means, ``[mean]``.
        found: deviations of the draws, ``[draw, mean]``; each column varies.
    """
    scale = np.abs(found).max(axis=0)
    steps = np.rint(found / scale * STEPS)
    moments = (steps.astype(np.int64).T @ steps.astype(np.int64)).astype(np.float64)
    root = np.sqrt(np.diag(moments))
    inverse = np.linalg.pinv(moments / np.outer(root, root), rcond=LEAST_EIGENVALUE, hermitian=True)
    unit = scale * root / STEPS / np.sqrt(len(found))
    squares = _squares(found / unit, inverse)
    own = float(_squares((offsets / unit)[np.newaxis], inverse)[0])
    hits = int((squares >= own - TOLERANCE * max(own, 1)).sum())
    return Tested(float(np.sqrt(own)), (hits + 1) / (len(found) + 1))


def _squares(points: Floats, inverse: Floats) -> Floats:
    """Return the squared distance of each row of ``[point, mean]``."""
    return np.asarray(((points @ inverse) * points).sum(axis=1))
