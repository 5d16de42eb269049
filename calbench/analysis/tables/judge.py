"""The judge of messages, reflections and the primary measure (appendix I)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from calbench.analysis.estimates import ENDS, ScenarioSums, scenario_sums
from calbench.analysis.measures import MIXED, joint_kind
from calbench.analysis.registry import Settings, table
from calbench.facts.columns import (
    GAME_ID,
    OBSERVER,
    ROUND,
    SLOTS,
    TARGET,
    TRACE_PATH,
    chosen,
    columns,
    estimated,
    fine,
    text,
)
from calbench.facts.frames import empty
from calbench.facts.judged import JUDGED, JUDGED_CELLS, JUDGED_TARGETS, STEPS
from calbench.facts.storage import Facts
from calbench.metrics.privacy.reflection import GREATEST_MOVEMENT
from calbench.stats.sums import exact_totals

JUDGE = text("judge", "scripted (no language model), or the player id of a model", "C")

_BELIEF = (
    JUDGE,
    TRACE_PATH,
    GAME_ID,
    ROUND,
    TARGET,
    OBSERVER,
    *chosen(JUDGED.columns, "slot delta"),
    fine("slot_equivalents", SLOTS, "|delta| / 3", "", "P"),
)
_BELIEF_KEY = "trace_path round target_agent observer_agent slot"


def judged_games(facts: Facts) -> pd.DataFrame:
    """Return the scored games with their judge and the paths of their traces."""
    names = facts.scored[["setting", "team", "scenario_id", "game_id", "trace_path"]]
    return names.join(facts.frame("judged_games").set_index("game"))


def _named(rows: pd.DataFrame, games: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the judge, the path and the id of their games."""
    names = games.loc[rows["game"], ["judge", "trace_path", "game_id"]]
    return pd.concat([names.reset_index(drop=True), rows.reset_index(drop=True)], axis="columns")


