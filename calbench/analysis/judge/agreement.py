"""How far judge and reflection agree: the statistics of Table 17 (paper, appendix I.5).

Every statistic is a function of sums over cells, so a resample of scenarios needs only each
scenario's sums. Movements are integers: the sums are exact in any order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.analysis.estimates import DRAWS_AT_ONCE, Floats, resample_weights
from calbench.analysis.judge.verdicts import Cells, Integers
from calbench.stats.spec import AnalysisSpec
from calbench.domain.randomness import derived_seed

MOST_SHUFFLED = 1000
"""Scenarios in the test against chance at most: it compares each with each [C]."""

Statistic = Callable[[Floats], Floats]
"""From sums ``[..., sum]`` to a number for each; not a number where there is none."""


def cell_sums(judge: Integers, reflection: Integers) -> Floats:
    """Return the sums over cells on which all statistics rest, ``[19]``.

    First how many cells have each pair of signs, the judge's first, ``[3, 3]`` for -, 0, +; then
    over all cells the sums of j, r, j^2, r^2 and j*r; then the same over cells where neither is 0.
    """
    pairs = 3 * (np.sign(judge) + 1) + np.sign(reflection) + 1
    counts = np.bincount(pairs, minlength=9)
    is_both = (judge != 0) & (reflection != 0)
    moments = _moments(judge, reflection), _moments(judge[is_both], reflection[is_both])
    return np.concatenate([counts, *moments]).astype(np.float64)


def _moments(j: Integers, r: Integers) -> Integers:
    return np.array([j.sum(), r.sum(), (j * j).sum(), (r * r).sum(), (j * r).sum()])


def union_sums(cells: Cells) -> Floats:
    """Return :func:`cell_sums` over the union of a game's cells."""
    return cell_sums(cells.judge[cells.union], cells.reflection[cells.union])


def _table(sums: Floats) -> Floats:
    return np.asarray(sums[..., :9].reshape(*sums.shape[:-1], 3, 3))


