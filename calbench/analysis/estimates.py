"""From rows of a frame to estimates: means and shares with intervals over scenarios.

Means are over rows, intervals over scenarios. Where a team played a scenario several times, these
games are averaged first: a scenario weighs the same however often it was played.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.facts.storage import REPLICATES
from calbench.stats.intervals import Bounds, estimated
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths, grouped_sums, rounded_sums

Limits = Mapping[str, tuple[float, float]]
"""Least and greatest value that is possible, by quantity; none for others."""

NO_LIMITS: Limits = {}


@dataclass(frozen=True, slots=True)
class ScenarioSums:
    """What the scenarios of every setting add to means.

    Attributes:
        groups: one row per group, with ``setting`` and the columns that name it within.
        quantities: whose means are estimated for each group.
        totals: ``[scenario, group, quantity]``, replicates averaged. Scenarios are numbered within
            their setting, by name; smaller settings add nothing in the last ones.
        counts: number of rows in each total, ``[scenario, group, quantity]``.
        all_rows: both without averaging.
        is_exact: whether a mean is constant by construction, ``[group, quantity]``.
    """

    groups: pd.DataFrame
    quantities: tuple[str, ...]
    totals: Floats
    counts: Floats
    all_rows: Sums
    is_exact: Truths

    @property
    def columns(self) -> Sums:
        """The sums as ``[scenario, column]``, with a column for each quantity of each group."""
        shape = (len(self.totals), len(self.groups) * len(self.quantities))
        return Sums(self.totals.reshape(shape), self.counts.reshape(shape))

    def of(self, quantity: str, *, is_averaged: bool = True) -> Sums:
        """Return the sums of one quantity, ``[scenario, group]``."""
        place = self.quantities.index(quantity)
        totals, counts = (self.totals, self.counts) if is_averaged else self.all_rows
        return Sums(totals[:, :, place], counts[:, :, place])

    def means(self, spec: AnalysisSpec, *, bounds: Limits = NO_LIMITS) -> pd.DataFrame:
        """Estimate every mean of every group.

        Args:
            spec: confidence.
            bounds: least and greatest value that is possible, of quantities that have them.

        Returns:
            The groups with six columns per quantity: the mean, ends of its interval (``_low``,
            ``_high``) and how it was made or why there is none (``_interval``), and the numbers
            of rows (``_n``) and of scenarios (``_scenarios``). What is absent is not a number.
        """
        found = estimated(
            self.columns,
            spec,
            bounds=column_bounds(self.quantities, bounds, len(self.groups)),
            exact=self.is_exact.ravel(),
        )
        num_rows = self.all_rows.counts.sum(axis=0).astype(np.int64)
        return self._named(
            {
                "": found.value,
                "_low": found.low,
                "_high": found.high,
                "_interval": found.kind.astype(object),
                "_n": num_rows.ravel(),
                "_scenarios": found.num_units,
            }
        )

    def ranges(self) -> pd.DataFrame:
        """Return the groups with the range of their scenarios, two columns per quantity.

        Few scenarios have no interval; their range says how far apart they are. Its ends,
        ``_least`` and ``_greatest``, are not a number where nothing counts.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self.columns.totals / self.columns.counts
        least = np.fmin.reduce(means, axis=0, initial=np.nan)
        greatest = np.fmax.reduce(means, axis=0, initial=np.nan)
        return self._named({"_least": least, "_greatest": greatest})

    def _named(self, parts: Mapping[str, np.ndarray]) -> pd.DataFrame:
        """Return the groups with columns ``<quantity><part>``, from arrays as :attr:`columns`."""
        shape = (len(self.groups), len(self.quantities))
        columns = {
            f"{name}{end}": values.reshape(shape)[:, place]
            for place, name in enumerate(self.quantities)
            for end, values in parts.items()
        }
        return pd.concat([self.groups, pd.DataFrame(columns)], axis="columns")


def column_bounds(quantities: Sequence[str], limits: Limits, repeats: int = 1) -> Bounds:
    """Return the bounds of quantities, repeated as often as there are groups."""
    pairs = [limits.get(name, (-np.inf, np.inf)) for name in quantities]
    return Bounds(*np.tile(np.array(pairs, dtype=np.float64).reshape(-1, 2).T, repeats))


def numbered(rows: pd.DataFrame, by: Sequence[str]) -> tuple[pd.DataFrame, Ints]:
    """Return the groups of rows in the order of their first ones, and the number of each row's."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for name in by:
        own, values = pd.factorize(rows[name], use_na_sentinel=False)
        codes = pd.factorize(codes * len(values) + own)[0]
    first = np.empty(codes.max(initial=-1) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(rows))[::-1]
    return rows[list(by)].iloc[first].reset_index(drop=True), codes


def _scenario_numbers(rows: pd.DataFrame) -> Ints:
    """Return the number of each row's scenario within its setting, by name."""
    setting, settings = pd.factorize(rows["setting"], sort=True)
    scenario, names = pd.factorize(rows["scenario_id"], sort=True)
    played, number = np.unique(setting * len(names) + scenario, return_inverse=True)
    firsts = np.searchsorted(played, np.arange(len(settings)) * len(names))
    return np.asarray(number - firsts[setting], dtype=np.int64)


