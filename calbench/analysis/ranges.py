"""Ranges of scenarios: the least and the greatest mean of a scenario."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from calbench.analysis.estimates import scenario_sums


def scenario_ranges(rows: pd.DataFrame, by: Sequence[str], values: pd.DataFrame) -> pd.DataFrame:
    """Return the range of the scenarios of every group, for each quantity.

    Few scenarios have no interval; their range says how far apart they are.

    Args:
        rows: as in :func:`scenario_sums`.
        by: what names a group within its setting.
        values: what each row adds to each quantity; not a number where it does not count.

    Returns:
        The groups with ``setting``, and ``<quantity>_least`` and ``_greatest``, which are not a
        number where nothing counts.
    """
    found = []
    for sums in scenario_sums(rows, by, values):
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums.totals / sums.counts
        ends = {
            "least": np.where(np.isnan(means), np.inf, means).min(axis=0),
            "greatest": np.where(np.isnan(means), -np.inf, means).max(axis=0),
        }
        columns = {
            f"{name}_{end}": np.where(np.isinf(numbers[:, place]), np.nan, numbers[:, place])
            for place, name in enumerate(sums.quantities)
            for end, numbers in ends.items()
        }
        found.append(sums.groups.assign(setting=sums.setting, **columns))
    if found:
        return pd.concat(found, ignore_index=True)
    names = [f"{name}_{end}" for name in values for end in ("least", "greatest")]
    return pd.DataFrame(columns=["setting", *by, *names])
