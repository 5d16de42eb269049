"""How far two means over different units of one kind lie apart, stratum by stratum [C].

Units of the two samples are no pairs: they are other scenarios of one recipe. Within a stratum, a
third of difficulty for instance, they are exchangeable, so strata are compared one by one and the
gap is the mean of theirs by size. The interval is Welch's (1947, "The generalization of
'Student's' problem when several different population variances are involved", Biometrika 34) with
the variances within strata. The test permutes units between the samples within strata and compares
the studentized gap, which keeps its level where the variances differ (Chung and Romano 2013,
"Exact and asymptotically robust permutation tests", Annals of Statistics 41).
"""

from collections.abc import Sequence
from math import floor, isfinite
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.stats.intervals import FEWEST_UNITS, MOST_ALIKE, most_common, t_quantile
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec
from calbench.stats.sums import Floats

FEWEST_OF_STRATUM = 4
"""Units of each sample in every stratum; with fewer in one, all are one stratum [C]: of three a
variance says little."""


class Gap(NamedTuple):
    """The second mean less the first.

    Attributes:
        value: the gap; not a number where a sample has no unit.
        low: lower end of its interval; not a number where there is none, because a sample is
            small or most of it has one value.
        high: upper end.
        p_value: of the permutation test, two-sided; not a number where a sample is small.
        strata: that were compared one by one.
    """

    value: float
    low: float
    high: float
    p_value: float
    strata: int


class _Parts(NamedTuple):
    """Of all strata together, by permutation: the gap, its standard error, degrees of freedom."""

    gap: Floats
    error: Floats
    freedom: Floats


def gap_of(
    first: Floats,
    second: Floats,
    spec: AnalysisSpec,
    strata: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Gap:
    """Compare two samples.

    Args:
        first: values of the first, ``[unit]``, without gaps.
        second: of the second.
        spec: confidence, permutations and their seed.
        strata: of the units of both, if they have some.
    """
    values = np.concatenate([first, second])
    if min(len(first), len(second)) < FEWEST_UNITS:
        value = float(second.mean() - first.mean()) if len(first) and len(second) else np.nan
        return Gap(value, np.nan, np.nan, np.nan, 1)
    is_second = np.arange(len(values)) >= len(first)
    groups = _groups(is_second, strata)
    chance = np.random.Generator(np.random.PCG64(spec.permutation_seed))
    seen = _studentized(values[np.newaxis], is_second, groups)
    orders = np.empty((spec.permutations, len(values)))
    for group in groups:
        drawn = chance.random((spec.permutations, len(group))).argsort(axis=1)
        orders[:, group] = values[group][drawn]
    permuted = _studentized(orders, is_second, groups)
    size, sizes = abs(_t(seen)[0]), np.abs(_t(permuted))
    p_value = (1 + (sizes >= size * (1 - 1e-9)).sum()) / (1 + spec.permutations)
    value, error = float(seen.gap[0]), float(seen.error[0])
    samples = (first[:, np.newaxis], second[:, np.newaxis])
    is_alike = any(most_common(each).units[0] > MOST_ALIKE * len(each) for each in samples)
    half = np.nan
    if not is_alike and error > 0 and isfinite(float(seen.freedom[0])):
        tail = TAIL_SHARE * (1 - spec.confidence) / 2
        half = t_quantile(max(1, floor(seen.freedom[0])), tail) * error
    return Gap(value, value - half, value + half, float(p_value), len(groups))


def _groups(
    is_second: npt.NDArray[np.bool_], strata: tuple[Sequence[str], Sequence[str]] | None
) -> list[npt.NDArray[np.int64]]:
    """Return the places of each stratum; one of all if a stratum is small in a sample."""
    whole = [np.arange(len(is_second))]
    if strata is None:
        return whole
    names = np.array([*strata[0], *strata[1]])
    found = [np.flatnonzero(names == name) for name in np.unique(names)]
    least = min(min(is_second[each].sum(), (~is_second[each]).sum()) for each in found)
    return found if least >= FEWEST_OF_STRATUM else whole


def _studentized(
    values: Floats, is_second: npt.NDArray[np.bool_], groups: Sequence[npt.NDArray[np.int64]]
) -> _Parts:
    """Return the gap, its standard error and degrees of freedom of each row of values."""
    gap, square, below = (np.zeros(len(values)) for _ in range(3))
    for group in groups:
        weight = len(group) / values.shape[1]
        for sign, side in ((-1, ~is_second[group]), (1, is_second[group])):
            own = values[:, group[side]]
            count = own.shape[1]
            part = weight**2 * own.var(axis=1, ddof=1) / count
            gap += sign * weight * own.mean(axis=1)
            square += part
            below += part**2 / (count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _Parts(gap, np.sqrt(square), square**2 / below)


def _t(parts: _Parts) -> Floats:
    """Return studentized gaps: 0 where nothing differs, infinite where nothing varies."""
    is_none = np.round(parts.gap, 9) == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(is_none, 0.0, parts.gap / parts.error))
