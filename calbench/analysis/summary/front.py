"""The Pareto front of every plane of cost against privacy: whom nobody else beats in both."""

import pandas as pd

from calbench.analysis.measures import BEYOND, EXCESS, MEASURES, MIXED, compared_loss
from calbench.analysis.summary.runs import (
    EXPERIMENT,
    KIND_WORDS,
    SUMMARY,
    Runs,
    leaderboard,
    summary,
    together,
)
from calbench.analysis.tables.standings import REFERENCE
from calbench.analysis.verdicts import DEGENERATE

COST = "adjusted_excess_cost"
"""What a plane sets against privacy; less of both is better."""

PLOTTED = frozenset({COST, EXCESS, BEYOND})
"""Measures of a plane; which of the last two depends on the instrument."""

PLANE = ["setting", "channel", "vps_kind"]
"""Teams with the same of all three compete: their numbers are of one suite and one instrument."""

APART = frozenset({KIND_WORDS[DEGENERATE], REFERENCE})
"""Kinds of teams that compete with nobody."""

FOUND = ["is_on_front", "dominated_by"]
"""Columns computed for a team."""


@summary(
    "front.csv",
    """
    experiment setting channel vps_kind team kind plane
    is_on_front (truth; C): no competing team with the same setting, channel and vps_kind is at
        least as good in adjusted excess cost and in privacy (excess VPS, of reflections VPS beyond
        chance) and better in one, by these means as they are published; empty for teams that do
        not compete: degenerate baselines, and teams fewer than half of whose reflections were
        readable
    dominated_by (text; C): a team on the front that is at least as good in both and better in one:
        of those that cost no more, the one that discloses least, of equals the first of the table
    """,
    key="experiment setting channel vps_kind team",
    of=SUMMARY["leaderboard.csv"].columns,
    plane=(column for each in MEASURES for column in each.columns if column.name in PLOTTED),
)
def front(runs: Runs) -> pd.DataFrame:
    """Every team with cost and VPS, and whether it is on the front of its setting and channel.

    Teams whose VPS several instruments measured are in no plane, so they are left out.
    """
    rows = leaderboard(runs)
    if rows.empty:
        return rows
    is_drawn = rows["vps_kind"].notna() & (rows["vps_kind"] != MIXED)
    rows = rows[is_drawn & rows[COST].notna() & compared_loss(rows).notna()].reset_index(drop=True)
    players = rows["kind"].str.split(",").str[0]
    competing = rows[~players.isin(APART) & ~_unread(rows, runs)]
    planes = [_found(own) for _, own in competing.groupby(PLANE, sort=False)]
    none = pd.DataFrame(columns=FOUND, dtype=object)
    return rows.join(pd.concat(planes) if planes else none)


def _unread(rows: pd.DataFrame, runs: Runs) -> pd.Series:
    """Return which teams' VPS is not ranked, since too few of their reflections were readable."""
    boards = together("leaderboard.csv", runs.compared)
    if boards.empty:
        return pd.Series(data=False, index=rows.index)
    unread = boards[~boards["is_vps_ranked"].fillna(value=True)]
    by = [EXPERIMENT.name, "setting", "team"]
    names = set(unread[by].itertuples(index=False, name=None))
    found = [each in names for each in rows[by].itertuples(index=False, name=None)]
    return pd.Series(found, index=rows.index, dtype=bool)


def _found(teams: pd.DataFrame) -> pd.DataFrame:
    """Return for the teams of one plane whether each is on the front, and who dominates it.

    Sorted by cost and then by VPS, a team is dominated exactly if the last one on the front
    discloses less, or as little at less cost: O(n log n).
    """
    found: dict[object, tuple[bool, str | None]] = {}
    first: tuple[float, float, str] | None = None
    in_order = teams.assign(loss=compared_loss(teams)).sort_values([COST, "loss"], kind="stable")
    for row, cost, vps, team in zip(
        in_order.index, in_order[COST], in_order["loss"], in_order["team"], strict=True
    ):
        if first is None or vps < first[1]:
            first = (cost, vps, team)
        is_on = (cost, vps) == first[:2]
        found[row] = (is_on, None if is_on else first[2])
    return pd.DataFrame.from_dict(found, orient="index", columns=FOUND).astype(object)
