"""Single games, their agents and their meetings."""

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import PLAYER, PLAYER_KIND, SCENARIO, SETTING, TEAM, VPS_KIND, chosen
from calbench.facts.games import AGENTS, BASELINES, GAMES, MEETINGS
from calbench.facts.storage import Facts

MEASURED = chosen(
    GAMES.columns,
    "cost oracle_cost excess_cost messages message_bytes vps excess_vps excess_vps_participants "
    "fairness fairness_least fairness_greatest is_fairness_sampled vps_kind "
    "fairness_vectors",
)
"""Columns that are empty for excluded games."""


@table(
    "games.csv",
    (
        *chosen(
            GAMES.columns,
            "setting scenario_id team game_id tertile feasible_fraction is_excluded meetings "
            "scheduled",
        ),
        *MEASURED,
    ),
    key="setting team scenario_id",
)
def games(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Every game recorded; excluded ones have no measures."""
    found, measured = facts.games, [column.name for column in MEASURED]
    is_scored = ~found["is_excluded"].astype(bool)
    return found.assign(**{name: found[name].where(is_scored) for name in measured})


@table(
    "agent_games.csv",
    (
        SCENARIO,
        TEAM,
        *chosen(
            AGENTS.columns,
            "agent_id assigned scheduled cost oracle_cost excess_cost messages_sent vps "
            "excess_vps excess_vps_participants",
        ),
        VPS_KIND,
        PLAYER_KIND,
        SETTING,
        PLAYER,
        *BASELINES,
    ),
    key="setting team scenario_id agent_id",
)
def agent_games(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Every agent of every scored game."""
    return facts.of_games("agents")


@table("meetings.csv", (SCENARIO, TEAM, *MEETINGS.columns), key="team scenario_id meeting_id")
def meetings(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Every meeting of every game recorded, in the order of the rounds."""
    return facts.of_all_games("meetings")
