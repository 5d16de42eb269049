"""Several draws of one suite, side by side."""

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import TEAMS, leaderboard, sensitivity
from calbench.analysis.tables.registry import TABLES, table
from calbench.facts.columns import SETTING, TEAM, count, number, text
from calbench.facts.frames import as_shown
from calbench.facts.storage import Facts

HEADLINE = ("coordination", "excess_cost", "messages", "fairness", "excess_vps")
"""The measures of the paper's Table 2, in its order."""

ENDS = ("fairness_least", "fairness_greatest")
"""Either end of fairness over equally cheap optimal schedules."""

DRAW = r"(.+)-seed([0-9]+)"
"""A setting that is one of several draws of a suite, and its seed."""


@table(
    "draws.csv",
    (
        SETTING,
        TEAM,
        count("suites", "suites", "suites drawn with other seeds"),
        text("measure", "a measure, or fairness at either end of its ties"),
        number("mean", "of the measure", "mean of the suites' means", "suites"),
        number("least", "of the measure", "mean of the suite with the least"),
        number("greatest", "of the measure", "mean of the suite with the greatest"),
    ),
    key="setting team measure",
)
def draws(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean, least and greatest of every measure of Table 2 over the draws of each suite.

    The values are those that the tables of the single draws show.
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
