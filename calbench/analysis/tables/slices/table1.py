"""Table 1: means of players over all their seats in mixed teams."""

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.measures import (
    BOUNDS,
    HEADLINE,
    MEASURE_BY_NAME,
    is_unread,
    joint_kind,
    measured_values,
)
from calbench.analysis.settings import Settings
from calbench.analysis.tables.players import AGENT_GAMES, NUMBER, TEAMS
from calbench.analysis.tables.registry import table
from calbench.analysis.tables.slices.seats import mixed_players, mixed_seats
from calbench.facts.storage import Facts


@table(
    "table1.csv",
    """
    setting player
    slices (count, teams): teams of several players in which it sat: slices of a cohort
    scenarios (count, scenarios): distinct scenarios of its games there
    agent_games
    scheduled (estimate, meetings; P): mean of an agent's S // agent_games
    measures vps_kind kind teams
    """,
    key="setting player kind teams",
    of=[AGENT_GAMES, TEAMS],
    measures=(column for name in HEADLINE for column in MEASURE_BY_NAME[name].estimate),
)
def table1(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean results of every player over its seats in teams of several players (Table 1).

    A player that sat in several teams, as the shared ones of a cohort do, has one row over all of
    them.
    """
    seats = mixed_seats(facts)
    values = measured_values(seats, [NUMBER])
    scheduled = seats["scheduled"].astype("float64").mask(is_unread(seats, [NUMBER]))
    values = values[list(HEADLINE)].assign(scheduled=scheduled)
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
