"""Everybody on the paper's own tasks: our teams beside its models, in the measures of its release.

Tasks, settings and measures of coordination, cost, fairness and talk are the same, so these may be
compared; who sat beside a player is not: the paper's models met in mixed teams. Loss of privacy was
measured by several instruments, and is compared with nobody's of another one (paper, Table 1).
"""

from dataclasses import replace

import pandas as pd

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import AS_RELEASED
from calbench.analysis.summary.runs import (
    EXPERIMENT,
    USUAL,
    Runs,
    leaderboard,
    summary,
    together,
)
from calbench.analysis.summary.table2 import HALVES, SUITE_SIZE
from calbench.facts.frames import read_text

THEIRS = "table1.csv"
"""The paper's models, below the folder of published tables."""

OURS, PAPER = "ours", "paper"
"""Whose numbers they are."""

ENDS = ("", "_low", "_high", "_interval")


@summary(
    "same_tasks.csv",
    """
    setting
    player (text): a team of ours, or a model of the paper's
    source (text; C): ours or paper, whose numbers are as printed, without intervals
    beside (text; C): who sits beside the player: its own team, or mixed teams
    experiment
    kind (text; C): of our team
    agent_games (count, agent-games): behind the means
    coordination (estimate, percent; P): as in leaderboard.csv // agent-games
    excess_cost (estimate, accounting cost; R): excess of authors.csv // agent-games
    messages (estimate, messages; R): as in authors.csv // agent-games
    fairness (estimate, accounting cost; R): as in authors.csv // agent-games
    excess_vps (estimate, slot-equivalents; P): as in leaderboard.csv; comparable only within a
        source and where vps_kind is the same // agent-games
    vps_kind
    """,
    key="setting source player experiment",
    of=[EXPERIMENT],
)
def same_tasks(runs: Runs) -> pd.DataFrame:
    """Our teams and the paper's models on its own tasks, by the limits of its published games."""
    compared, swept = leaderboard(runs), leaderboard(replace(runs, compared=runs.swept))
    board = pd.concat([each for each in (compared, swept) if len(each)] or [compared])
    measured = together("authors.csv", [*runs.compared, *runs.swept])
    path = runs.published / THEIRS
    if board.empty or measured.empty or not path.is_file():
        return pd.DataFrame()
    is_on_tasks = board["setting"].isin(HALVES) & (board["channel"] == USUAL)
    board = board[is_on_tasks & (board["scenarios"] == SUITE_SIZE) & (board["experiment"] != "")]
    tasks = board.loc[board["experiment"] == board["setting"], ["setting", "suite_digest"]]
    board = board.merge(tasks.drop_duplicates(), "inner")  # others may have a setting's name
    names = {f"{own}{end}": f"{name}{end}" for name, own in AS_RELEASED.items() for end in ENDS}
    by = ["experiment", "setting", "team"]
    released = measured[[*by, *names]].rename(columns=names)
    ours = board.drop(columns=list(names.values())).merge(released, "inner", by)
    ours = ours.rename(columns={"team": "player", "coordination_n": "agent_games"})
    ours = ours.assign(source=OURS, beside="its own team")
    theirs = read_text(path)
    theirs = theirs.assign(source=PAPER, beside="mixed teams", vps_kind="reflection")
    numbers = [*HEADLINE, "agent_games"]
    theirs[numbers] = theirs[numbers].apply(pd.to_numeric)
    return pd.concat([ours, theirs]).sort_values("setting", kind="stable")
