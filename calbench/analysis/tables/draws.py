"""Several draws of one suite."""

import pandas as pd

from calbench.analysis.measures import HEADLINE
from calbench.analysis.registry import TABLES, Settings, table
from calbench.analysis.tables.leaderboard import TEAMS, leaderboard, sensitivity
from calbench.facts.frames import as_shown
from calbench.facts.storage import Facts

ENDS = ("fairness_least", "fairness_greatest")
"""Either end of fairness over equally cheap optimal schedules."""

DRAW = r"(.+)-seed([0-9]+)"
"""A setting that is one of several draws of a suite, and its seed."""


@table(
    "draws.csv",
    """
    setting team
    suites (count, suites): draws of the suite with different seeds
    measure (text): a measure, or fairness_least or fairness_greatest
    mean (number, of the measure): mean over the draws // suites
    least (number, of the measure): of the draw with the least
    greatest (number, of the measure): of the draw with the greatest
    """,
    key="setting team measure",
)
def draws(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean, least and greatest of every measure of Table 2 over the draws of each suite.

    The values are those in the tables of the single draws.
    """
    shown = [
        as_shown(leaderboard(facts, settings), TABLES["leaderboard.csv"].columns),
        as_shown(sensitivity(facts, settings), TABLES["sensitivity.csv"].columns),
    ]
    values = pd.concat(
        [
            rows.melt(TEAMS, list(names), "measure", "value", ignore_index=False)
            for rows, names in zip(shown, (HEADLINE, ENDS), strict=True)
        ]
    ).dropna(subset="value")
    place = {name: number for number, name in enumerate((*HEADLINE, *ENDS))}
    drawn = values.assign(
        setting=values["setting"].str.extract(DRAW)[0],
        team_place=pd.factorize(values["team"])[0],
        place=values["measure"].map(place),
    ).dropna(subset="setting")
    by = ["setting", "team_place", "team", "place", "measure"]
    found = drawn.groupby(by)["value"].agg(["size", "mean", "min", "max"]).reset_index()
    return found.rename(columns={"size": "suites", "min": "least", "max": "greatest"})
