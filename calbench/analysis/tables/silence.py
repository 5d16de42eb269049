"""Teams against those that say nothing, and the prices of failure at which teams cost the same."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from calbench.analysis.estimates import ScenarioSums, scenario_sums
from calbench.analysis.measures import team_values
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.comparisons import degenerate_teams
from calbench.analysis.tables.leaderboard import TEAMS
from calbench.analysis.verdicts import (
    NO_COMMON_SCENARIO,
    NOT_TESTED,
    TOO_FEW_SCENARIOS,
    Level,
    detectable_differences,
)
from calbench.facts.columns import columns
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.stats.differences import (
    Differences,
    crossings,
    paired_differences,
)
from calbench.stats.intervals import SAME_DIGITS, Sample, difference_of
from calbench.stats.resampling import holm_p_values
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums, exact_totals

SILENT, FIRST_FREE = "silent", "first-free"
"""Baselines that say nothing: one books nothing, the other its first free slots."""

BETTER, NO_BETTER = "better than silence", "no better than silence"

MEASURE = "adjusted_excess_cost"
"""In which teams are compared with silence: of all measures of cost it alone counts failures."""

OF_SILENCE, OF_FAILURES, PAID = "silence_cost", "failure_cost", "paid"


@lru_cache(maxsize=1)
def price_sums(facts: Facts, settings: Settings) -> ScenarioSums:
    """Return the sums by scenario of adjusted excess cost and its parts, of every team.

    ``paid`` is E / M, ``failure_cost`` the price of failures, and ``silence_cost`` that of failing
    every meeting of the same agent-games, which is all that a silent team costs.
    """
    del settings  # as every table's, a key of what is kept
    agents = facts.of_games("agents")
    adjusted = team_values(facts)[MEASURE]
    assigned = agents["assigned"].astype("float64").where(adjusted.notna())
    silence = agents["cost_range"].astype("float64") / assigned.where(assigned > 0)
    failures = silence * (1 - agents["scheduled"].astype("float64") / assigned)
    values = {MEASURE: adjusted, OF_SILENCE: silence, OF_FAILURES: failures}
    return scenario_sums(agents, ["team"], pd.DataFrame(values | {PAID: adjusted - failures}))


SILENCE = columns(f"""
    setting
    team (text): id of one that competes
    baseline (text; C): {SILENT}, which schedules and pays nothing, so that its cost on the team's
        own games is known whether or not it played; or {FIRST_FREE}, where it played
    measure (text; C): {MEASURE}, by which teams are ranked first
    scenarios (count, scenarios): those that count for both
    mean (number, accounting cost per meeting): of the team // agent-games of these scenarios
    baseline_mean (number, accounting cost per meeting): of the baseline // the same
    difference (estimate, accounting cost per meeting): mean less baseline_mean; below 0 the team
        costs less // the same
    p (number): one-sided, that the team costs less: paired permutation test over scenarios, of all
        swaps where few scenarios differ // common scenarios
    p_adjusted (number): Holm over the rows of the setting that are tested
    minimum_detectable_difference (number, accounting cost per meeting): how much less a team must
        truly cost to be found with the run's power by a one-sided paired t-test of these scenarios,
        not corrected; empty below three scenarios, and where all differ by the same // common
        scenarios
    verdict (text; C): {BETTER} (p_adjusted below 1 - confidence), {NO_BETTER} (not shown to be), or
        not tested
    remark (text; C): why a row is not tested: {NO_COMMON_SCENARIO}, or {TOO_FEW_SCENARIOS} for
        any outcome to be significant
    """)


@table("silence.csv", SILENCE, key="setting team baseline")
@lru_cache(maxsize=1)
def silence(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Whether teams are better than teams that say nothing, by a test of its own family.

    A silent team needs no game: what it would cost on the games of another is known. So every team
    that competes is compared with it.
    """
    sums, spec = price_sums(facts, settings), settings.analysis
    pairs = _against_silence(sums.groups, facts)
    if not pairs:
        return empty(SILENCE)
    sides = [(one, other) for one, other, _ in pairs]
    teams, silent = sums.of(MEASURE), sums.of(OF_SILENCE)
    every = Sums(*(np.hstack(parts) for parts in zip(teams, silent, strict=True)))
    found = paired_differences(every, sides, spec, is_less=True)
    means = np.array([_means_of_common(every, *side) for side in sides])
    rows = sums.groups.iloc[[one for one, _ in sides]][TEAMS].reset_index(drop=True)
    rows = rows.assign(
        baseline=[name for _, _, name in pairs],
        measure=MEASURE,
        scenarios=found.num_units,
        mean=means[:, 0],
        baseline_mean=means[:, 1],
        difference=found.value,
        difference_low=found.low,
        difference_high=found.high,
        difference_interval=found.kind.astype(object),
        p=found.p_value,
        minimum_detectable_difference=_detectable(found, spec),
    )
    return _judged(rows, Level.of(spec))


def _against_silence(teams: pd.DataFrame, facts: Facts) -> list[tuple[int, int, str]]:
    """Return the places of every team that competes and of its baselines, and their names.

    The silent team of each team comes behind all teams, in their order.
    """
    is_out, names = degenerate_teams(teams, facts), list(teams[TEAMS].itertuples(index=False))
    place_by_name = {tuple(name): place for place, name in enumerate(names) if is_out[place]}
    found = []
    for place, (setting, _) in enumerate(names):
        if not is_out[place]:
            found.append((place, len(names) + place, SILENT))
            if (other := place_by_name.get((setting, FIRST_FREE))) is not None:
                found.append((place, other, FIRST_FREE))
    return found


