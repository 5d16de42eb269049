"""Pairs of teams: differences, their intervals, tests and power."""

from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from calbench.analysis.estimates import ScenarioSums, scenario_sums
from calbench.analysis.measures import MEASURES, Measure, compared_values
from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import leaderboard
from calbench.analysis.tables.registry import table
from calbench.facts.columns import SETTING, count, estimated, number, text
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.stats.differences import paired_differences
from calbench.stats.permutation import adjusted_p_values
from calbench.stats.power import minimum_detectable_difference, required_units
from calbench.stats.spec import AnalysisSpec

UNIT = "unit of the measure"
COMMON = "scenarios that count for both teams"


COMPARISONS = (
    SETTING,
    text("team_a", "team id"),
    text("team_b", "team id of a later one in the order of the tables"),
    text("measure", f"one of {', '.join(measure.name for measure in MEASURES)}"),
    count("scenarios", "scenarios", "those that count for both teams"),
    *estimated(
        "difference",
        UNIT,
        "mean of team_a minus mean of team_b",
        f"agent-games that count, in {COMMON}",
        "C",
    ),
    number("p", "", "two-sided, paired permutation test over scenarios", COMMON),
    number("p_adjusted", "", "Benjamini-Hochberg over all rows of the table"),
    number(
        "minimum_detectable_difference",
        UNIT,
        "smallest true difference that the paired t-test detects with this many scenarios and the "
        "run's power, at a level of 1 - confidence; empty below three scenarios",
        COMMON,
    ),
    count(
        "required_scenarios",
        "scenarios",
        "sample size that detects a true difference of this size with that power; empty for a "
        "difference of zero",
    ),
)


@table("comparisons.csv", COMPARISONS, key="setting team_a team_b measure")
@lru_cache(maxsize=1)
def comparisons(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Paired differences between the teams of each setting, under every measure.

    Pairs without a common scenario that counts are left out, as is VPS that was measured in two
    ways, or for which more than half of a team's reflections could not be read. Resamples are those
    of the leaderboard.
    """
    agents = facts.of_games("agents")
    kinds = leaderboard(facts, settings).set_index(["setting", "team"])["vps_kind"]
    found = [
        _compared(sums, measure, kinds[sums.setting], settings.analysis)
        for sums in scenario_sums(agents, ["team"], compared_values(agents, ["team"]))
        for measure in MEASURES
    ]
    if not any(map(len, found)):
        return empty(COMPARISONS)
    rows = pd.concat(found, ignore_index=True)
    rows = rows.sort_values(["setting", "place_a", "place_b"], kind="stable", ignore_index=True)
    return rows.assign(p_adjusted=adjusted_p_values(rows["p"].to_numpy()))


def _compared(
    sums: ScenarioSums, measure: Measure, kinds: "pd.Series[str]", spec: AnalysisSpec
) -> pd.DataFrame:
    """Compare every two teams of a setting under one measure."""
    teams = sums.groups["team"].tolist()
    pairs = [
        (a, b)
        for a, b in combinations(range(len(teams)), 2)
        if measure.group != "privacy" or kinds[teams[a]] == kinds[teams[b]]
    ]
    found = paired_differences(sums.of(measure.name), pairs, spec, sums.setting)
    rows = pd.DataFrame(
        {
            "setting": sums.setting,
            "place_a": [a for a, _ in pairs],
            "place_b": [b for _, b in pairs],
            "team_a": [teams[a] for a, _ in pairs],
            "team_b": [teams[b] for _, b in pairs],
            "measure": measure.name,
            "scenarios": found.num_units,
            "difference": found.value,
            "difference_low": found.low,
            "difference_high": found.high,
            "p": found.p_value,
            "spread": found.spread,
        }
    )
    return _with_power(rows[rows["scenarios"] > 0], spec)


def _with_power(rows: pd.DataFrame, spec: AnalysisSpec) -> pd.DataFrame:
    """Return rows with the minimum detectable difference and the required sample size."""
    detectable, required = [], []
    for row in rows.to_dict("records"):
        spread = float(row["spread"])
        is_known = not np.isnan(spread)
        detectable.append(
            minimum_detectable_difference(spread, int(row["scenarios"]), spec) if is_known else None
        )
        required.append(
            required_units(float(row["difference"]), spread, spec) if is_known else None
        )
    return rows.assign(
        minimum_detectable_difference=pd.Series(detectable, rows.index, dtype="float64"),
        required_scenarios=pd.Series(required, rows.index, dtype="Int64"),
    )
