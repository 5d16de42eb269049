"""Difficulty of scenarios, and its effect on schedules; length of messages."""

import pandas as pd

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.measures import is_unread
from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import COST, SETTING, TEAM, count, estimated, number, text
from calbench.facts.games import FRACTION_DIGITS
from calbench.facts.storage import Facts
from calbench.scenarios.difficulty import TERTILES

UNCUT = "all"
"""Label of scenarios without a tertile."""

TERTILE = text("tertile", "third of the candidates by feasible fraction; all: as drawn", "P")


def thirds(games: pd.DataFrame) -> "pd.Series[pd.CategoricalDtype[str]]":
    """Return the third of each game's scenario, as a category in the order of tables."""
    named = games["tertile"].fillna(UNCUT)
    return named.astype(pd.CategoricalDtype([*TERTILES, UNCUT], ordered=True))


@table(
    "difficulty.csv",
    (
        SETTING,
        TERTILE,
        count("scenarios", "scenarios", "of the suite"),
        number("least", "", "feasible fraction of the hardest scenario", "", "P", FRACTION_DIGITS),
        number("median", "", "median of the feasible fractions", digits=FRACTION_DIGITS),
        number(
            "greatest", "", "feasible fraction of the easiest scenario", "", "P", FRACTION_DIGITS
        ),
    ),
    key="setting tertile",
)
def difficulty(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Range and median of the scenarios' feasible fractions, by setting and third."""
    scenarios = facts.games.drop_duplicates(["setting", "scenario_id"])
    known = scenarios.dropna(subset="feasible_fraction")
    fractions = known.assign(tertile=thirds(known)).groupby(["setting", "tertile"], observed=True)
    found = fractions["feasible_fraction"].agg(["size", "min", "median", "max"]).reset_index()
    return found.rename(columns={"size": "scenarios", "min": "least", "max": "greatest"})


QUANTITIES = ["excess_cost", "scheduled"]
BOUNDS = {"scheduled": (0.0, 1.0)}
PER_MEETING = "bytes per meeting"


@table(
    "games_by_third.csv",
    (
        SETTING,
        TERTILE,
        TEAM,
        count("games", "games", "games scored"),
        *estimated("excess_cost", COST, "mean over games, all agents together", "games", "F"),
        *estimated("scheduled", "share", "share of meetings that were scheduled", "meetings", "P"),
    ),
    key="setting tertile team",
)
def games_by_third(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost and scheduled meetings by team and third of difficulty.

    Teams of whose replies none could be read are left out.
    """
    agents = facts.of_games("agents")
    unread = agents.loc[is_unread(agents, ["team"]), "game"]
    scored = facts.scored[~facts.scored.index.isin(unread)]
    games = scored.assign(tertile=thirds(scored), games=1.0)
    found = []
    for third, own in games.groupby("tertile", observed=True):
        weights = own[["games", "meetings"]].set_axis(QUANTITIES, axis="columns")
        found += [
            sums.means(settings.analysis, bounds=BOUNDS).assign(tertile=third)
            for sums in scenario_sums(own, ["team_place", "team"], own[QUANTITIES], weights)
        ]
    if not found:
        return pd.DataFrame()
    rows = pd.concat(found).sort_values(["setting"], kind="stable")
    return rows.assign(games=rows["excess_cost_n"])


@table(
    "scale_bytes.csv",
    (
        SETTING,
        TEAM,
        count("agents", "agents", "of a game"),
        count("games", "games", "games scored"),
        count("meetings", "meetings", "of these games, scheduled or not"),
        count("message_bytes", "bytes", "contents of all messages as JSON in UTF-8"),
        number("bytes_per_meeting", PER_MEETING, "message_bytes / meetings", "meetings", digits=2),
        number("least", PER_MEETING, "of the game with the least", digits=2),
        number("greatest", PER_MEETING, "of the game with the most", digits=2),
    ),
    key="setting team",
)
def scale_bytes(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Bytes of messages per meeting, by team."""
    games = facts.scored.assign(games=1)
    games["per_meeting"] = games["message_bytes"] / games["meetings"]
    groups = games.groupby(["setting", "team_place", "team"])
    found = groups[["games", "meetings", "message_bytes"]].sum()
    ends = groups["per_meeting"].agg(["min", "max"])
    return found.assign(
        agents=groups["agents"].max(),
        bytes_per_meeting=found["message_bytes"] / found["meetings"],
        least=ends["min"],
        greatest=ends["max"],
    ).reset_index()
