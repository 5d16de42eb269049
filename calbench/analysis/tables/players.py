"""Players: every seat that each took, in whatever teams it sat; tokens, money and replies."""

from collections.abc import Hashable, Mapping
from functools import lru_cache

import pandas as pd

from calbench.analysis.estimates import estimated_means, group_totals
from calbench.analysis.measures import MEASURE_COLUMNS, measured_values
from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import (
    EXCLUDED_PERCENT,
    IS_FLAGGED,
    excluded_share,
    joint_kind,
)
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    FINE_DIGITS,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    TEAM,
    VPS_KIND,
    chosen,
    count,
    listed,
    number,
)
from calbench.facts.games import AGENTS
from calbench.facts.storage import Facts
from calbench.metrics.usage import PROBLEMS

TEAMS = listed(
    "teams",
    "teams the player sat in, separated by spaces; the same name with other settings is another "
    "player, with a row of its own",
    "C",
)
GAMES = count("games", "games", "games scored in which it sat")
AGENT_GAMES = count("agent_games", "agent-games", "seats it took in these games")
EXCLUDED = count("games_excluded", "games", "games recorded and left out")

IDENTITY = ["player", "kind", "settings_digest", "model", "uses_language", "is_probing"]
"""What makes a player: its name and the settings that define it."""

BY = ["setting", *IDENTITY]
TOKENS = ["calls", "input_tokens", "cached_tokens", "output_tokens", "estimated_calls"]
PLAYER_KEY = "setting player kind teams"


def with_teams(seats: pd.DataFrame) -> pd.DataFrame:
    """Return the players of some seats, in the order of tables, with the teams that they sat in.

    A player stands with the first team it sat in; players of one team by name, kind and digest.

    Args:
        seats: agents of games, with ``setting``, ``team`` and ``team_place``.
    """
    sat = seats[[*BY, "team", "team_place"]].drop_duplicates().sort_values("team_place")
    players = sat.groupby(BY, dropna=False, sort=False)
    found = players.agg(teams=("team", " ".join), team_place=("team_place", "min")).reset_index()
    order = ["setting", "team_place", "player", "kind", "settings_digest"]
    return found.sort_values(order, ignore_index=True)


def player_means(
    facts: Facts, settings: Settings, rows: pd.DataFrame, values: pd.DataFrame, *by: str
) -> pd.DataFrame:
    """Estimate means of every player, and of what ``by`` names, over the seats it took.

    Args:
        facts: of the run.
        settings: of the estimates.
        rows: of scored games, with the columns of :data:`BY`, ``scenario_id``, ``team_place``.
        values: what each row adds to each quantity.
        by: further columns that name a group.

    Returns:
        As ``estimated_means``, with ``teams``, in the order of tables; groups of one player in
        the order of their first row.
    """
    found = estimated_means(rows, [*IDENTITY, *by], values, settings.analysis)
    return with_teams(scored_seats(facts)).merge(found, "inner", BY)


@lru_cache(maxsize=1)
def scored_seats(facts: Facts) -> pd.DataFrame:
    """Return the agents of scored games, with the place of their team."""
    return facts.of_games("agents", ["setting", "team", "team_place", "scenario_id"])


