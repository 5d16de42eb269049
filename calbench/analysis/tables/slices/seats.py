"""The seats of teams in which several players sit."""

from functools import lru_cache

import pandas as pd

from calbench.analysis.tables.players import IDENTITY, scored_seats
from calbench.facts.storage import Facts


@lru_cache(maxsize=1)
def mixed_seats(facts: Facts) -> pd.DataFrame:
    """Return the seats of scored games of teams in which several players sit."""
    seats = scored_seats(facts)
    codes = seats.groupby(IDENTITY, dropna=False, sort=False).ngroup()
    teams = codes.groupby([seats["setting"], seats["team"]], sort=False)
    return seats[teams.transform("nunique") > 1].reset_index(drop=True)
