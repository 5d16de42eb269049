"""From rows of a frame to estimates: means with intervals over scenarios, and proportions.

Means are over rows, intervals over scenarios: the scenarios of a setting are resampled together for
all groups of its rows, which keeps differences between groups paired.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.stats.bootstrap import bootstrap_means
from calbench.stats.proportions import wilson
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints, Sums, grouped_sums


@dataclass(frozen=True, slots=True)
class ScenarioSums:
    """What the scenarios of a setting add to means.

    Attributes:
        setting: of the scenarios.
        groups: one row per group, with the columns that name it.
        quantities: whose means are estimated for each group.
        totals: ``[scenario, group, quantity]``.
        counts: number of rows in each total, likewise.
    """

    setting: str
    groups: pd.DataFrame
    quantities: tuple[str, ...]
    totals: Floats
    counts: Floats

    def of(self, quantity: str) -> Sums:
        """Return the sums of one quantity, ``[scenario, group]``."""
        place = self.quantities.index(quantity)
        return Sums(self.totals[:, :, place], self.counts[:, :, place])

    def means(self, spec: AnalysisSpec, *names: int | str) -> pd.DataFrame:
        """Estimate every mean of every group.

        Args:
            spec: resamples, seed and confidence.
            names: what the resamples are for; the setting, unless given.

        Returns:
            The groups with five columns per quantity: the mean, ends of its interval (``_low``,
            ``_high``), and the numbers of rows (``_n``) and of scenarios (``_scenarios``). Means
            of nothing and intervals over one scenario are not a number.
        """
        num_scenarios, num_groups, num_quantities = self.totals.shape
        flat = (num_scenarios, num_groups * num_quantities)
        sums = Sums(self.totals.reshape(flat), self.counts.reshape(flat))
        found = bootstrap_means(sums, spec, *(names or (self.setting,)))
        parts = {
            "": found.value,
            "_low": found.low,
            "_high": found.high,
            "_n": found.num_values,
            "_scenarios": found.num_units,
        }
        columns = {
            f"{name}{end}": values.reshape(num_groups, num_quantities)[:, place]
            for place, name in enumerate(self.quantities)
            for end, values in parts.items()
        }
        return self.groups.assign(setting=self.setting, **columns)


def _group_numbers(rows: pd.DataFrame, by: Sequence[str]) -> Ints:
    """Return the group of each row, from 0, in the order of their first rows."""
    numbers = rows.groupby(list(by), sort=False, dropna=False).ngroup()
    return np.asarray(numbers, dtype=np.int64)


def _numbers(values: "pd.Series[float]") -> Floats:
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def scenario_sums(
    rows: pd.DataFrame,
    by: Sequence[str],
    values: pd.DataFrame,
    weights: pd.DataFrame | None = None,
) -> Iterator[ScenarioSums]:
    """Add up values by scenario, setting by setting.

    Args:
        rows: with ``setting``, ``scenario_id`` and the columns of ``by``.
        by: what names a group within its setting; groups are in the order of their first row.
        values: what each row adds to each quantity; not a number where it does not count.
        weights: weight of each row in the mean of each quantity; 1 unless given.
    """
    for setting, own in rows.groupby("setting", sort=True):
        groups = own[list(by)].drop_duplicates(ignore_index=True)
        group = _group_numbers(own, by)
        scenario, scenarios = pd.factorize(own["scenario_id"], sort=True)
        shape = (len(scenarios), len(groups), values.shape[1])
        totals, counts = np.zeros(shape), np.zeros(shape)
        cell, num_cells = scenario * len(groups) + group, len(scenarios) * len(groups)
        for place, quantity in enumerate(values.columns):
            found = grouped_sums(_numbers(values[quantity].loc[own.index]), cell, num_cells)
            totals[:, :, place] = found.totals.reshape(shape[:2])
            counts[:, :, place] = found.counts.reshape(shape[:2])
            if weights is not None:
                over = grouped_sums(_numbers(weights[quantity].loc[own.index]), cell, num_cells)
                counts[:, :, place] = over.totals.reshape(shape[:2])
        yield ScenarioSums(str(setting), groups, tuple(map(str, values.columns)), totals, counts)


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


def estimated_means(
    rows: pd.DataFrame,
    by: Sequence[str],
    values: pd.DataFrame,
    spec: AnalysisSpec,
    *names: int | str,
    weights: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Estimate means of groups in every setting, with ``setting`` and the columns of ``by``.

    Arguments as in :func:`scenario_sums` and :meth:`ScenarioSums.means`; the resamples of each
    setting are named by ``names`` and the setting.
    """
    found = [
        sums.means(spec, *names, sums.setting) for sums in scenario_sums(rows, by, values, weights)
    ]
    if found:
        return pd.concat(found, ignore_index=True)
    ends = ("", "_low", "_high", "_n", "_scenarios")
    columns = ["setting", *by, *(f"{name}{end}" for name in values for end in ends)]
    return pd.DataFrame(columns=columns)


def with_share(
    rows: pd.DataFrame, name: str, successes: str, trials: str, spec: AnalysisSpec
) -> pd.DataFrame:
    """Return rows with a proportion and the ends of its Wilson interval; absent without trials.

    Args:
        rows: with whole numbers of ``successes`` and ``trials``.
        name: of the proportion; its ends are ``<name>_low`` and ``<name>_high``.
        successes: column of the numerator.
        trials: column of the denominator.
        spec: confidence.
    """
    counts = rows[[successes, trials]].to_numpy(dtype=np.int64).tolist()
    shares = [wilson(part, whole, spec) or (np.nan,) * 3 for part, whole in counts]
    columns = [name, f"{name}_low", f"{name}_high"]
    return rows.join(pd.DataFrame(shares, rows.index, columns, dtype="float64"))
