"""Pairs of teams: differences, their intervals, tests, verdicts and power."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from calbench.analysis.estimates import ENDS, Limits, ScenarioSums, column_bounds
from calbench.analysis.measures import (
    BEYOND,
    BOUNDS,
    MEASURES,
    PRIVACY_MEASURES,
    REFLECTED,
    Measure,
)
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.leaderboard import TEAMS, leaderboard, team_sums
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
from calbench.facts.columns import UNIT, columns
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.stats.differences import (
    equivalence,
    paired_differences,
    required_units,
)
from calbench.stats.intervals import NONE
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums

CELLS_AT_ONCE = 2_000_000
"""Scenarios, times pairs, times measures, that are compared at once: bounds memory [C]."""

COMMON = "scenarios that count for both teams"


NEVER_SUBTRACTED = [
    "scenarios", "difference", "difference_low", "difference_high", "margin", "spread"
]  # fmt: skip
"""Columns that are empty where two instruments measured the losses."""

COMPARISONS = columns(
    f"""
    setting
    team_a (text): team id
    team_b (text): team id of a later one in the order of the tables
    measure (text): one of {", ".join(measure.name for measure in MEASURES)}
    scenarios (count, scenarios): those that count for both
    difference (estimate, {UNIT}): mean of team_a minus mean of team_b; empty for losses that two
        instruments measured // agent-games that count, in {COMMON}
    verdict_columns
    required_scenarios (count, scenarios): sample size that detects a true difference of this size
        with that power; empty for a difference of zero, and where the other is empty for another
        reason than few scenarios
    """,
    verdict_columns=VERDICT_COLUMNS,
)


@table("comparisons.csv", COMPARISONS, key="setting team_a team_b measure")
@lru_cache(maxsize=1)
def comparisons(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Paired differences between the teams of each setting, under every measure.

    Pairs that are not tested are listed too, with a remark why: VPS of two instruments has no
    difference, degenerate teams have no test, and VPS of which more than half of a team's
    reflections could not be read is not compared. Only what nobody of a pair can have is left out:
    two teams of typed messages have nothing beyond chance.
    """
    sums = team_sums(facts, settings)
    remarks = _remarks(sums.groups, facts, settings)
    if not remarks:
        return empty(COMPARISONS)
    board = sums.groups.merge(leaderboard(facts, settings), "left", TEAMS)
    is_out = np.outer(~board["is_vps_ranked"], np.isin(sums.quantities, PRIVACY_MEASURES))
    sums = replace(
        sums, totals=np.where(is_out, 0.0, sums.totals), counts=np.where(is_out, 0.0, sums.counts)
    )
    rows = compared(sums, MEASURES, remarks, settings.analysis)
    spoken = pd.MultiIndex.from_frame(board.loc[board["vps_kind"].isin(REFLECTED), TEAMS])
    sides = (rows[["setting", "team_a"]], rows[["setting", "team_b"]])
    is_in = np.any([pd.MultiIndex.from_frame(side).isin(spoken) for side in sides], axis=0)
    rows = rows[(rows["measure"] != BEYOND) | is_in]
    rows = with_verdicts(without_numbers(rows), settings.analysis)
    sizes = rows[["difference", "spread"]].itertuples(index=False, name=None)
    required = [
        None if np.isnan(spread) else required_units(gap, spread, settings.analysis)
        for gap, spread in sizes
    ]
    return rows.assign(required_scenarios=pd.Series(required, rows.index, dtype="Int64"))


def _remarks(
    teams: pd.DataFrame, facts: Facts, settings: Settings
) -> dict[tuple[int, int], list[str]]:
    """Return why each two teams of a setting must not be tested under each measure, if so.

    Args:
        teams: of all settings.
        facts: of the run.
        settings: of the estimates.
    """
    board = teams.merge(leaderboard(facts, settings), "left", TEAMS)
    is_baseline = degenerate_teams(teams, facts)
    kinds, is_ranked = board["vps_kind"].tolist(), board["is_vps_ranked"].tolist()

    def remark(a: int, b: int, measure: Measure) -> str:
        if measure.group == "privacy":
            if pd.isna(kinds[a]) or pd.isna(kinds[b]):
                return NO_COMMON_SCENARIO
            if are_unlike(kinds[a], kinds[b]):
                return TWO_INSTRUMENTS
            if not (is_ranked[a] and is_ranked[b]):
                return TOO_FEW_READ
        return DEGENERATE_TEAM if is_baseline[a] or is_baseline[b] else ""

    return {
        (a, b): [remark(a, b, measure) for measure in MEASURES]
        for places in teams.groupby("setting").indices.values()
        for a, b in combinations(map(int, places), 2)
    }


