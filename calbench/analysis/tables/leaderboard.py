"""Teams: means of every measure, games that ended how, and sensitivity to ties."""

from functools import lru_cache

import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.measures import MEASURE_COLUMNS, measured_values
from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import SETTING, TEAM, VPS_KIND, count
from calbench.facts.storage import Facts

EXCLUDED_LIMIT_PERCENT = 5.0
"""Rows that exclude more games than this are flagged [C]."""

TEAMS = ["setting", "team"]


def joint_kind(kinds: "pd.Series[str]") -> str | None:
    """Return how a row's agent-games were measured: one kind, ``mixed``, or not at all."""
    found = kinds.dropna().unique()
    return "mixed" if len(found) > 1 else next(iter(found), None)


def excluded_share(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the share of their games that were excluded, and whether that is much.

    Args:
        rows: with ``games``, those scored, and ``games_lost``.
    """
    share = 100 * rows["games_lost"] / (rows["games"] + rows["games_lost"])
    return rows.assign(lost_percent=share, is_flagged=share > EXCLUDED_LIMIT_PERCENT)


@lru_cache(maxsize=1)
def team_estimates(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Return every measure of every team, with its interval and n."""
    agents = facts.of_games("agents")
    found = estimated_means(agents, ["team"], measured_values(agents), settings.analysis)
    kinds = agents.groupby(TEAMS, sort=False)["vps_kind"].agg(joint_kind).reset_index()
    games = facts.games.groupby(TEAMS, sort=False)["is_lost"]
    counts = pd.DataFrame({"games": games.count() - games.sum(), "games_lost": games.sum()})
    played = facts.scored.groupby(TEAMS, sort=False)["scenario_id"].nunique().rename("scenarios")
    rows = counts.join(played).fillna({"scenarios": 0}).reset_index()
    return rows.merge(found, "left", TEAMS).merge(kinds, "left", TEAMS)


@table(
    "leaderboard.csv",
    (
        SETTING,
        TEAM,
        count("games", "games", "games scored; lost games are left out"),
        count("scenarios", "scenarios", "distinct scenarios of these games"),
        *MEASURE_COLUMNS,
        VPS_KIND,
    ),
    key="setting team",
)
def leaderboard(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every measure of every team in every setting, with its interval."""
    return team_estimates(facts, settings)
