"""Where excess cost comes from, and when the optimum became unreachable."""

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import TEAMS
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    COST,
    SCENARIO,
    SETTING,
    TEAM,
    chosen,
    count,
    estimated,
    number,
    text,
)
from calbench.facts.games import GAMES, REGRET
from calbench.facts.storage import Facts
from calbench.stats.proportions import wilson
from calbench.stats.spec import AnalysisSpec

SPLIT = ["excess", "slot_choice", "avoidable_moves", "failed_rounds"]
"""Excess cost and the three parts that sum to it."""

LOSS = "event_index round phase agent_id least_cost_before least_cost_after"
GAME = [*TEAMS, "scenario_id"]


@table(
    "regret.csv",
    (SETTING, TEAM, SCENARIO, *REGRET.columns),
    key="setting team scenario_id meeting_id agent_id",
)
def regret(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every agent's excess cost, meeting by meeting, split by its cause."""
    del settings
    return facts.of_games("regret")


@table(
    "optimum_unreachable.csv",
    (SETTING, TEAM, SCENARIO, *chosen(GAMES.columns, f"optimum cost is_searched {LOSS}")),
    key="setting team scenario_id",
)
def optimum_unreachable(facts: Facts, settings: Settings) -> pd.DataFrame:
    """The event of every game after which its optimum was out of reach."""
    del settings
    return facts.scored


def _split_by_game(facts: Facts) -> pd.DataFrame:
    """Return the scored games with their excess cost and its parts, all agents together."""
    totals = facts.frame("regret").groupby("game")[SPLIT].sum()
    games = facts.scored.join(totals)
    return games.assign(**{name: games[name].fillna(0).astype("float64") for name in SPLIT})


@table(
    "regret_by_game.csv",
    (
        SETTING,
        TEAM,
        SCENARIO,
        *chosen(REGRET.columns, " ".join(SPLIT)),
        *chosen(GAMES.columns, "optimum cost event_index round phase agent_id least_cost_after"),
    ),
    key="setting team scenario_id",
)
def regret_by_game(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of every game and its parts, and where its optimum became unreachable."""
    del settings
    return _split_by_game(facts)


@table(
    "regret_by_team.csv",
    (
        SETTING,
        TEAM,
        count("games", "games", "games scored"),
        count("agent_games", "agent-games", "those that count"),
        *(
            column
            for part in chosen(REGRET.columns, " ".join(SPLIT))
            for column in estimated(part.name, COST, f"mean of: {part.meaning}", "agent_games", "C")
        ),
        count("games_searched", "games", "in which the loss of the optimum was looked for"),
        count("optimum_unreachable", "games", "of these, those whose optimum became unreachable"),
        number(
            "unreachable_share", "share", "optimum_unreachable / games_searched", "games_searched"
        ),
        number("unreachable_share_low", "share", "lower end of the Wilson interval"),
        number("unreachable_share_high", "share", "upper end of the Wilson interval"),
    ),
    key="setting team",
)
def regret_by_team(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of every team and its parts, and how often its optimum became unreachable.

    Resamples are those of the leaderboard, so that equal means have equal intervals.
    """
    agents = facts.of_games("agents")
    totals = facts.frame("regret").groupby(["game", "agent_id"])[SPLIT].sum().reset_index()
    split = agents[["game", "agent_id"]].merge(totals, "left", ["game", "agent_id"])[SPLIT]
    values = split.fillna(0).astype("float64")
    found = estimated_means(agents, ["team"], values, settings.analysis)
    games = facts.scored
    is_searched = games["is_searched"].astype(bool)
    counted = games[TEAMS].assign(
        games=1,
        games_searched=is_searched.astype(int),
        optimum_unreachable=(is_searched & games["event_index"].notna()).astype(int),
    )
    rows = found.merge(counted.groupby(TEAMS).sum().reset_index(), "left", TEAMS)
    shares = _shares(
        rows, "optimum_unreachable", "games_searched", "unreachable_share", settings.analysis
    )
    return rows.assign(agent_games=rows["excess_n"]).join(shares)


def _shares(rows: pd.DataFrame, found: str, of: str, name: str, spec: AnalysisSpec) -> pd.DataFrame:
    """Return the share of one count in another with its Wilson interval, row by row."""
    shares = [
        wilson(int(successes), int(trials), spec) or (np.nan,) * 3
        for successes, trials in zip(rows[found], rows[of], strict=True)
    ]
    columns = [name, f"{name}_low", f"{name}_high"]
    return pd.DataFrame(shares, rows.index, columns, dtype="float64")


@table(
    "optimum_unreachable_by_round.csv",
    (
        SETTING,
        TEAM,
        *chosen(GAMES.columns, "round phase"),
        count("optimum_unreachable", "games", "whose optimum became unreachable there"),
    ),
    key="setting team round phase",
)
def optimum_unreachable_by_round(facts: Facts, settings: Settings) -> pd.DataFrame:
    """In how many games of every team the optimum became unreachable in which round and phase."""
    del settings
    unreachable = facts.scored.dropna(subset=["event_index"])
    by = ["setting", "team_place", "team", "round", "phase"]
    return unreachable.groupby(by).size().rename("optimum_unreachable").reset_index()


NEVER = "Never"
"""Of games whose optimum stayed reachable."""


@table(
    "optimum_unreachable_shares.csv",
    (
        SETTING,
        TEAM,
        text(
            "unreachable_from",
            "meeting in whose round the optimum became unreachable, from 1; Never: it did not",
            "C",
        ),
        count("games", "games", "whose optimum became unreachable there"),
        count("searched_games", "games", "that were searched for the loss of the optimum"),
        number("share", "share", "games / searched_games", "searched_games"),
        number("share_low", "share", "lower end of the Wilson interval"),
        number("share_high", "share", "upper end of the Wilson interval"),
    ),
    key="setting team unreachable_from",
)
def optimum_unreachable_shares(facts: Facts, settings: Settings) -> pd.DataFrame:
    """In which meeting's round the optimum became unreachable, as shares of the games searched.

    Every meeting in whose round that happened to any team of the setting has a row of every team.
    """
    games = facts.scored
    searched = games[games["is_searched"].astype(bool)]
    place = ("Meeting " + (searched["round"] + 1).astype("str")).where(
        searched["event_index"].notna(), NEVER
    )
    by = ["setting", "team_place", "team"]
    ends = searched[by].assign(unreachable_from=place)
    counts = ends.groupby([*by, "unreachable_from"]).size().rename("games").reset_index()
    places = pd.concat(
        [ends[["setting"]].assign(unreachable_from=NEVER), ends[["setting", "unreachable_from"]]]
    )
    places = places.drop_duplicates(ignore_index=True)
    places = places.assign(is_unreachable=places["unreachable_from"] != NEVER)
    teams = ends.groupby(by).size().rename("searched_games").reset_index()
    rows = teams.merge(places, "inner", "setting").merge(counts, "left", [*by, "unreachable_from"])
    rows = rows.sort_values(["setting", "is_unreachable", "unreachable_from", "team_place"]).fillna(
        {"games": 0}
    )
    return rows.join(_shares(rows, "games", "searched_games", "share", settings.analysis))


@table(
    "excess_parts.csv",
    (
        SETTING,
        TEAM,
        count("games", "games", "games scored"),
        *(
            column
            for part in chosen(REGRET.columns, " ".join(SPLIT))
            for column in estimated(
                part.name, COST, f"mean of: {part.meaning}; all agents together", "games", "C"
            )
        ),
    ),
    key="setting team",
)
def excess_parts(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of a game and its parts, means over games."""
    games = _split_by_game(facts)
    found = estimated_means(games, ["team"], games[SPLIT], settings.analysis, "regret")
    return found.assign(games=found["excess_n"])
