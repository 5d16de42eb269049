"""Agreement of judge and reflections: the statistics of Table 17 and of appendix I.4."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.judge import (
    ALL_SETTINGS,
    JUDGE,
    judged_games,
    target_precisions,
    with_all_settings,
)
from calbench.facts.columns import DIGITS, number
from calbench.facts.frames import rounded
from calbench.facts.storage import Facts
from calbench.stats import agreement
from calbench.stats.agreement import (
    Chance,
    Intervals,
    Statistic,
    chance_agreement,
    jackknife_intervals,
    ratio,
    spread_evenly,
)
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Truths, rounded_sums

CELL_COUNTS: Mapping[str, Statistic] = {
    "union_cells": agreement.cells,
    "judge_nonzero": agreement.first_nonzero,
    "reflection_nonzero": agreement.second_nonzero,
    "both_nonzero": agreement.both_nonzero,
    "same_direction": agreement.same_direction,
}
"""Counts of Table 17; ``same_direction`` is the numerator of a share."""

DIRECTION = "directional_agreement"

CELL_SHARES: Mapping[str, Statistic] = {
    "jaccard": agreement.jaccard,
    "judge_coverage": agreement.first_coverage,
    "reflection_coverage": agreement.second_coverage,
    DIRECTION: agreement.directional_agreement,
    "kappa": agreement.kappa,
    "pearson": agreement.pearson,
    "pearson_both": agreement.pearson_both,
}
"""The other statistics of Table 17, in its order."""

LEAST: Mapping[str, float] = dict.fromkeys(
    ("kappa", "pearson", "pearson_both", "mean_gap", "mean_gap_judge_more_precise"), -1.0
)
"""Least possible value of the statistics that are no shares."""

PRECISION_SUMS = (
    "judge_movements",
    "judge_toward",
    "reflection_movements",
    "reflection_toward",
    "joined_targets",
    "judge_more_precise",
    "reflection_more_precise",
    "tied",
    "gap",
    "gap_judge_more_precise",
)
"""Sums over targets on which the statistics of appendix I.4 rest."""


def _sum_of(name: str) -> Statistic:
    place = PRECISION_SUMS.index(name)
    return lambda sums: np.asarray(sums[..., place])


def _share_of(part: str, whole: str) -> Statistic:
    return lambda sums: ratio(_sum_of(part)(sums), _sum_of(whole)(sums))


@dataclass(frozen=True)
class Unit:
    """Something on which judge and reflection may agree: cells, movements or targets.

    Attributes:
        name: as in the table.
        counts: statistics without an interval.
        shares: statistics with one.
        cells: fact with its cells, if any.
    """

    name: str
    counts: Mapping[str, Statistic]
    shares: Mapping[str, Statistic]
    cells: str = ""


UNITS = (
    Unit("cell", CELL_COUNTS, CELL_SHARES, "cells"),
    Unit("round_cell", CELL_COUNTS, CELL_SHARES, "round_cells"),
    Unit(
        "movement",
        {name: _sum_of(name) for name in PRECISION_SUMS[:4]},
        {
            "judge_precision": _share_of("judge_toward", "judge_movements"),
            "reflection_precision": _share_of("reflection_toward", "reflection_movements"),
        },
    ),
    Unit(
        "game_target",
        {name: _sum_of(name) for name in PRECISION_SUMS[4:8]},
        {
            "judge_more_precise_share": _share_of("judge_more_precise", "joined_targets"),
            "mean_gap": _share_of("gap", "joined_targets"),
            "mean_gap_judge_more_precise": _share_of(
                "gap_judge_more_precise", "judge_more_precise"
            ),
        },
    ),
)
"""In the order of the table."""


@table(
    "judge/judge_agreement.csv",
    f"""
    judge
    setting (text): setting of the scenarios, or all of the run's: {ALL_SETTINGS}
    team
    unit (text; F: cell; C: round_cell): what is compared: cell (game, observer, target, slot;
        rounds summed), round_cell (the same with the round), movement, or game_target
    statistic (text; P, by_chance C): of Table 17 for cells, of appendix I.4 for movements and
        game-targets; by_chance: directional agreement with reflections of other games
    value
    value_low (number): lower end of the t interval over what scenarios contribute
    value_high (number): upper end; counts have no interval
    value_interval (text; C): t, or why there is none: few (below {agreement.LEAST_UNITS} scenarios
        that have a value; below {agreement.LEAST_CORRELATED} for pearson, pearson_both), same (one
        contribution of too many scenarios); empty for counts, by_chance, and without a value
    scenarios (count, scenarios): with an answer to compare
    p_value (number): of directional agreement: one-sided permutation test over whole games of a
        setting
    """,
    key="setting team unit statistic",
    needs="judged",
    of=[JUDGE, number("value", "", "a count, or a number of at most 1", "", "P", None)],
)
def judge_agreement(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Agreement of the judge and the reflections of each team, and agreement by chance."""
    games = judged_games(facts)
    compared = games[games["is_reflected"].astype(bool)]
    if compared.empty:
        return
    samples = _samples(compared)
    parts: dict[tuple[str, str], list[tuple[object, ...]]] = {key: [] for key in samples}
    for unit in UNITS:
        cells = Cells(facts, unit.cells, compared) if unit.cells else None
        sums = _precision_sums(facts, compared) if cells is None else cells.sums
        ranges = [(each, LEAST.get(name, 0.0)) for name, each in unit.shares.items()]
        for (setting, team), sample in samples.items():
            own = _by_scenario(sums, sample)
            found = jackknife_intervals(own, ranges, settings.analysis)
            chance = None
            if cells is not None and setting != ALL_SETTINGS:
                chance = cells.chance(sample, settings.analysis, "judge", setting, unit.name)
            named = (setting, team, unit.name, len(own))
            rows = _rows(unit, own.sum(axis=0), found, chance)
            parts[setting, team] += [(*named, *row) for row in rows]
    columns = ["setting", "team", "unit", "scenarios", "statistic", "value", "value_low",
               "value_high", "value_interval", "p_value"]  # fmt: skip
    for listed in parts.values():
        yield pd.DataFrame(listed, columns=columns).assign(judge=compared["judge"].iloc[0])


