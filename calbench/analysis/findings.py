"""What a comparison of two runs found, in one sentence: what its intervals say, and no more."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.run_comparison import Comparison

NAMED = 3
"""Most differences that are named [C]; the tables have all."""


def finding(compared: Comparison, measures: Sequence[str], confidence: float) -> str:
    """Return how many differences have an interval without zero, and the first of them.

    Args:
        compared: two runs.
        measures: names of those that count.
        confidence: of the intervals, a share of one.
    """
    rows = compared.differences[compared.differences["measure"].isin(measures)]
    known = rows.dropna(subset=["difference_low", "difference_high"])
    if known.empty:
        return f"No difference has an interval, on {_scenarios(rows)}"
    is_clear = (known["difference_low"] > 0) | (known["difference_high"] < 0)
    on = f"{100 * confidence:g}% intervals, {_scenarios(known)}"
    missing = len(rows) - len(known)
    rest = f"; without an interval: {missing}" if missing else ""
    if not is_clear.any():
        return f"No difference is significant: all {len(known)} hold zero ({on}){rest}"
    has_one_pair = len(rows[["setting", "team_a", "team_b"]].drop_duplicates()) == 1
    clear = known[is_clear].to_dict("records")
    named = [_named(entry, has_place=not has_one_pair) for entry in clear[:NAMED]]
    more = f", and {len(clear) - NAMED} more" if len(clear) > NAMED else ""
    return (
        f"{len(clear)} of {len(known)} differences leave out zero ({on}): "
        f"{', '.join(named)}{more}{rest}"
    )


def _scenarios(rows: pd.DataFrame) -> str:
    """Return on how many scenarios some differences are."""
    counts = sorted({int(count) for count in rows["scenarios"].dropna()}) or [0]
    if len(counts) == 1:
        return f"{counts[0]} scenario{'s' * (counts[0] != 1)}"
    return f"{counts[0]} to {counts[-1]} scenarios"


def _named(entry: Mapping[Hashable, Any], *, has_place: bool) -> str:
    """Return one difference, as ``Excess cost (B is higher by 1.26 [1.12, 1.41])``."""
    place = _place(entry) if has_place else ""
    title = MEASURE_BY_NAME[entry["measure"]].title
    low, high = entry["difference_low"], entry["difference_high"]
    is_lower = entry["difference"] < 0
    ends = sorted((abs(low), abs(high)))
    return (
        f"{place}{title} (B is {'lower' if is_lower else 'higher'} by "
        f"{abs(entry['difference']):.2f} [{ends[0]:.2f}, {ends[1]:.2f}])"
    )


def _place(entry: Mapping[Hashable, Any]) -> str:
    other = f" and {entry['team_b']}" if entry["team_a"] != entry["team_b"] else ""
    return f"{entry['setting']} {entry['team_a']}{other}, "
