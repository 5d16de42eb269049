"""The judge's sums over runs: each setting, and both together (the paper's Table 16)."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from calbench.analysis.measures import MIXED
from calbench.analysis.summary.runs import EXPERIMENT, Runs, RunTables, summary, without_version
from calbench.analysis.tables.judge import ALL_SETTINGS
from calbench.facts.columns import DIGITS, Column, chosen, text

COMPARISON = "judge/metric_comparison.csv"

SUMMED = (
    "games scenarios cases unread beliefs game_targets judge_vps judge_vps_calibrated "
    "judge_vps_constant judge_vps_by_chance judge_vps_beyond_chance judge_excess_vps "
    "measured_targets primary_vps primary_excess_vps"
)
"""Columns that add up over settings."""

CHANNELS = text("channels", "channels of the agents", "C")


def _columns() -> tuple[Column, ...]:
    own = without_version(COMPARISON)
    named = chosen(own, "judge setting team vps_kind")
    # Runs' tables have finer decimals, so that what is added up is right in the last one shown.
    sums = (replace(c, digits=DIGITS) for c in chosen(own, SUMMED))
    return (EXPERIMENT, CHANNELS, *named, *sums)


@summary("judge_totals.csv", _columns(), key="experiment channels judge setting team")
def judge_totals(runs: Runs) -> pd.DataFrame:
    """Sums according to the judge by setting, and over the settings that a team played apart.

    A row over runs names all of them. Runs that played one setting twice are not added up.
    """
    found = [rows for run in runs.compared if not run.is_joint and len(rows := _named(run))]
    if not found:
        return pd.DataFrame()
    rows = pd.concat(found, ignore_index=True)
    more = list(_together(rows[rows["setting"] != ALL_SETTINGS]))
    return pd.concat([rows, *more], ignore_index=True)


def _named(run: RunTables) -> pd.DataFrame:
    """Return a run's sums, with the channels of its teams."""
    rows = run.named(COMPARISON)
    if rows.empty:
        return rows
    channels = run.named("standings.csv").groupby("setting")["channels"].first()
    told = rows["setting"].map(channels)
    return rows.assign(channels=told.fillna(channels.iloc[0] if len(channels) else ""))


def _together(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield a row for each team of several runs that played different settings."""
    for (channels, judge, team), own in rows.groupby(["channels", "judge", "team"], sort=False):
        if own["experiment"].nunique() < 2 or own["setting"].duplicated().any():
            continue
        kinds = own["vps_kind"].dropna().unique()
        kind = MIXED if len(kinds) > 1 else next(iter(kinds), None)
        sums = own[SUMMED.split()].sum(min_count=len(own))
        if kind == MIXED:
            sums[["primary_vps", "primary_excess_vps"]] = None
        named = {
            "experiment": " and ".join(own["experiment"].unique()),
            "channels": channels,
            "judge": judge,
            "setting": ALL_SETTINGS,
            "team": team,
            "vps_kind": kind,
        }
        yield pd.DataFrame([named | sums.to_dict()])