def _means_of_common(sums: Sums, one: int, other: int) -> tuple[float, float]:
    """Return both means over the scenarios that count for both; not a number without any."""
    is_common = (sums.counts[:, one] > 0) & (sums.counts[:, other] > 0)
    totals, counts = (exact_totals(part[is_common][:, [one, other]]) for part in sums)
    with np.errstate(invalid="ignore"):
        first, second = totals / counts
    return first, second


def _detectable(found: Differences, spec: AnalysisSpec) -> "pd.Series[float]":
    """Return what a one-sided test detects: what a two-sided one does at twice the level.

    Not a number where chance alone would reject that often, whatever the difference.
    """
    level = 2 * (1 - spec.confidence)
    one_sided = spec.model_copy(update={"confidence": 1 - level})
    spread = pd.Series(found.spread if level < spec.power else np.full_like(found.spread, np.nan))
    return detectable_differences(spread, pd.Series(found.num_units), one_sided)


def _judged(rows: pd.DataFrame, level: Level) -> pd.DataFrame:
    """Return rows with corrected p-values, verdicts and remarks.

    What no outcome could make significant is not tested: there, silence is not shown to be as good.
    """
    is_known = rows["scenarios"] > 0
    size = is_known.groupby(rows["setting"]).transform("sum")
    is_few = is_known & (size * 2.0 ** -rows["scenarios"] >= level.value)
    is_tested = is_known & ~is_few
    p_value = rows["p"].where(is_tested)
    adjusted = p_value.groupby(rows["setting"]).transform(lambda own: holm_p_values(own.to_numpy()))
    verdict = np.select([~is_tested, level.passes(adjusted)], [NOT_TESTED, BETTER], NO_BETTER)
    remark = np.select([is_few, ~is_known], [TOO_FEW_SCENARIOS, NO_COMMON_SCENARIO], "")
    return rows.assign(p=p_value, p_adjusted=adjusted, verdict=verdict, remark=remark)


@lru_cache(maxsize=1)
def beside_silence(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Return for every team what its failures cost, what silence costs, and which is no worse.

    Columns ``failure_cost``, ``silence_cost`` and ``no_better_than``: baselines that a team is not
    shown to be better than, separated by spaces; absent if there is none.
    """
    found = price_sums(facts, settings).means(settings.analysis)
    rows = silence(facts, settings)
    equal = rows[rows["verdict"] == NO_BETTER]
    named = equal.groupby(TEAMS, sort=False)["baseline"].agg(" ".join).rename("no_better_than")
    return found.merge(named.reset_index(), "left", TEAMS)


@table(
    "break_even.csv",
    """
    setting
    team_a (text): team id
    team_b (text): team id of a later one in the order of the tables
    scenarios (count, scenarios): those that count for both
    price (number, times the price in adjusted excess cost): of failed meetings at which both teams
        have the same adjusted excess cost: 1 is (Cmax - Cmin) / M for each; empty if there is none
        above 0, or both place the same
    price_low (number, times the price in adjusted excess cost): lower end of Fieller's interval
        over scenarios, at least 0; empty where no interval is bounded, and where there is no t
        interval
    price_high (number, times the price in adjusted excess cost): its upper end
    price_cost (number, accounting cost): price, times the mean price of a failed meeting of team_a
        // agent-games of these scenarios
    cheaper_below (text): which team has the lower mean where failed meetings are cheaper than the
        price, or at every price; empty if none has
    cheaper_above (text): which team has it where they are dearer, or at every price
    """,
    key="setting team_a team_b",
)
def break_even(facts: Facts, settings: Settings) -> pd.DataFrame:
    """The price of a failed meeting at which two teams have the same adjusted excess cost."""
    sums = price_sums(facts, settings)
    teams = sums.groups
    pairs = [
        pair
        for places in teams.groupby("setting").indices.values()
        for pair in combinations(map(int, places), 2)
    ]
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    paid, failed = (_gap(sums.of(name), first, second) for name in (PAID, OF_FAILURES))
    found = crossings(paid, failed, settings.analysis)
    gaps = [np.round(sample.value, SAME_DIGITS) for sample in (paid, failed)]
    is_price = found.price > 0
    ends = [np.where(is_price, np.maximum(end, 0.0), np.nan) for end in (found.low, found.high)]
    one, other = (teams["team"].to_numpy()[side] for side in (first, second))
    at_most = np.where(gaps[1] == 0, gaps[0], gaps[1])
    cheaper = [
        np.select([gap < 0, gap > 0], [one, other], "")
        for gap in (np.where(is_price, gaps[0], at_most), at_most)
    ]
    unit = beside_silence(facts, settings)[OF_SILENCE].to_numpy()[first]
    return pd.DataFrame(
        {
            "setting": teams["setting"].to_numpy()[first],
            "team_a": one,
            "team_b": other,
            "scenarios": paid.num_units,
            "price": np.where(is_price, found.price, np.nan),
            "price_low": ends[0],
            "price_high": ends[1],
            "price_cost": np.where(is_price, found.price * unit, np.nan),
            "cheaper_below": cheaper[0],
            "cheaper_above": cheaper[1],
        }
    )


def _gap(sums: Sums, first: Sequence[int], second: Sequence[int]) -> Sample:
    """Return what scenarios that count for both say about the first less the second mean."""
    is_common = (sums.counts[:, first] > 0) & (sums.counts[:, second] > 0)
    sides = (Sums(*(part[:, side] * is_common for part in sums)) for side in (first, second))
    return difference_of(*sides)
