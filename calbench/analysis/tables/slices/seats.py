"""The seats of teams in which several players sit."""

from functools import lru_cache

import pandas as pd

from calbench.analysis.tables.players import IDENTITY, scored_seats, with_teams
from calbench.facts.storage import Facts


@lru_cache(maxsize=1)
def mixed_seats(facts: Facts) -> pd.DataFrame:
    """Return the seats of scored games of teams in which several players sit."""
    seats = scored_seats(facts)
    # Who probes in a team of one player is that player with another prompt, not another player.
    same = [{"player": "base_player"}.get(name, name) for name in IDENTITY if name != "is_probing"]
    codes = seats.groupby(same, dropna=False, sort=False).ngroup()
    teams = codes.groupby([seats["setting"], seats["team"]], sort=False)
    return seats[teams.transform("nunique") > 1].reset_index(drop=True)


@lru_cache(maxsize=1)
def mixed_players(facts: Facts) -> pd.DataFrame:
    """Return the players of these seats, with their teams, in the order of tables."""
    return with_teams(mixed_seats(facts))