def numbers(values: pd.DataFrame) -> Floats:
    """Return columns of numbers as ``[row, column]``; what is absent is not a number."""
    parts = [values[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in values]
    return np.stack(parts, axis=-1) if parts else np.empty((len(values), 0))


def scenario_sums(
    rows: pd.DataFrame,
    by: Sequence[str],
    values: pd.DataFrame,
    weights: pd.DataFrame | None = None,
    exact: pd.DataFrame | None = None,
) -> ScenarioSums:
    """Add up values by scenario.

    Args:
        rows: with ``setting``, ``scenario_id`` and the columns of ``by``; and with
            ``replicates``, if a team may have played a scenario several times.
        by: what names a group within its setting; groups are in the order of settings, and in
            each in that of their first row.
        values: what each row adds to each quantity; not a number where it does not count.
        weights: weight of each row in the mean of each quantity; 1 unless given.
        exact: whether the value of a row is constant by construction, with columns of ``values``
            where any is; a mean is if all its rows are.
    """
    groups, group = numbered(rows, ["setting", *by])
    order = np.argsort(groups["setting"].to_numpy(dtype=object), kind="stable")
    group = np.argsort(order)[group]
    scenario = _scenario_numbers(rows)
    shape = (scenario.max(initial=-1) + 1, len(groups), values.shape[1])

    def sums(added: Floats) -> Floats:
        cells = scenario * len(groups) + group
        return grouped_sums(added, cells, shape[0] * shape[1]).totals.reshape(shape)

    added = numbers(values)
    weight = np.where(np.isnan(added), 0.0, 1.0) if weights is None else numbers(weights)
    found = all_rows = Sums(sums(added), sums(weight))
    if REPLICATES in rows and (rows[REPLICATES] > 1).any():
        share = 1 / rows[REPLICATES].to_numpy(dtype=np.float64)[:, np.newaxis]
        # Rounded, as totals are later: they add exactly in any order.
        found = Sums(sums(added * share), rounded_sums(sums(weight * share)))
    is_exact = np.zeros(shape[1:], dtype=np.bool_)
    if exact is not None:
        own = exact.reindex(columns=list(values), fill_value=False).to_numpy(dtype=np.bool_)
        num_others = grouped_sums(np.where(own, 0.0, 1.0), group, len(groups)).totals
        is_exact = np.asarray(num_others == 0)
    quantities = tuple(map(str, values.columns))
    return ScenarioSums(
        groups.iloc[order].reset_index(drop=True), quantities, *found, all_rows, is_exact
    )


def group_totals(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the sum of every other column of each group, rounded once.

    Args:
        rows: with the columns of ``by``; the others hold numbers, absent ones add nothing.
        by: what names a group; groups are in the order of their first row.
    """
    groups, group = numbered(rows, by)
    added = rows[rows.columns.difference(list(by), sort=False)]
    totals = grouped_sums(numbers(added), group, len(groups)).totals
    return pd.concat([groups, pd.DataFrame(totals, columns=added.columns)], axis="columns")


ENDS = ("", "_low", "_high", "_interval")
"""Endings of the columns of an estimate, behind its name."""


def estimated_means(
    rows: pd.DataFrame,
    by: Sequence[str],
    values: pd.DataFrame,
    spec: AnalysisSpec,
    *,
    weights: pd.DataFrame | None = None,
    bounds: Limits = NO_LIMITS,
) -> pd.DataFrame:
    """Estimate means of groups in every setting, with ``setting`` and the columns of ``by``.

    Arguments as in :func:`scenario_sums` and :meth:`ScenarioSums.means`.
    """
    return scenario_sums(rows, by, values, weights).means(spec, bounds=bounds)


def estimated_shares(
    rows: pd.DataFrame,
    by: Sequence[str],
    successes: pd.DataFrame,
    trials: pd.DataFrame,
    spec: AnalysisSpec,
) -> pd.DataFrame:
    """Estimate shares of trials that go together within a scenario: sums over all rows.

    Args:
        rows: with ``setting``, ``scenario_id`` and the columns of ``by``.
        by: what names a group within its setting.
        successes: numerators, one column per share.
        trials: denominators, with the same columns.
        spec: confidence.

    Returns:
        ``setting``, the columns of ``by``, and :data:`ENDS` of each share.
    """
    once = rows.drop(columns=REPLICATES, errors="ignore")
    names = list(map(str, successes))
    bounds = dict.fromkeys(names, (0.0, 1.0))
    found = estimated_means(once, by, successes, spec, weights=trials, bounds=bounds)
    return found[["setting", *by, *(f"{name}{end}" for name in names for end in ENDS)]]