def _samples(compared: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the compared games of each team and setting, with their ``place`` among all.

    In the order of tables, followed by the teams of several settings over all of them.
    """
    placed = with_all_settings(compared.assign(place=np.arange(len(compared))))
    by_team = placed.groupby(["setting", "team"], sort=False)
    return {(str(setting), str(team)): own for (setting, team), own in by_team}


def _by_scenario(sums: Floats, sample: pd.DataFrame) -> Floats:
    """Return the sums of a team's games, ``[scenario, sum]``."""
    scenarios, _ = pd.factorize(sample["scenario_id"], sort=True)
    spread = np.zeros((int(scenarios.max(initial=-1)) + 1, sums.shape[1]))
    np.add.at(spread, scenarios, sums[sample["place"]])
    return spread


def _rows(
    unit: Unit, total: Floats, found: Intervals, chance: Chance | None
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a team in one unit: statistic, value, its interval, p-value.

    The level of directional agreement by chance follows it.
    """
    for name, each in unit.counts.items():
        yield name, str(int(each(total))), np.nan, np.nan, None, np.nan
    level, p_value = (np.nan, np.nan) if chance is None else chance
    estimates = zip(unit.shares, *found, strict=True)
    for name, value, low, high, kind in estimates:
        is_tested = name == DIRECTION
        yield name, _shown(value), low, high, kind, p_value if is_tested else np.nan
        if is_tested:
            yield "by_chance", _shown(level), np.nan, np.nan, "", np.nan


def _shown(value: float) -> str | None:
    return None if np.isnan(value) else rounded(float(value), DIGITS)


class Cells:
    """The cells of one unit, of all compared games.

    Attributes:
        sums: over each game's cells, ``[game, sum]``.
    """

    def __init__(self, facts: Facts, unit: str, compared: pd.DataFrame) -> None:
        """Read the cells.

        Args:
            facts: of judged games.
            unit: the fact's name without ``judged_``; also the column that counts its cells.
            compared: the games, by number.
        """
        where = ["observer_agent", "target_agent", "slot"]
        if unit == "round_cells":
            where = ["round", *where]
        rank = pd.Series(np.arange(len(compared)), compared.index)
        dealt = _dealt(compared)
        sums = np.zeros((len(compared), agreement.NUM_SUMS))
        signs = []
        for batch in facts.batches(f"judged_{unit}", [*where, "judge_delta", "reflection_delta"]):
            rows = batch.astype("int64")
            places = rank.loc[rows["game"]].to_numpy()
            deltas = rows["judge_delta"].to_numpy(), rows["reflection_delta"].to_numpy()
            sums += agreement.cell_sums(*deltas, places, len(compared))
            judge, reflection = (np.sign(each).astype(np.int8) for each in deltas)
            marked = rows[where].assign(place=places, judge=judge, reflection=reflection)
            signs.append(marked[dealt[places]].astype(dict.fromkeys(where, "int32")))
        self.sums = agreement.with_zeros(sums, compared[unit].to_numpy(dtype=np.int64))
        self._signs = pd.concat(signs) if signs else None
        self._where, self._dealt = where, dealt

    def chance(self, sample: pd.DataFrame, spec: AnalysisSpec, *names: int | str) -> Chance | None:
        """Test directional agreement of a team's games against chance."""
        if self._signs is None:
            return None
        places = sample["place"].to_numpy()
        places = places[self._dealt[places]]
        own = self._signs[self._signs["place"].isin(places)]
        cell = own.groupby(self._where, sort=False).ngroup().to_numpy()
        shape = (len(places), cell.max(initial=-1) + 1)
        judge, reflection = np.zeros(shape), np.zeros(shape)
        game = np.searchsorted(places, own["place"].to_numpy())
        judge[game, cell] = own["judge"].to_numpy()
        reflection[game, cell] = own["reflection"].to_numpy()
        return chance_agreement(judge, reflection, spec, *names)


def _dealt(compared: pd.DataFrame) -> Truths:
    """Return which games are in the test against chance: a bounded number per team and setting."""
    dealt = np.zeros(len(compared), dtype=bool)
    for places in compared.groupby(["setting", "team"], sort=False).indices.values():
        dealt[places[spread_evenly(len(places))]] = True
    return dealt


def _precision_sums(facts: Facts, compared: pd.DataFrame) -> Floats:
    """Return the sums of :data:`PRECISION_SUMS` over each game's targets, ``[game, sum]``."""
    targets = target_precisions(facts)
    own = targets[targets["game"].isin(compared.index)]
    joined = own["gap"].notna()
    terms = own[[*PRECISION_SUMS[:4]]].assign(
        joined_targets=joined,
        judge_more_precise=own["more_precise"] == "judge",
        reflection_more_precise=own["more_precise"] == "reflection",
        tied=own["more_precise"] == "tied",
        gap=own["gap"].where(joined, 0.0),
        gap_judge_more_precise=own["gap"].where(own["more_precise"] == "judge", 0.0),
    )
    sums = terms.astype("float64").groupby(own["game"]).sum()
    found = sums.reindex(compared.index)[list(PRECISION_SUMS)].to_numpy()
    return rounded_sums(found)
