"""Where excess cost comes from, by meeting, game and team, and when the optimum was lost."""

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
    "optimum_lost.csv",
    (SETTING, TEAM, SCENARIO, *chosen(GAMES.columns, f"optimum cost is_searched {LOSS}")),
    key="setting team scenario_id",
)
def optimum_lost(facts: Facts, settings: Settings) -> pd.DataFrame:
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
    """Excess cost of every game and its parts, and where its optimum was lost."""
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
        count("optimum_lost", "games", "of these, that lost it"),
        number("lost_share", "share", "optimum_lost / games_searched", "games_searched"),
        number("lost_share_low", "share", "lower end of the Wilson interval"),
        number("lost_share_high", "share", "upper end of the Wilson interval"),
    ),
    key="setting team",
)
def regret_by_team(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of every team and its parts, and how often its optimum was lost.

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
        optimum_lost=(is_searched & games["event_index"].notna()).astype(int),
    )
    rows = found.merge(counted.groupby(TEAMS).sum().reset_index(), "left", TEAMS)
    shares = _shares(rows, "optimum_lost", "games_searched", "lost_share", settings.analysis)
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
    "optimum_lost_by_round.csv",
    (
        SETTING,
        TEAM,
        *chosen(GAMES.columns, "round phase"),
        count("optimum_lost", "games", "that lost the optimum there"),
    ),
    key="setting team round phase",
)
def optimum_lost_by_round(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many games of every team lost their optimum in which round and phase."""
    del settings
    lost = facts.scored.dropna(subset=["event_index"])
    by = ["setting", "team_place", "team", "round", "phase"]
    return lost.groupby(by).size().rename("optimum_lost").reset_index()


NEVER = "Never"
"""Where games stand that kept their optimum."""


@table(
    "optimum_lost_shares.csv",
    (
        SETTING,
        TEAM,
        text("lost_in", "meeting in whose round the optimum was lost, from 1; Never: kept", "C"),
        count("games", "games", "that lost it there"),
        count("searched_games", "games", "in which the loss was looked for"),
        number("share", "share", "games / searched_games", "searched_games"),
        number("share_low", "share", "lower end of the Wilson interval"),
        number("share_high", "share", "upper end of the Wilson interval"),
    ),
    key="setting team lost_in",
)
def optimum_lost_shares(facts: Facts, settings: Settings) -> pd.DataFrame:
    """In which meeting's round the optimum was lost, as shares of the games searched.

    Every meeting in whose round any team of the setting lost it has a row of every team.
    """
    games = facts.scored
    searched = games[games["is_searched"].astype(bool)]
    place = ("Meeting " + (searched["round"] + 1).astype("str")).where(
        searched["event_index"].notna(), NEVER
    )
    by = ["setting", "team_place", "team"]
    lost = searched[by].assign(lost_in=place)
    counts = lost.groupby([*by, "lost_in"]).size().rename("games").reset_index()
    places = pd.concat([lost[["setting"]].assign(lost_in=NEVER), lost[["setting", "lost_in"]]])
    places = places.drop_duplicates(ignore_index=True)
    places = places.assign(is_lost=places["lost_in"] != NEVER)
    teams = lost.groupby(by).size().rename("searched_games").reset_index()
    rows = teams.merge(places, "inner", "setting").merge(counts, "left", [*by, "lost_in"])
    rows = rows.sort_values(["setting", "is_lost", "lost_in", "team_place"]).fillna({"games": 0})
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
