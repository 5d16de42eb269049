"""What a comparison of two runs found, in one sentence: what its tests say, and no more."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.run_comparison import Comparison
from calbench.analysis.verdicts import (
    DIFFERENT,
    IDENTICAL,
    NOT_TESTED,
    NOT_TOLD_APART,
    REMARKS,
    TIED,
    WITHIN_MARGIN,
)

NAMED = 3
"""Most differences that are named [C]; the tables have all."""


def finding(compared: Comparison, measures: Sequence[str], confidence: float) -> str:
    """Return how many comparisons differ, the first of them, and what the others show.

    Args:
        compared: two runs.
        measures: names of those that count.
        confidence: of intervals and tests, a share of one.
    """
    rows = compared.differences[compared.differences["measure"].isin(measures)]
    different = rows[rows["verdict"] == DIFFERENT]
    on = f"({100 * round(1 - confidence, 10):g}% level, {_scenarios(rows)})"
    rest = "".join(f"; {each}" for each in _others(rows))
    if different.empty:
        return f"No difference is shown in {len(rows)} {_comparisons(len(rows))} {on}{rest}"
    has_one_pair = len(rows[["setting", "team_a", "team_b"]].drop_duplicates()) == 1
    clear = different.to_dict("records")
    named = [_named(entry, has_place=not has_one_pair) for entry in clear[:NAMED]]
    more = f", and {len(clear) - NAMED} more" if len(clear) > NAMED else ""
    return (
        f"{len(clear)} of {len(rows)} {_comparisons(len(rows))} differ {on}: "
        f"{', '.join(named)}{more}{rest}"
    )


def _comparisons(count: int) -> str:
    return "comparison" if count == 1 else "comparisons"


def _others(rows: pd.DataFrame) -> Iterator[str]:
    """Yield how many comparisons have another verdict, and why some have none."""
    for verdict in (TIED, NOT_TOLD_APART, IDENTICAL, NOT_TESTED):
        own = rows[rows["verdict"] == verdict]
        why = [word for word in REMARKS if (own["remark"] == word).any()]
        if len(own):
            reasons = f" ({', '.join(why)})" if why else ""
            yield f"{verdict}: {len(own)}{reasons}"


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
    within = f", {WITHIN_MARGIN}" if entry["remark"] == WITHIN_MARGIN else ""
    ends = sorted((-high, -low) if is_lower else (low, high))
    interval = "" if isnan(low) else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
    return (
        f"{place}{title} (B is {'lower' if is_lower else 'higher'} by "
        f"{abs(entry['difference']):.2f}{interval}{within})"
    )


def _place(entry: Mapping[Hashable, Any]) -> str:
    other = f" and {entry['team_b']}" if entry["team_a"] != entry["team_b"] else ""
    return f"{entry['setting']} {entry['team_a']}{other}, "
