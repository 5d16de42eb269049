"""Causes of excess cost, and when the optimum became unreachable."""

from collections.abc import Iterator

import pandas as pd

from calbench.analysis.estimates import ENDS, estimated_means, estimated_shares
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.leaderboard import TEAMS
from calbench.facts.columns import COST, SCENARIO, SETTING, TEAM, Column, chosen, estimated
from calbench.facts.games import GAMES, REGRET
from calbench.facts.storage import Facts

SPLIT = ["excess", "slot_choice", "avoidable_moves", "failed_rounds"]
"""Excess cost and the three parts that sum to it."""

LOSS = "event_index round phase agent_id least_cost_before least_cost_after"


def _split_columns(denominator: str, of: str = "") -> tuple[Column, ...]:
    """Return the columns of the means of excess cost and its parts."""
    return tuple(
        column
        for part in chosen(REGRET.columns, " ".join(SPLIT))
        for column in estimated(part.name, COST, f"mean of: {part.meaning}{of}", denominator, "C")
    )


@table(
    "regret.csv",
    (SETTING, TEAM, SCENARIO, *REGRET.columns),
    key="setting team scenario_id meeting_id agent_id",
)
def regret(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Excess cost of every agent by meeting and cause."""
    return map(facts.named, facts.batches("regret"))


@table(
    "optimum_unreachable.csv",
    (SETTING, TEAM, SCENARIO, *chosen(GAMES.columns, f"optimum cost is_searched {LOSS}")),
    key="setting team scenario_id",
)
def optimum_unreachable(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """The event of every game that made its optimum unreachable."""
    return facts.scored


def _split(facts: Facts, by: list[str]) -> pd.DataFrame:
    """Return the sums of excess cost and its parts by game, or more closely."""
    batches = facts.batches("regret", ["agent_id", *SPLIT])
    return pd.concat([rows.groupby(by)[SPLIT].sum() for rows in batches])


def _split_by_game(facts: Facts) -> pd.DataFrame:
    """Return the scored games with excess cost and its parts, all agents together."""
    games = facts.scored.join(_split(facts, ["game"]))
    return games.assign(**{name: games[name].fillna(0).astype("float64") for name in SPLIT})


@table(
    "regret_by_game.csv",
    """
    setting team scenario_id split optimum cost event_index round phase agent_id least_cost_after
    """,
    key="setting team scenario_id",
    of=GAMES.columns,
    split=chosen(REGRET.columns, " ".join(SPLIT)),
)
def regret_by_game(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Excess cost of every game and its parts, and the event that made its optimum unreachable."""
    return _split_by_game(facts)


@table(
    "regret_by_team.csv",
    """
    setting team
    games (count, games): games scored
    agent_games (count, agent-games): number in the means
    split
    games_searched (count, games): searched for the event that made the optimum unreachable
    optimum_unreachable (count, games): of these, with such an event
    unreachable_share (share): optimum_unreachable / games_searched // games_searched
    """,
    key="setting team",
    split=_split_columns("agent_games"),
)
def regret_by_team(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of every team and its parts, and how often its optimum became unreachable."""
    agents = facts.of_games("agents")
    totals = _split(facts, ["game", "agent_id"]).reset_index()
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
    shares = estimated_shares(
        games,
        ["team"],
        counted[["optimum_unreachable"]].set_axis(["unreachable_share"], axis="columns"),
        counted[["games_searched"]].set_axis(["unreachable_share"], axis="columns"),
        settings.analysis,
    )
    rows = found.merge(counted.groupby(TEAMS).sum().reset_index(), "left", TEAMS)
    return rows.assign(agent_games=rows["excess_n"]).merge(shares, "left", TEAMS)


@table(
    "optimum_unreachable_by_round.csv",
    """
    setting team round phase
    optimum_unreachable (count, games): whose optimum became unreachable there
    """,
    key="setting team round phase",
    of=GAMES.columns,
)
def optimum_unreachable_by_round(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Number of games of every team whose optimum became unreachable, by round and phase."""
    unreachable = facts.scored.dropna(subset=["event_index"])
    by = ["setting", "team_place", "team", "round", "phase"]
    return unreachable.groupby(by).size().rename("optimum_unreachable").reset_index()


NEVER = "Never"
"""Label of games whose optimum remained reachable."""


@table(
    "optimum_unreachable_shares.csv",
    """
    setting team
    unreachable_from (text; C): meeting in whose round the optimum became unreachable, from 1;
        Never: it did not
    games (count, games): whose optimum became unreachable there
    searched_games (count, games): searched for the event that made the optimum unreachable
    share (share): games / searched_games // searched_games
    """,
    key="setting team unreachable_from",
)
def optimum_unreachable_shares(facts: Facts, settings: Settings) -> pd.DataFrame:
    """In which meeting's round the optimum became unreachable, as shares of the games searched.

    A meeting in whose round that happened to any team of the setting has a row for every team.
    """
    games = facts.scored
    searched = games[games["is_searched"].astype(bool)]
    place = ("Meeting " + (searched["round"] + 1).astype("str")).where(
        searched["event_index"].notna(), NEVER
    )
    by = ["setting", "team_place", "team"]
    ends = searched[[*by, "scenario_id"]].assign(unreachable_from=place)
    counts = ends.groupby([*by, "unreachable_from"]).size().rename("games").reset_index()
    places = pd.concat([ends.assign(unreachable_from=NEVER), ends])
    places = places[["setting", "unreachable_from"]].drop_duplicates(ignore_index=True)
    places["is_unreachable"] = places["unreachable_from"] != NEVER
    teams = ends.groupby(by).size().rename("searched_games").reset_index()
    rows = teams.merge(places, "inner", "setting").merge(counts, "left", [*by, "unreachable_from"])
    order = ["setting", "is_unreachable", "unreachable_from", "team_place"]
    rows = rows.sort_values(order).fillna({"games": 0})
    return rows.merge(
        _place_shares(ends, settings), "left", ["setting", "team", "unreachable_from"]
    )


_SHARE = [f"share{end}" for end in ENDS]


def _place_shares(ends: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return the share of games of every team that ended at each place, with its interval."""
    places = dict.fromkeys([NEVER, *ends["unreachable_from"]])
    found = pd.DataFrame({place: ends["unreachable_from"] == place for place in places})
    trials = pd.DataFrame(1.0, found.index, found.columns)
    wide = estimated_shares(ends, ["team"], found.astype("float64"), trials, settings.analysis)
    parts = [pd.DataFrame(columns=["setting", "team", "unreachable_from", *_SHARE])]
    for place in map(str, found):
        shares = wide[[f"{place}{end}" for end in ENDS]].set_axis(_SHARE, axis="columns")
        parts.append(wide[["setting", "team"]].assign(unreachable_from=place).join(shares))
    return pd.concat(parts)


@table(
    "excess_parts.csv",
    """
    setting team
    games (count, games): games scored
    split
    """,
    key="setting team",
    split=_split_columns("games", "; all agents together"),
)
def excess_parts(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Means over games of excess cost and its parts."""
    games = _split_by_game(facts)
    found = estimated_means(games, ["team"], games[SPLIT], settings.analysis)
    return found.assign(games=found["excess_n"])
