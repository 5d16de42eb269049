"""The best, the typical and the worst game of every team on the leaderboard, over several runs."""

import pandas as pd

from calbench.analysis.summary.runs import (
    CHANNEL,
    EXPERIMENT,
    Runs,
    leaderboard,
    summary,
    together,
    without_version,
)
from calbench.facts.columns import Column

TYPICAL = "typical_games.csv"

VIEW = ["experiment", "setting", "team"]


def _columns() -> tuple[Column, ...]:
    setting, *own = without_version(TYPICAL)
    return (EXPERIMENT, setting, CHANNEL, *own)


@summary(TYPICAL, _columns(), key="experiment setting channel team which")
def typical_games(runs: Runs) -> pd.DataFrame:
    """The best, the median and the worst game of every team of the leaderboard."""
    rows, board = together(TYPICAL, runs.compared), leaderboard(runs)
    if rows.empty or board.empty:
        return pd.DataFrame()
    return rows.merge(board[[*VIEW, "channel"]], "inner", VIEW)
