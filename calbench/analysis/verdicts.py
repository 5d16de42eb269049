"""What a paired comparison shows, in words: different, tied, or neither [C].

"Tied" is a claim like "different": it says that the difference was shown to be smaller than the
measure's margin. Where neither is shown, teams are not told apart, which claims nothing.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.measures import MIXED
from calbench.facts.columns import DIGITS, UNIT, columns
from calbench.stats.differences import minimum_detectable_difference
from calbench.stats.resampling import adjusted_p_values
from calbench.stats.spec import AnalysisSpec

DIFFERENT = "different"
TIED = "tied"
NOT_TOLD_APART = "not told apart"
IDENTICAL = "identical"
NOT_TESTED = "not tested"
VERDICTS = (DIFFERENT, TIED, NOT_TOLD_APART, IDENTICAL, NOT_TESTED)

DEGENERATE_TEAM = "degenerate team"
TWO_INSTRUMENTS = "two instruments"
NO_COMMON_SCENARIO = "no common scenario"
NOT_MEASURED = ("not measured for A", "not measured for B")
TOO_FEW_SCENARIOS = "too few scenarios"
TOO_FEW_READ = "too few reflections read"
WITHIN_MARGIN = "within the margin"
REMARKS = (
    DEGENERATE_TEAM, TWO_INSTRUMENTS, TOO_FEW_READ, NO_COMMON_SCENARIO, *NOT_MEASURED,
    TOO_FEW_SCENARIOS, WITHIN_MARGIN,
)  # fmt: skip

DEGENERATE = "degenerate"
"""Kind of the players of baselines that are compared with nobody."""

FAMILY = "Benjamini-Hochberg over all rows of the table that are tested"

VERDICT_COLUMNS = columns(f"""
    p (number): two-sided, paired permutation test over scenarios // common scenarios
    p_adjusted (number): {FAMILY}
    margin (number, {UNIT}): differences below it are called none
    p_equivalent (number): the least 1 - confidence whose t interval of the difference lies within
        the margin: two one-sided paired t-tests; empty if over 60 percent of the scenarios have one
        difference, or there are too few // common scenarios
    p_equivalent_adjusted (number): {FAMILY}
    verdict (text; C): different (p_adjusted below 1 - confidence), tied (p_equivalent_adjusted
        below it: shown to differ by less than the margin), not told apart, identical (no scenario
        differs), not tested
    remark (text; C): why a pair is not tested: {", ".join(REMARKS[:-1])}; or {WITHIN_MARGIN}:
        different, but shown to differ by less than the margin
    minimum_detectable_difference (number, {UNIT}): smallest true difference that the paired t-test
        detects with this many scenarios and the run's power, at a level of 1 - confidence; empty
        below three scenarios, where all differ by the same, and for degenerate teams // common
        scenarios
    """)
"""Of every table that compares teams."""


class Level(NamedTuple):
    """Level of tests: p-values below it, as tables show them, are significant."""

    value: float

    @classmethod
    def of(cls, spec: AnalysisSpec) -> "Level":
        """Return one minus the confidence."""
        return cls(round(1 - spec.confidence, 10))

    def passes(self, p_values: "pd.Series[float]") -> "pd.Series[bool]":
        """Whether p-values are below it; unknown ones are not."""
        return p_values.round(DIGITS) < self.value

    def can_pass(self, num_scenarios: "pd.Series[float]") -> "pd.Series[bool]":
        """Whether the least p-value of a permutation test on so many scenarios is below it."""
        return 2.0 ** (1 - num_scenarios) < self.value


def are_unlike(kind_a: str, kind_b: str) -> bool:
    """Whether two losses were measured by different instruments, or one of them by several."""
    return kind_a != kind_b or kind_a == MIXED


def with_verdicts(rows: pd.DataFrame, spec: AnalysisSpec) -> pd.DataFrame:
    """Return comparisons with adjusted p-values, verdicts and remarks.

    Rows that are not tested, and those in which no scenario differs, have no p-value and are in no
    family: whatever the swaps, a permutation test cannot reject them.

    Args:
        rows: with ``scenarios``, ``spread`` of the differences, ``p``, ``p_equivalent``,
            ``is_identical``, and ``remark``: why a pair must not be tested, empty if nothing speaks
            against it.
        spec: confidence and power.
    """
    level = Level.of(spec)
    remark = rows["remark"].astype(object)
    remark = remark.mask((remark == "") & ~(rows["scenarios"] > 0), NO_COMMON_SCENARIO)
    is_identical = (remark == "") & rows["is_identical"].astype(bool)
    is_few = (remark == "") & ~is_identical & ~level.can_pass(rows["scenarios"])
    remark = remark.mask(is_few, TOO_FEW_SCENARIOS)
    is_tested = (remark == "") & ~is_identical
    tests = {}
    for name in ("p", "p_equivalent"):
        tests[name] = rows[name].where(is_tested)
        tests[f"{name}_adjusted"] = pd.Series(
            adjusted_p_values(tests[name].to_numpy()), rows.index, dtype="float64"
        )
    is_different = level.passes(tests["p_adjusted"])
    is_equivalent = level.passes(tests["p_equivalent_adjusted"])
    verdict = np.select(
        [~is_tested & ~is_identical, is_identical, is_different, is_equivalent],
        [NOT_TESTED, IDENTICAL, DIFFERENT, TIED],
        NOT_TOLD_APART,
    )
    is_baseline = remark == DEGENERATE_TEAM
    remark = remark.mask(is_different & is_equivalent, WITHIN_MARGIN)
    spread = rows["spread"].mask(is_baseline)
    detectable = detectable_differences(spread, rows["scenarios"], spec)
    return rows.assign(
        **tests, verdict=verdict, remark=remark, minimum_detectable_difference=detectable
    )


def detectable_differences(
    spread: "pd.Series[float]", scenarios: "pd.Series[float]", spec: AnalysisSpec
) -> "pd.Series[float]":
    """Return the minimum detectable difference of each row; not a number without a spread."""
    found = [
        None if np.isnan(each) else minimum_detectable_difference(each, int(number), spec)
        for each, number in zip(spread.tolist(), scenarios.tolist(), strict=True)
    ]
    return pd.Series(found, spread.index, dtype="float64")
