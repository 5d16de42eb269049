"""Table 1: means of players over all their seats in mixed teams."""

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.measures import (
    BOUNDS,
    MEASURE_BY_NAME,
    is_unread,
    joint_kind,
    measured_values,
)
from calbench.analysis.settings import Settings
from calbench.analysis.tables.players import AGENT_GAMES, NUMBER, TEAMS
from calbench.analysis.tables.registry import table
from calbench.analysis.tables.slices.seats import mixed_players, mixed_seats
from calbench.facts.columns import (
    PLAYER,
    PLAYER_KIND,
    SETTING,
    VPS_KIND,
    count,
    estimated,
)
from calbench.facts.storage import Facts

TABLE1 = ("coordination", "excess_cost", "messages", "fairness", "excess_vps")
"""Measures of the paper's Table 1, in its order."""

SCHEDULED = estimated("scheduled", "meetings", "mean of an agent's S", "agent_games", "P")


@table(
    "table1.csv",
    (
        SETTING,
        PLAYER,
        count("slices", "teams", "teams of several players in which it sat: slices of a cohort"),
        count("scenarios", "scenarios", "distinct scenarios of its games there"),
        AGENT_GAMES,
        *SCHEDULED,
        *(
            column
            for name in TABLE1
            for column in estimated(
                name,
                MEASURE_BY_NAME[name].unit,
                f"mean of: {MEASURE_BY_NAME[name].definition}",
                MEASURE_BY_NAME[name].denominator,
                MEASURE_BY_NAME[name].origin,
            )
        ),
        VPS_KIND,
        PLAYER_KIND,
        TEAMS,
    ),
    key="setting player kind teams",
)
def table1(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean results of every player over its seats in teams of several players (Table 1).

    A player that sat in several teams, as the shared ones of a cohort do, has one row over all of
    them.
    """
    seats = mixed_seats(facts)
    values = measured_values(seats, [NUMBER])
    scheduled = seats["scheduled"].astype("float64").mask(is_unread(seats, [NUMBER]))
    values = values[list(TABLE1)].assign(scheduled=scheduled)
    bounds = {**BOUNDS, "scheduled": (0.0, np.inf)}
    found = estimated_means(seats, [NUMBER], values, settings.analysis, bounds=bounds)
    groups = seats.groupby(NUMBER)
    counts = pd.DataFrame(
        {
            "slices": groups["team"].nunique(),
            "scenarios": groups["scenario_id"].nunique(),
            "agent_games": groups.size(),
            "vps_kind": groups["vps_kind"].agg(joint_kind),
        }
    ).reset_index()
    rows = mixed_players(facts).merge(found, "left", ["setting", NUMBER])
    return rows.merge(counts, "left", NUMBER)
