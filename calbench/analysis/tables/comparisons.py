"""Pairs of teams: differences, their intervals, tests, verdicts and power."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from calbench.analysis.certainties import exact_values
from calbench.analysis.estimates import ScenarioSums, column_bounds, scenario_sums
from calbench.analysis.measures import BOUNDS, MEASURES, Measure, compared_values
from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import TEAMS, leaderboard
from calbench.analysis.tables.registry import table
from calbench.analysis.verdicts import (
    DEGENERATE,
    DEGENERATE_TEAM,
    NO_COMMON_SCENARIO,
    TOO_FEW_READ,
    TWO_INSTRUMENTS,
    VERDICT_COLUMNS,
    are_unlike,
    with_verdicts,
)
from calbench.facts.columns import SETTING, count, estimated, number, text
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.stats.differences import paired_differences
from calbench.stats.equivalence import Equivalence, equivalence
from calbench.stats.intervals import NONE
from calbench.stats.power import minimum_detectable_difference, required_units
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums

UNIT = "unit of the measure"
COMMON = "scenarios that count for both teams"


NEVER_SUBTRACTED = [
    "scenarios", "difference", "difference_low", "difference_high", "margin", "spread"
]  # fmt: skip
"""What stands of no two losses that two instruments measured."""

COMPARISONS = (
    SETTING,
    text("team_a", "team id"),
    text("team_b", "team id of a later one in the order of the tables"),
    text("measure", f"one of {', '.join(measure.name for measure in MEASURES)}"),
    count("scenarios", "scenarios", "those that count for both"),
    *estimated(
        "difference",
        UNIT,
        "mean of team_a minus mean of team_b; empty for losses that two instruments measured",
        f"agent-games that count, in {COMMON}",
        "C",
    ),
    *VERDICT_COLUMNS,
    number(
        "minimum_detectable_difference",
        UNIT,
        "smallest true difference that the paired t-test detects with this many scenarios and the "
        "run's power, at a level of 1 - confidence; empty below three scenarios, where all differ "
        "by the same, and for degenerate teams",
        COMMON,
    ),
    count(
        "required_scenarios",
        "scenarios",
        "sample size that detects a true difference of this size with that power; empty for a "
        "difference of zero, and where the other is empty for another reason than few scenarios",
    ),
)


@table("comparisons.csv", COMPARISONS, key="setting team_a team_b measure")
@lru_cache(maxsize=1)
def comparisons(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Paired differences between the teams of each setting, under every measure.

    Pairs that are not tested stand too, with a remark why: VPS of two instruments has no
    difference, degenerate teams have no test, and VPS of which more than half of a team's
    reflections could not be read is not compared.
    """
    agents = facts.of_games("agents")
    board = leaderboard(facts, settings)[[*TEAMS, "vps_kind", "is_vps_ranked"]]
    boards = {setting: own.set_index("team") for setting, own in board.groupby("setting")}
    values = compared_values(agents, ["team"])
    exact = exact_values(facts, agents, settings.measure.vps_floor)
    baselines = agents["kind"].eq(DEGENERATE).groupby([agents[name] for name in TEAMS]).all()
    degenerate = {(str(setting), str(team)) for setting, team in baselines.index[baselines]}
    found = [
        compared(
            sums,
            measure,
            _remarks(sums, measure, boards[sums.setting], degenerate),
            settings.analysis,
        )
        for sums in scenario_sums(agents, ["team"], values, exact=exact)
        for measure in MEASURES
    ]
    if not any(map(len, found)):
        return empty(COMPARISONS)
    rows = pd.concat(found, ignore_index=True)
    rows = rows.sort_values(["setting", "place_a", "place_b"], kind="stable", ignore_index=True)
    return with_verdicts(_with_power(without_numbers(rows), settings.analysis), settings.analysis)


def _remarks(
    sums: ScenarioSums,
    measure: Measure,
    board: pd.DataFrame,
    degenerate: AbstractSet[tuple[str, str]],
) -> dict[tuple[int, int], str]:
    """Return why each two teams of a setting must not be tested; empty if they may."""

    def remark(a: str, b: str) -> str:
        if measure.group == "privacy":
            if pd.isna(kinds[a]) or pd.isna(kinds[b]):
                return NO_COMMON_SCENARIO
            if are_unlike(kinds[a], kinds[b]):
                return TWO_INSTRUMENTS
            if not (is_ranked[a] and is_ranked[b]):
                return TOO_FEW_READ
        is_baseline = any((sums.setting, team) in degenerate for team in (a, b))
        return DEGENERATE_TEAM if is_baseline else ""

    kinds, is_ranked = board["vps_kind"], board["is_vps_ranked"]
    teams = sums.groups["team"].tolist()
    pairs = combinations(range(len(teams)), 2)
    return {(a, b): remark(teams[a], teams[b]) for a, b in pairs}


def compared(
    sums: ScenarioSums,
    measure: Measure,
    remarks: dict[tuple[int, int], str],
    spec: AnalysisSpec,
) -> pd.DataFrame:
    """Compare pairs of teams of a setting under one measure.

    Args:
        sums: what scenarios add to it, by ``team``.
        measure: with its margin.
        remarks: by the places of both teams in ``sums``, why the pair must not be tested.
        spec: of the estimates.
    """
    teams, pairs = sums.groups["team"].tolist(), list(remarks)
    found = paired_differences(
        sums.of(measure.name),
        pairs,
        spec,
        bounds=column_bounds([measure.name], BOUNDS, len(teams)),
        exact=sums.is_exact[:, sums.quantities.index(measure.name)],
        is_tested=np.array([not each for each in remarks.values()], dtype=np.bool_),
    )
    alike = _equivalence(sums.of(measure.name), pairs, measure.margin)
    return pd.DataFrame(
        {
            "setting": sums.setting,
            "place_a": [a for a, _ in pairs],
            "place_b": [b for _, b in pairs],
            "team_a": [teams[a] for a, _ in pairs],
            "team_b": [teams[b] for _, b in pairs],
            "measure": measure.name,
            "scenarios": found.num_units.astype(np.float64),
            "difference": found.value,
            "difference_low": found.low,
            "difference_high": found.high,
            "difference_interval": found.kind.astype(object),
            "p": found.p_value,
            "margin": measure.margin,
            "p_equivalent": alike.p_value,
            "is_identical": alike.is_identical,
            "spread": found.spread,
            "remark": list(remarks.values()),
        }
    )


def _equivalence(sums: Sums, pairs: Sequence[tuple[int, int]], margin: float) -> Equivalence:
    """Test whether the means of pairs of columns are closer than a margin."""
    first, second = (
        Sums(sums.totals[:, places], sums.counts[:, places])
        for places in ([pair[side] for pair in pairs] for side in (0, 1))
    )
    return equivalence(first, second, margin)


def without_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows without what must not be said of pairs that are not tested."""
    rows = rows.copy()
    is_unlike = rows["remark"] == TWO_INSTRUMENTS
    rows.loc[is_unlike, NEVER_SUBTRACTED] = np.nan
    rows.loc[is_unlike, "difference_interval"] = NONE
    rows.loc[rows["remark"] == DEGENERATE_TEAM, "spread"] = np.nan
    return rows


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