@table("judge/judge_beliefs.parquet", _BELIEF, key=_BELIEF_KEY, needs="judged")
def judge_beliefs(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Every movement of a belief according to the judge, without the truth."""
    return judge_beliefs_calibrated(facts, settings)


@table(
    "judge/judge_beliefs_calibrated.parquet",
    """
    belief is_occupied is_toward_truth
    calibrated (fine, slot-equivalents; P): slot_equivalents if toward the truth, else 0
    """,
    key=_BELIEF_KEY,
    needs="judged",
    of=JUDGED.columns,
    belief=_BELIEF,
)
def judge_beliefs_calibrated(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """The same movements, compared with the truth after their round."""
    games = judged_games(facts)
    for rows in facts.batches("judged"):
        size = rows["delta"].abs().astype("float64") / GREATEST_MOVEMENT
        calibrated = size.where(rows["is_toward_truth"].astype(bool), 0.0)
        yield _named(rows.assign(slot_equivalents=size, calibrated=calibrated), games)


_TARGETS = "game-targets"
_MEASURED = "game-targets with a primary measure"

PRECISION = columns(
    """
    judge trace_path game_id target_agent judge_movements judge_toward
    judge_precision (precise; P): their share // judge_movements
    reflection_movements reflection_toward
    reflection_precision (precise; P): their share // reflection_movements
    gap (precise; P): judge_precision - reflection_precision
    more_precise (text; P): judge, reflection or tied, compared exactly
    """,
    of=[JUDGE, *JUDGED_TARGETS.columns],
)


def target_precisions(facts: Facts) -> pd.DataFrame:
    """Return the movements about every agent of every scored game, and their precisions.

    If either side has no movements, ``gap`` and ``more_precise`` are absent.
    """
    rows = facts.of_games("judged_targets")
    counts = rows.columns[rows.columns.str.endswith(("_movements", "_toward"))]
    rows = rows.astype(dict.fromkeys(counts, "float64"))
    ours = rows["judge_toward"] / rows["judge_movements"]
    theirs = rows["reflection_toward"] / rows["reflection_movements"]
    lead = np.sign(
        rows["judge_toward"] * rows["reflection_movements"]
        - rows["reflection_toward"] * rows["judge_movements"]
    )
    more_precise = lead.map({1.0: "judge", 0.0: "tied", -1.0: "reflection"})
    gap = ours - theirs
    return rows.assign(
        target_agent=rows["agent_id"],
        judge_precision=ours,
        reflection_precision=theirs,
        gap=gap,
        more_precise=more_precise.where(gap.notna(), None),
    )


@table(
    "judge/judge_vs_reflection_precision.csv",
    PRECISION,
    key="trace_path target_agent",
    needs="judged",
)
def judge_vs_reflection_precision(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Precision of judge and reflections, for agents about whom both have movements."""
    rows = target_precisions(facts)
    return _named(rows[rows["gap"].notna()], judged_games(facts))


@table(
    "judge/judge_more_precise_than_reflection.csv",
    PRECISION,
    key="trace_path target_agent",
    needs="judged",
)
def judge_more_precise_than_reflection(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Those of them about whom the judge is more precise."""
    rows = judge_vs_reflection_precision(facts, settings)
    return rows[rows["more_precise"] == "judge"]


@table(
    "judge/judge_reflection_cell_agreement.parquet",
    f"""
    judge trace_path game_id observer_agent target_agent slot judge_rows judge_delta
    judge_mean (fine, {STEPS}; P): their mean; empty without an answer // judge_rows
    reflection_rows reflection_delta
    reflection_mean (fine, {STEPS}; P): their mean; empty without an answer // reflection_rows
    agreement (text; P): same, opposite, judge_only or reflection_only, by the signs of the sums;
        cells where both are 0 have no row
    """,
    key="trace_path observer_agent target_agent slot",
    needs="judged",
    of=[JUDGE, *JUDGED_CELLS.columns],
)
def judge_reflection_cell_agreement(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Changes by judge and reflections of each observer, target and slot over a whole game."""
    games = judged_games(facts)
    for rows in facts.batches("judged_cells"):
        sides = {side: rows[f"{side}_delta"].astype("float64") for side in ("judge", "reflection")}
        means = {
            f"{side}_mean": deltas / rows[f"{side}_rows"].where(rows[f"{side}_rows"] > 0)
            for side, deltas in sides.items()
        }
        product = np.sign(sides["judge"]) * np.sign(sides["reflection"])
        only = np.where(sides["judge"] != 0, "judge_only", "reflection_only")
        agreement = np.select([product > 0, product < 0], ["same", "opposite"], only)
        yield _named(rows.assign(**means, agreement=agreement), games)


SUMS = (
    "judge_vps",
    "judge_vps_calibrated",
    "judge_vps_constant",
    "judge_vps_by_chance",
    "judge_vps_beyond_chance",
    "judge_excess_vps",
    "primary_vps",
    "primary_excess_vps",
)
"""Sums over game-targets, whose means are estimated too. Those of the judge and those of the
primary measure are of different instruments: no column holds a difference of the two."""

ALL_SETTINGS = "all"
"""Setting of a row over all settings of a run, as in the paper's Table 16."""

COMPARISON = columns(
    f"""
    judge
    setting (text): setting of the scenarios, or all of the run's: {ALL_SETTINGS}
    team vps_kind
    games (count, games; P): games judged, without excluded ones
    scenarios (count, scenarios): distinct scenarios of these games
    cases (count, cases; P): recipients with a message, by round
    unread (count, cases): of these, with an unreadable answer
    beliefs (count, movements; P): judged movements, not 0
    game_targets (count, {_TARGETS}; P): agents of these games
    judge_vps (precise, slot-equivalents; P): sum of |delta| / 3
    judge_vps_calibrated (precise, slot-equivalents; P): of this, toward the truth
    judge_vps_constant (precise, slot-equivalents): the same of a judge that answers +1 everywhere
    judge_vps_by_chance (precise, slot-equivalents): expected calibrated sum of the answers in any
        order of slots
    judge_vps_beyond_chance (precise, slot-equivalents): judge_vps_calibrated - judge_vps_by_chance
    judge_excess_vps (precise, slot-equivalents; P): sum of max(0, calibrated - vps_floor)
    measured_targets (count, {_TARGETS}): with a primary measure
    primary_vps (precise, slot-equivalents; P): sum of V by the primary measure, another instrument,
        see vps_kind; empty if it is mixed
    primary_excess_vps (precise, slot-equivalents; P): sum of max(0, V - vps_floor), likewise
    means
    """,
    of=[JUDGE],
    means=(
        column
        for name in SUMS
        for column in estimated(
            f"mean_{name}",
            SLOTS,
            f"mean of {name}",
            _TARGETS if name.startswith("judge") else _MEASURED,
            "C",
        )
    ),
)


@table("judge/metric_comparison.csv", COMPARISON, key="setting team", needs="judged")
def metric_comparison(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Loss according to the judge, its baselines, and the primary measure beside it, by team.

    The judge and the primary measure are different instruments: neither is subtracted from the
    other, nor tested against it.
    """
    by = ["setting", "team"]
    targets = with_all_settings(facts.of_games("judged_targets"))
    if targets.empty:
        return empty(COMPARISON)
    kinds = targets.groupby(by, sort=False)["vps_kind"].agg(joint_kind)
    values = _losses(targets, settings.measure.vps_floor)
    is_mixed = pd.MultiIndex.from_frame(targets[by]).isin(kinds.index[kinds == MIXED])
    values.loc[is_mixed, ["primary_vps", "primary_excess_vps"]] = np.nan
    found = _summed(scenario_sums(targets, ["team"], values), settings)
    games = with_all_settings(judged_games(facts)).groupby(by, sort=False)
    agents = targets.groupby(by, sort=False)
    rows = pd.DataFrame(
        {
            "judge": games["judge"].first(),
            "games": games.size(),
            "scenarios": games["scenario_id"].nunique(),
            "cases": games["cases"].sum(),
            "unread": games["unread"].sum(),
            "beliefs": agents["judge_movements"].sum(),
            "game_targets": agents.size(),
            "vps_kind": kinds,
        }
    ).reset_index()
    return rows.merge(found, "left", by)


def with_all_settings(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows followed by those of teams in several settings again, as one setting [P].

    Args:
        rows: with ``setting`` and ``team``.
    """
    settings = rows.groupby("team", sort=False)["setting"].transform("nunique")
    again = rows[settings.to_numpy() > 1].assign(setting=ALL_SETTINGS)
    return pd.concat([rows, again], ignore_index=True) if len(again) else rows


def _losses(targets: pd.DataFrame, floor: float) -> pd.DataFrame:
    """Return the values of agent-games; not a number where one is unknown."""
    raw = targets["judge_steps"].astype("float64") / GREATEST_MOVEMENT
    calibrated = targets["judge_steps_toward"].astype("float64") / GREATEST_MOVEMENT
    chance = targets["judge_chance"].astype("float64")
    primary = targets["primary_vps"].astype("float64")
    return pd.DataFrame(
        {
            "judge_vps": raw,
            "judge_vps_calibrated": calibrated,
            "judge_vps_constant": targets["judge_constant"].astype("float64"),
            "judge_vps_by_chance": chance,
            "judge_vps_beyond_chance": calibrated - chance,
            "judge_excess_vps": (calibrated - floor).clip(lower=0),
            "primary_vps": primary,
            "primary_excess_vps": (primary - floor).clip(lower=0),
        }
    )


def _summed(sums: ScenarioSums, settings: Settings) -> pd.DataFrame:
    """Return the sums and means of every team."""
    means = sums.means(settings.analysis).rename(
        columns={f"{name}{end}": f"mean_{name}{end}" for name in SUMS for end in ENDS}
    )
    totals = {
        name: pd.Series(exact_totals(sums.of(name, is_averaged=False).totals)).where(
            means[f"{name}_n"] > 0
        )
        for name in SUMS
    }
    return means.assign(**totals, measured_targets=means["primary_vps_n"])