def _ratio(part: Floats, whole: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(part / whole)


def union_cells(sums: Floats) -> Floats:
    """Cells about which either says anything."""
    return np.asarray(_table(sums).sum(axis=(-1, -2)))


def judge_nonzero(sums: Floats) -> Floats:
    """Cells that the judge says moved."""
    return np.asarray(_table(sums)[..., [0, 2], :].sum(axis=(-1, -2)))


def reflection_nonzero(sums: Floats) -> Floats:
    """Cells that the reflection says moved."""
    return np.asarray(_table(sums)[..., :, [0, 2]].sum(axis=(-1, -2)))


def both_nonzero(sums: Floats) -> Floats:
    """Cells that both say moved."""
    return np.asarray(_table(sums)[..., ::2, ::2].sum(axis=(-1, -2)))


def same_direction(sums: Floats) -> Floats:
    """Cells that both say moved the same way."""
    return np.asarray(sums[..., 0] + sums[..., 8])


def jaccard(sums: Floats) -> Floats:
    """Cells that both say moved, of those that either does."""
    both = both_nonzero(sums)
    return _ratio(both, judge_nonzero(sums) + reflection_nonzero(sums) - both)


def judge_coverage(sums: Floats) -> Floats:
    """Share of the reflection's nonzero cells that the judge finds, too."""
    return _ratio(both_nonzero(sums), reflection_nonzero(sums))


def reflection_coverage(sums: Floats) -> Floats:
    """Share of the judge's nonzero cells that the reflection finds, too."""
    return _ratio(both_nonzero(sums), judge_nonzero(sums))


def directional_agreement(sums: Floats) -> Floats:
    """Share with the same sign among cells that both say moved."""
    return _ratio(same_direction(sums), both_nonzero(sums))


def kappa(sums: Floats) -> Floats:
    """Cohen's kappa of the signs -, 0, + over the union: (p - e) / (1 - e)."""
    table = _table(sums)
    cells = table.sum(axis=(-1, -2))
    agreed = _ratio(table[..., 0, 0] + table[..., 1, 1] + table[..., 2, 2], cells)
    expected = _ratio((table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1), cells * cells)
    return _ratio(agreed - expected, 1 - expected)


def pearson(sums: Floats) -> Floats:
    """Pearson's correlation of the signed changes over the union."""
    return _correlation(union_cells(sums), sums[..., 9:14])


def pearson_both(sums: Floats) -> Floats:
    """The same over cells that both say moved."""
    return _correlation(both_nonzero(sums), sums[..., 14:19])


def _correlation(n: Floats, moments: Floats) -> Floats:
    j, r, jj, rr, jr = (moments[..., place] for place in range(5))
    spread = (n * jj - j * j) * (n * rr - r * r)
    return _ratio(n * jr - j * r, np.sqrt(spread))


COUNTS: Mapping[str, Statistic] = {
    "union_cells": union_cells,
    "judge_nonzero": judge_nonzero,
    "reflection_nonzero": reflection_nonzero,
    "both_nonzero": both_nonzero,
    "same_direction": same_direction,
}
"""Counts of Table 17, by name; ``same_direction`` is the numerator of a share."""

SHARES: Mapping[str, Statistic] = {
    "jaccard": jaccard,
    "judge_coverage": judge_coverage,
    "reflection_coverage": reflection_coverage,
    "directional_agreement": directional_agreement,
    "kappa": kappa,
    "pearson": pearson,
    "pearson_both": pearson_both,
}
"""The other statistics of Table 17, in its order."""


class Interval(NamedTuple):
    """A statistic with its percentile interval over scenarios; absent where there is none."""

    value: float | None
    low: float | None
    high: float | None


def intervals(
    sums: Sequence[Floats], statistics: Sequence[Statistic], spec: AnalysisSpec, *names: int | str
) -> list[Interval]:
    """Return statistics of the sums of scenarios, resampled together.

    Args:
        sums: of each scenario, exact however they are added, all of one length; zeros where it
            adds nothing.
        statistics: functions of their sum.
        spec: resamples, seed and confidence.
        names: what the resamples are for; equal names give equal resamples.
    """
    by_scenario = np.array(sums, dtype=np.float64)
    values = [_number(each(by_scenario.sum(axis=0))) for each in statistics]
    if by_scenario.any(axis=1).sum() < 2:
        return [Interval(value, None, None) for value in values]
    drawn = np.concatenate(
        [weights @ by_scenario for weights in resample_weights(len(by_scenario), spec, *names)]
    )
    return [
        Interval(value, None, None) if value is None else Interval(value, *_ends(each(drawn), spec))
        for value, each in zip(values, statistics, strict=True)
    ]


def _ends(values: Floats, spec: AnalysisSpec) -> tuple[float | None, float | None]:
    """Return the ends of the interval; resamples without a value are left out."""
    defined = values[np.isfinite(values)]
    if not defined.size:
        return None, None
    tail = (1 - spec.confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def _number(value: Floats) -> float | None:
    return float(value) if np.isfinite(value) else None


class Chance(NamedTuple):
    """Directional agreement against chance.

    Attributes:
        agreement: what answers about other games reach on average.
        p_value: one-sided, of a permutation test.
    """

    agreement: float
    p_value: float


def chance_agreement(
    judge: Sequence[npt.NDArray[np.signedinteger]],
    reflection: Sequence[npt.NDArray[np.signedinteger]],
    spec: AnalysisSpec,
    *names: int | str,
) -> Chance | None:
    """Test directional agreement against answers about other games [C].

    If a judge's answers had nothing to do with this very game, they would fit another game's
    reflections as well. So whole games are dealt out anew: the judge's cells of one are held
    against the reflections of another, each game once. Habits of either side, such as calling
    most slots occupied, and what hangs together within a game remain as they are.

    Args:
        judge: signs of one game a scenario, by equally many dimensions.
        reflection: the same, in the same order.
        spec: number of permutations and their seed.
        names: what the permutations are for.

    Returns:
        The chance level and ``(b + 1) / (m + 1)`` for ``b`` of ``m`` permutations that agree at
        least as well as observed; ``None`` below two games, or where none can be compared.
    """
    if len(judge) > MOST_SHUFFLED:  # spread over the suite, which runs from easy to hard
        chosen = [place * len(judge) // MOST_SHUFFLED for place in range(MOST_SHUFFLED)]
        judge, reflection = [judge[i] for i in chosen], [reflection[i] for i in chosen]
    count = len(judge)
    if count < 2:
        return None
    mine, theirs = _aligned(judge), _aligned(reflection)
    both = np.abs(mine) @ np.abs(theirs).T
    agreed = (both + mine @ theirs.T) / 2
    observed = _ratio(np.trace(agreed), np.trace(both))
    if not np.isfinite(observed):
        return None
    shares = np.concatenate(
        [
            _ratio(agreed[range(count), deal].sum(axis=1), both[range(count), deal].sum(axis=1))
            for deal in _deals(count, spec, *names)
        ]
    )
    hits = int((~(shares < observed)).sum())  # a deal without a cell to compare counts against
    defined = shares[np.isfinite(shares)]
    level = fsum(defined) / defined.size if defined.size else float(observed)
    return Chance(level, (hits + 1) / (spec.permutations + 1))


def _aligned(games: Sequence[npt.NDArray[np.signedinteger]]) -> Floats:
    """Return one row a game; a cell that a smaller game lacks is 0 there."""
    shape = np.max([game.shape for game in games], axis=0)
    rows = np.zeros((len(games), *shape))
    for row, game in zip(rows, games, strict=True):
        row[tuple(slice(length) for length in game.shape)] = game
    return rows.reshape(len(games), -1)


def _deals(count: int, spec: AnalysisSpec, *names: int | str) -> Iterator[Integers]:
    """Yield ``spec.permutations`` permutations in blocks ``[permutation, place]``."""
    bits = np.random.PCG64(derived_seed(spec.bootstrap_seed, "judge", *names))
    rows_at_once = max(1, DRAWS_AT_ONCE // count)
    for start in range(0, spec.permutations, rows_at_once):
        rows = min(rows_at_once, spec.permutations - start)
        keys = bits.random_raw(rows * count).reshape(rows, count)
        yield np.argsort(keys, axis=1, kind="stable").astype(np.int64)
