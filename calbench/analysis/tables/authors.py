"""Teams in the measures of the authors' release (paper, Table 2)."""

import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.registry import Settings, table
from calbench.facts.games import AUTHORS
from calbench.facts.storage import KEY, Facts

MEANS = [column.name for column in AUTHORS.columns if column.name != "is_sampled"]

OPTIMUM = "oracle_cost"
"""Column of games with the least cost, beside which the burden of a replay stands."""


@table(
    "authors.csv",
    """
    setting team
    games (count, games): games scored in which these measures are defined
    excess (estimate, accounting cost; R): mean of max(0, D) over agents and games // games
    excess_least (number, accounting cost; C): mean of the least over all best schedules // games
    excess_greatest (number, accounting cost; C): mean of the greatest // games
    excess_mean (number, accounting cost; C): mean if each best schedule has the same chance //
        games
    fairness (estimate, accounting cost; R): mean of |D - mean D| over agents and games // games
    fairness_least (number, accounting cost; C): mean of the least over all best schedules // games
    fairness_greatest (number, accounting cost; C): mean of the greatest // games
    fairness_mean (number, accounting cost; C): mean if each best schedule has the same chance //
        games
    messages (estimate, messages; R): mean of messages sent / max(1, S) // games
    burden (number, accounting cost per game; R): of the best schedule that is played // games
    optimum (number, accounting cost per game; P): least cost of the same meetings // games
    sampled (count, games; C): of these, with best schedules that were not played
    """,
    key="setting team",
)
def authors(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every team in the measures of the authors' release, and what equal optima would change."""
    rows = facts.of_games("authors", (*KEY, OPTIMUM))
    values = rows[MEANS].assign(optimum=rows[OPTIMUM])
    found = estimated_means(rows, ["team"], values, settings.analysis)
    counts = rows.groupby(["setting", "team"], sort=False)["is_sampled"].agg(["size", "sum"])
    counts = counts.rename(columns={"size": "games", "sum": "sampled"}).reset_index()
    return found.merge(counts, "left", ["setting", "team"])