@table(
    "players.csv",
    (
        SETTING,
        PLAYER,
        GAMES,
        count("scenarios", "scenarios", "distinct scenarios of these games"),
        *MEASURE_COLUMNS,
        VPS_KIND,
        PLAYER_KIND,
        TEAMS,
        AGENT_GAMES,
        EXCLUDED,
        EXCLUDED_PERCENT,
        IS_FLAGGED,
    ),
    key=PLAYER_KEY,
)
@lru_cache(maxsize=1)
def players(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every measure of every player over all seats that it took, with its interval."""
    everyone = facts.of_all_games("agents", ["setting", "team", "team_place", "is_excluded"])
    scored = scored_seats(facts)
    games = everyone.drop_duplicates([*BY, "game"]).groupby(BY, dropna=False)["is_excluded"]
    own = scored.groupby(BY, dropna=False)
    rows = with_teams(everyone)
    for part in (
        games.sum().rename("games_excluded"),
        own["game"].nunique().rename("games"),
        own["scenario_id"].nunique().rename("scenarios"),
        own.size().rename("agent_games"),
        own["vps_kind"].agg(joint_kind),
        estimated_means(scored, IDENTITY, measured_values(scored), settings.analysis).set_index(BY),
    ):
        rows = rows.merge(part.reset_index(), "left", BY)
    return excluded_share(rows.fillna({"games": 0, "scenarios": 0, "agent_games": 0}))


@table(
    "usage.csv",
    (
        SETTING,
        TEAM,
        PLAYER,
        GAMES,
        AGENT_GAMES,
        *chosen(AGENTS.columns, " ".join(TOKENS)),
        number(
            "price_usd",
            "US$",
            "of these tokens; empty where the price is not known",
            "",
            "P, prices C",
            FINE_DIGITS,
        ),
        number(
            "price_usd_per_game", "US$ per game", "price_usd / games", "games", "C", FINE_DIGITS
        ),
        EXCLUDED,
        number(
            "price_usd_excluded",
            "US$",
            "of the calls in excluded games, paid nonetheless",
            "",
            "C",
            FINE_DIGITS,
        ),
    ),
    key="setting team player",
)
@lru_cache(maxsize=1)
def usage(facts: Facts, settings: Settings) -> pd.DataFrame:
    """What language players took of their models: calls, tokens and money (appendix C)."""
    agents = facts.of_all_games("agents", ["setting", "team", "team_place", "is_excluded"])
    speaking = agents[agents["uses_language"].astype(bool)]
    by = ["setting", "team_place", "team", *IDENTITY]
    is_excluded, is_first = (
        speaking["is_excluded"].astype(bool),
        ~speaking.duplicated([*by, "game"]),
    )
    counts = speaking[TOKENS].assign(agent_games=1, games=is_first).astype("float64")
    scored, excluded = counts.where(~is_excluded), counts.where(is_excluded)
    rows = group_totals(
        pd.concat([speaking[by], scored, excluded.add_suffix("_excluded")], axis="columns"), by
    )
    rows = rows[rows["calls"] + rows["calls_excluded"] > 0]
    prices = {
        f"price_usd{end}": [_price(settings, row, end) for row in rows.to_dict("records")]
        for end in ("", "_excluded")
    }
    rows = rows.assign(**prices)
    per_game = rows["price_usd"] / rows["games"].where(rows["games"] > 0)
    order = ["setting", "team_place", "player", "kind", "settings_digest"]
    return rows.assign(price_usd_per_game=per_game).sort_values(order)


def _price(settings: Settings, row: Mapping[Hashable, object], end: str) -> float:
    """Return what a player's calls cost; not a number where its price is not known."""
    model = row["model"]
    price = settings.price_of(str(row["player"]), model if isinstance(model, str) else None)
    names = ("input_tokens", "cached_tokens", "output_tokens")
    sent, cached, received = (int(float(str(row[f"{name}{end}"]))) for name in names)
    return float("nan") if price is None else price.of(sent, cached, received)


@table(
    "reply_outcomes.csv",
    (
        SETTING,
        PLAYER,
        count("replies", "replies", "answers to turns, decisions and reflections in games scored"),
        *chosen(AGENTS.columns, f"read recovered {' '.join(PROBLEMS)}"),
        PLAYER_KIND,
        TEAMS,
    ),
    key=PLAYER_KEY,
)
def reply_outcomes(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How the replies of language players were read; typed players have none to misread."""
    del settings
    names = ["replies", "read", "recovered", *PROBLEMS]
    totals = group_totals(scored_seats(facts)[[*BY, *names]], BY)
    everyone = with_teams(facts.of_all_games("agents", ["setting", "team", "team_place"]))
    speaking = everyone[everyone["uses_language"].astype(bool)]
    return speaking.merge(totals, "left", BY).fillna(dict.fromkeys(names, 0))


@table(
    "scheduled_by_player.csv",
    (
        SETTING,
        PLAYER,
        PLAYER_KIND,
        listed("teams", "teams the player sat in, separated by spaces", "C"),
        count("agent_games", "agent-games", "those that count"),
        number(
            "scheduled",
            "meetings",
            "mean of an agent's meetings that were scheduled",
            "agent_games",
            "P",
        ),
    ),
    key=PLAYER_KEY,
)
def scheduled_by_player(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many of its meetings a player's agent got on average (Table 1)."""
    del settings
    seats = scored_seats(facts)
    totals = group_totals(seats[[*BY, "scheduled"]].assign(agent_games=1), BY)
    everyone = with_teams(facts.of_all_games("agents", ["setting", "team", "team_place"]))
    rows = everyone.merge(totals, "left", BY).fillna({"agent_games": 0})
    return rows.assign(
        scheduled=rows["scheduled"] / rows["agent_games"].where(rows["agent_games"] > 0)
    )
