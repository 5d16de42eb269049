"""Single games: each with its agents and its meetings."""

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import PLAYER, PLAYER_KIND, SCENARIO, SETTING, TEAM, VPS_KIND, chosen
from calbench.facts.games import AGENTS, GAMES, MEETINGS
from calbench.facts.storage import Facts

MEASURED = chosen(
    GAMES.columns,
    "cost oracle_cost excess_cost messages message_bytes vps excess_vps excess_vps_participants "
    "fairness fairness_least fairness_greatest is_fairness_sampled vps_kind",
)
"""What excluded games do not have."""


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
def games(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every game recorded; what is measured of excluded ones is absent."""
    del settings
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
    ),
    key="setting team scenario_id agent_id",
)
def agent_games(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every agent of every game scored."""
    del settings
    return facts.of_games("agents")


@table("meetings.csv", (SCENARIO, TEAM, *MEETINGS.columns), key="team scenario_id meeting_id")
def meetings(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every meeting of every game recorded, in the order of the rounds."""
    del settings
    return facts.of_all_games("meetings")
