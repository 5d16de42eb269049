"""Paired differences between the teams of a setting, over the scenarios that both played."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from calbench.analysis.estimates import (
    Floats,
    ScenarioSum,
    column_arrays,
    resample_weights,
    rounded_sums,
)
from calbench.analysis.intervals import ends_of
from calbench.analysis.power import resolvable_gap, scenarios_needed
from calbench.analysis.significance import Sums, adjusted_p_values, swap_p_values
from calbench.analysis.spec import AnalysisSpec

Column = Sequence[ScenarioSum | None]
"""What every scenario adds to one team's mean; ``None`` where it was not played."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first team's mean less the second's, over the scenarios that count for both.

    Attributes:
        value: the difference.
        low: lower end of the interval; ``None`` below two scenarios.
        high: upper end.
        p_value: two-sided, of the paired permutation test.
        num_scenarios: scenarios that count for both.
        spread: standard deviation of the difference over scenarios: what one scenario adds
            to it, times their number; ``None`` below two scenarios.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float
    num_scenarios: int
    spread: float | None

    def resolvable_gap(self, spec: AnalysisSpec) -> float | None:
        """Return the smallest difference that so many such scenarios resolve."""
        if self.spread is None:
            return None
        return resolvable_gap(self.spread, self.num_scenarios, spec)

    def scenarios_needed(self, spec: AnalysisSpec) -> int | None:
        """Return how many such scenarios would resolve a difference of this size."""
        return None if self.spread is None else scenarios_needed(self.value, self.spread, spec)


def paired_differences(
    columns: Sequence[Column],
    pairs: Sequence[tuple[int, int]],
    spec: AnalysisSpec,
    *names: int | str,
) -> list[Difference | None]:
    """Compare means over the same scenarios, resampled together.

    Args:
        columns: for each team, what every scenario adds to its mean, all in the same order
            of scenarios.
        pairs: which columns to compare.
        spec: resamples, swaps, seed and confidence.
        names: what the resamples are for; those of :func:`estimate_means` with equal names.

    Returns:
        For each pair its difference; ``None`` where no scenario counts for both.
    """
    if not pairs or not columns or not columns[0]:
        return [None] * len(pairs)
    sums = [column_arrays(column) for column in columns]
    totals, counts = (np.stack(part, axis=1) for part in zip(*sums, strict=True))
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    common = (counts[:, left] > 0) & (counts[:, right] > 0)
    known = np.flatnonzero(common.any(axis=0)).tolist()
    if not known:
        return [None] * len(pairs)
    first, second = (
        Sums((totals[:, side] * common)[:, known], (counts[:, side] * common)[:, known])
        for side in (left, right)
    )
    found = _differences(first, second, common[:, known], spec, *names)
    by_pair = dict(zip(known, found, strict=True))
    return [by_pair.get(index) for index in range(len(pairs))]


def _differences(
    first: Sums, second: Sums, common: npt.NDArray[np.bool_], spec: AnalysisSpec, *names: int | str
) -> Iterator[Difference]:
    """Yield the difference of each column, in which some scenario counts."""
    values = _means(first) - _means(second)
    spreads = _spreads(first, second, common)
    lows, highs = paired_ends(first, second, common.sum(axis=0).tolist(), spec, *names)
    p_values = swap_p_values(first, second, spec)
    for index, num_scenarios in enumerate(common.sum(axis=0).tolist()):
        has_interval = num_scenarios > 1
        yield Difference(
            value=float(values[index]),
            low=lows[index] if has_interval else None,
            high=highs[index] if has_interval else None,
            p_value=p_values[index],
            num_scenarios=num_scenarios,
            spread=float(spreads[index]) if has_interval else None,
        )


def _means(sums: Sums) -> Floats:
    return np.asarray(sums.totals.sum(axis=0) / sums.counts.sum(axis=0))


def _spreads(first: Sums, second: Sums, common: npt.NDArray[np.bool_]) -> Floats:
    """Return the standard deviation over scenarios of what each adds to the difference.

    A ratio of sums is linearised: with equal counts these are the differences themselves.
    """
    num_scenarios = common.sum(axis=0)
    shares = [
        (sums.totals - _means(sums) * sums.counts) * num_scenarios / sums.counts.sum(axis=0)
        for sums in (first, second)
    ]
    squares = ((shares[0] - shares[1]) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(num_scenarios - 1, 1)))


def paired_ends(
    first: Sums,
    second: Sums,
    num_scenarios: Sequence[int],
    spec: AnalysisSpec,
    *names: int | str,
) -> tuple[list[float], list[float]]:
    """Return the ends of every column's interval: the first's mean less the second's.

    Both are resampled together. A resample without a scenario that counts has no difference and
    is left out.

    Args:
        first: what scenarios add to one team's means.
        second: the same of the other.
        num_scenarios: that count for both, in each column.
        spec: resamples, seed and confidence.
        names: what the resamples are for.
    """
    ours, theirs = rounded_sums(first.totals), rounded_sums(second.totals)
    blocks = []
    for weights in resample_weights(len(ours), spec, *names):
        with np.errstate(invalid="ignore"):
            blocks.append(
                (weights @ ours) / (weights @ first.counts)
                - (weights @ theirs) / (weights @ second.counts)
            )
    return ends_of(np.concatenate(blocks), num_scenarios, spec.confidence)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two teams of a setting under one measure: a line of ``comparisons.csv``.

    Attributes:
        difference: the first team's mean less the second's.
        p_adjusted: adjusted for the number of tests in the table.
    """

    setting: str
    team_a: str
    team_b: str
    measure: str
    difference: Difference
    p_adjusted: float


def compare_teams(
    setting: str,
    teams: Sequence[str],
    columns_by_measure: Iterable[tuple[str, Sequence[Column]]],
    spec: AnalysisSpec,
    is_comparable: Callable[[str, int, int], bool] = lambda *_: True,
) -> list[Comparison]:
    """Compare every two teams of a setting under every measure.

    Args:
        setting: of the scenarios.
        teams: in the order of the tables.
        columns_by_measure: each measure and a column for each team, all in the same order
            of scenarios. They are taken measure by measure.
        spec: resamples, swaps, seed and confidence.
        is_comparable: whether a measure means the same for two teams, given by their places.

    Returns:
        By pair in the order of the teams, then by measure; not yet adjusted. A pair without
        a common scenario that counts is left out.
    """
    pairs = list(combinations(range(len(teams)), 2))
    found: dict[tuple[int, int], list[Comparison]] = {pair: [] for pair in pairs}
    for measure, columns in columns_by_measure:
        chosen = [pair for pair in pairs if is_comparable(measure, *pair)]
        differences = paired_differences(columns, chosen, spec, setting)
        for (a, b), difference in zip(chosen, differences, strict=True):
            if difference is not None:
                row = Comparison(
                    setting, teams[a], teams[b], measure, difference, difference.p_value
                )
                found[a, b].append(row)
    return [row for rows in found.values() for row in rows]


def adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the rows of a table with their p-values adjusted for all of its tests."""
    p_values = adjusted_p_values([each.difference.p_value for each in comparisons])
    return [replace(each, p_adjusted=p) for each, p in zip(comparisons, p_values, strict=True)]
