"""From rows of a frame to estimates: means and shares with intervals over scenarios.

Means are over rows, intervals over scenarios. Where a team played a scenario several times, these
games are averaged first: a scenario weighs the same however often it was played.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.facts.storage import REPLICATES
from calbench.stats.intervals import Bounds
from calbench.stats.means import estimated
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, Truths, grouped_sums, rounded_sums

Limits = Mapping[str, tuple[float, float]]
"""Least and greatest value that is possible, by quantity; none for others."""

NO_LIMITS: Limits = {}


@dataclass(frozen=True, slots=True)
class ScenarioSums:
    """What the scenarios of a setting add to means.

    Attributes:
        setting: of the scenarios.
        groups: one row per group, with the columns that name it.
        quantities: whose means are estimated for each group.
        totals: ``[scenario, group, quantity]``, replicates averaged.
        counts: number of rows in each total, likewise.
        all_rows: both without averaging.
        is_exact: whether a mean is constant by construction, ``[group, quantity]``.
    """

    setting: str
    groups: pd.DataFrame
    quantities: tuple[str, ...]
    totals: Floats
    counts: Floats
    all_rows: Sums
    is_exact: Truths

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
        num_scenarios, num_groups, num_quantities = self.totals.shape
        flat = (num_scenarios, num_groups * num_quantities)
        found = estimated(
            Sums(self.totals.reshape(flat), self.counts.reshape(flat)),
            spec,
            bounds=column_bounds(self.quantities, bounds, num_groups),
            exact=self.is_exact.ravel(),
        )
        parts = {
            "": found.value,
            "_low": found.low,
            "_high": found.high,
            "_interval": found.kind.astype(object),
            "_n": self.all_rows.counts.reshape(flat).sum(axis=0).astype(np.int64),
            "_scenarios": found.num_units,
        }
        columns = {
            f"{name}{end}": values.reshape(num_groups, num_quantities)[:, place]
            for place, name in enumerate(self.quantities)
            for end, values in parts.items()
        }
        return self.groups.assign(setting=self.setting, **columns)


def column_bounds(quantities: Sequence[str], limits: Limits, repeats: int = 1) -> Bounds:
    """Return the bounds of quantities, repeated as often as there are groups."""
    pairs = [limits.get(name, (-np.inf, np.inf)) for name in quantities]
    return Bounds(*np.tile(np.array(pairs, dtype=np.float64).reshape(-1, 2).T, repeats))


def _group_numbers(rows: pd.DataFrame, by: Sequence[str]) -> Ints:
    """Return the group of each row, from 0, in the order of their first rows."""
    numbers = rows.groupby(list(by), sort=False, dropna=False).ngroup()
    return np.asarray(numbers, dtype=np.int64)


def _numbers(values: "pd.Series[float]") -> Floats:
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Where rows are added up: the number of each row's cell, and how many cells there are."""

    numbers: Ints
    shape: tuple[int, int]

    def sums(self, values: pd.DataFrame) -> Floats:
        """Return the sum of each column in each cell, ``[scenario, group, column]``."""
        num_cells = self.shape[0] * self.shape[1]
        found = [
            grouped_sums(_numbers(values[name]), self.numbers, num_cells).totals for name in values
        ]
        return np.stack(found, axis=-1).reshape(*self.shape, len(found))


def scenario_sums(
    rows: pd.DataFrame,
    by: Sequence[str],
    values: pd.DataFrame,
    weights: pd.DataFrame | None = None,
    exact: pd.DataFrame | None = None,
) -> Iterator[ScenarioSums]:
    """Add up values by scenario, setting by setting.

    Args:
        rows: with ``setting``, ``scenario_id`` and the columns of ``by``; and with
            ``replicates``, if a team may have played a scenario several times.
        by: what names a group within its setting; groups are in the order of their first row.
        values: what each row adds to each quantity; not a number where it does not count.
        weights: weight of each row in the mean of each quantity; 1 unless given.
        exact: whether the value of a row is constant by construction, with columns of ``values``
            where any is; a mean is if all its rows are.
    """
    if weights is None:
        weights = values.notna().astype("float64")
    shares = 1 / rows[REPLICATES].astype("float64") if REPLICATES in rows else None
    for setting, own in rows.groupby("setting", sort=True):
        groups = own[list(by)].drop_duplicates(ignore_index=True)
        group = _group_numbers(own, by)
        scenario, scenarios = pd.factorize(own["scenario_id"], sort=True)
        cells = _Cells(scenario * len(groups) + group, (len(scenarios), len(groups)))
        own_values, own_weights = values.loc[own.index], weights.loc[own.index]
        found = all_rows = Sums(cells.sums(own_values), cells.sums(own_weights))
        if shares is not None and (shares.loc[own.index] < 1).any():
            share = shares.loc[own.index]
            counts = cells.sums(own_weights.mul(share, axis="index"))
            # Rounded, as totals are later: they add exactly in any order.
            found = Sums(cells.sums(own_values.mul(share, axis="index")), rounded_sums(counts))
        quantities = tuple(map(str, values.columns))
        is_exact = _are_exact(own, exact, quantities, group, len(groups))
        yield ScenarioSums(str(setting), groups, quantities, *found, all_rows, is_exact)


def _are_exact(
    rows: pd.DataFrame,
    exact: pd.DataFrame | None,
    quantities: Sequence[str],
    group: Ints,
    num_groups: int,
) -> Truths:
    """Return whether all rows of a group are exact, ``[group, quantity]``."""
    if exact is None:
        return np.zeros((num_groups, len(quantities)), dtype=np.bool_)
    own = exact.reindex(index=rows.index, columns=list(quantities), fill_value=False).astype(bool)
    return own.groupby(group).all().to_numpy(dtype=np.bool_)


def group_totals(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the sum of every other column of each group, rounded once.

    Args:
        rows: with the columns of ``by``; the others hold numbers, absent ones add nothing.
        by: what names a group; groups are in the order of their first row.
    """
    groups = rows[list(by)].drop_duplicates(ignore_index=True)
    group = _group_numbers(rows, by)
    return groups.assign(
        **{
            str(name): grouped_sums(_numbers(rows[name]), group, len(groups)).totals
            for name in rows.columns.difference(list(by), sort=False)
        }
    )


ENDS = ("", "_low", "_high", "_interval")
"""What the columns of an estimate are called behind its name."""


def estimated_means(
    rows: pd.DataFrame,
    by: Sequence[str],
    values: pd.DataFrame,
    spec: AnalysisSpec,
    *,
    weights: pd.DataFrame | None = None,
    bounds: Limits = NO_LIMITS,
    exact: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Estimate means of groups in every setting, with ``setting`` and the columns of ``by``.

    Arguments as in :func:`scenario_sums` and :meth:`ScenarioSums.means`.
    """
    found = [
        sums.means(spec, bounds=bounds) for sums in scenario_sums(rows, by, values, weights, exact)
    ]
    if found:
        return pd.concat(found, ignore_index=True)
    ends = (*ENDS, "_n", "_scenarios")
    columns = ["setting", *by, *(f"{name}{end}" for name in values for end in ends)]
    return pd.DataFrame(columns=columns)


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