def degenerate_teams(teams: pd.DataFrame, facts: Facts) -> list[bool]:
    """Return which teams, of all settings, have degenerate players only."""
    seats = facts.of_games("agents").groupby(TEAMS)["kind"]
    baselines = seats.unique().map(lambda kinds: list(kinds) == [DEGENERATE])
    return list(baselines.loc[pd.MultiIndex.from_frame(teams[TEAMS])])


def compared(
    sums: ScenarioSums,
    measures: Sequence[Measure],
    remarks: Mapping[tuple[int, int], Sequence[str]],
    spec: AnalysisSpec,
    cells_at_once: int = CELLS_AT_ONCE,
) -> pd.DataFrame:
    """Compare pairs of teams under some measures, pair after pair.

    Args:
        sums: what scenarios add to the measures, by ``team``.
        measures: each with its margin.
        remarks: by the places of both teams in ``sums``, why the pair must not be tested under
            each measure; empty if it may.
        spec: of the estimates.
        cells_at_once: bounds memory; the rows do not depend on it.
    """
    pairs = list(remarks)
    at_once = max(1, cells_at_once // (len(sums.totals) * len(measures)))
    found = [
        _compared(sums, measures, pairs[start : start + at_once], remarks, spec)
        for start in range(0, len(pairs), at_once)
    ]
    return pd.concat(found, ignore_index=True)


def _compared(
    sums: ScenarioSums,
    measures: Sequence[Measure],
    pairs: Sequence[tuple[int, int]],
    remarks: Mapping[tuple[int, int], Sequence[str]],
    spec: AnalysisSpec,
) -> pd.DataFrame:
    """Compare some pairs; arguments as in :func:`compared`."""
    quantities = sums.quantities
    places = [quantities.index(measure.name) for measure in measures]
    sides = np.repeat(pairs, len(measures), axis=0)
    columns = sides * len(quantities) + np.tile(places, len(pairs))[:, np.newaxis]
    remark = [each for pair in pairs for each in remarks[pair]]
    found = paired_differences(
        sums.columns,
        columns.tolist(),
        spec,
        bounds=column_bounds(quantities, BOUNDS, len(sums.groups)),
        exact=sums.is_exact.ravel(),
        is_tested=np.array([not each for each in remark], dtype=np.bool_),
    )
    first, second = (
        Sums(*(each[:, own] for each in sums.columns)) for own in (columns[:, 0], columns[:, 1])
    )
    margin = np.tile([measure.margin for measure in measures], len(pairs))
    alike = equivalence(first, second, margin)
    teams = sums.groups["team"].to_numpy()[sides]
    return pd.DataFrame(
        {
            "setting": sums.groups["setting"].to_numpy()[sides[:, 0]],
            "team_a": teams[:, 0],
            "team_b": teams[:, 1],
            "measure": [measure.name for measure in measures] * len(pairs),
            "scenarios": found.num_units.astype(np.float64),
            "difference": found.value,
            "difference_low": found.low,
            "difference_high": found.high,
            "difference_interval": found.kind.astype(object),
            "p": found.p_value,
            "margin": margin,
            "p_equivalent": alike.p_value,
            "is_identical": alike.is_identical,
            "spread": found.spread,
            "remark": remark,
        }
    )


def beside_base(
    sums: ScenarioSums,
    measures: Sequence[Measure],
    remarks: Sequence[str],
    spec: AnalysisSpec,
    names: tuple[str, str],
    bounds: Limits = BOUNDS,
) -> pd.DataFrame:
    """Compare the second of two teams with the first, its base, and return both means, too.

    Args:
        sums: what scenarios add to the measures, of both.
        measures: each with its margin.
        remarks: why a measure must not be tested, as in :func:`compared`.
        spec: of the estimates.
        names: of the columns with the mean of the base, and with that of the other.
        bounds: least and greatest value that is possible.
    """
    means = sums.means(spec, bounds=bounds)
    sides = {
        f"{side}{end}": [means[f"{measure.name}{end}"].iloc[place] for measure in measures]
        for place, side in enumerate(names)
        for end in ENDS
    }
    units = [measure.unit for measure in measures]
    return compared(sums, measures, {(1, 0): remarks}, spec).assign(unit=units, **sides)


def without_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows without what must not be said of pairs that are not tested."""
    rows = rows.copy()
    is_unlike = rows["remark"] == TWO_INSTRUMENTS
    rows.loc[is_unlike, NEVER_SUBTRACTED] = np.nan
    rows.loc[is_unlike, "difference_interval"] = NONE
    rows.loc[rows["remark"] == DEGENERATE_TEAM, "spread"] = np.nan
    return rows
