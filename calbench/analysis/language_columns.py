"""Columns of the tables by player, and of those that language agents fill."""

from calbench.analysis.columns import (
    MEASURE_COLUMNS,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    TEAM,
    VPS_KIND,
    Column,
)
from calbench.metrics.usage import PROBLEMS

TEAMS = Column(
    "teams",
    "list",
    "",
    "teams the player sat in, separated by spaces; the same name with other settings is another "
    "player, with a row of its own",
    origin="C",
)

PLAYERS = (
    SETTING,
    PLAYER,
    Column("games", "integer", "games", "games scored in which it sat", origin="C"),
    Column("scenarios", "integer", "scenarios", "distinct scenarios of these games", origin="C"),
    *MEASURE_COLUMNS,
    VPS_KIND,
    PLAYER_KIND,
    TEAMS,
    Column("agent_games", "integer", "agent-games", "seats it took in these games", origin="C"),
    Column("games_lost", "integer", "games", "games recorded and left out", origin="C"),
    Column("lost_percent", "number", "percent", "share of lost games", "games recorded", "C"),
    Column("is_flagged", "truth", "", "more than 5 percent of the games were lost", origin="C"),
)

USAGE = (
    SETTING,
    TEAM,
    PLAYER,
    Column("games", "integer", "games", "games scored in which it sat", origin="C"),
    Column("agent_games", "integer", "agent-games", "seats it took in these games", origin="C"),
    Column(
        "calls", "integer", "calls", "model calls in these games, reflections included", origin="P"
    ),
    Column("input_tokens", "integer", "tokens", "sent, cached ones included", origin="P"),
    Column(
        "cached_tokens",
        "integer",
        "tokens",
        "of these, kept by the provider from an earlier call",
        origin="C",
    ),
    Column("output_tokens", "integer", "tokens", "received", origin="P"),
    Column(
        "estimated_calls",
        "integer",
        "calls",
        "calls without counts of the provider, estimated from the lengths of the texts",
        origin="P",
    ),
    Column(
        "price_usd",
        "number",
        "US$",
        "of these tokens; empty where the price is not known",
        origin="P, prices C",
    ),
    Column("price_usd_per_game", "number", "US$ per game", "price_usd / games", "games", "C"),
    Column("games_lost", "integer", "games", "games recorded and left out", origin="C"),
    Column(
        "price_usd_lost", "number", "US$", "of the calls in lost games, paid nonetheless", "", "C"
    ),
)

REPLY_OUTCOMES = (
    SETTING,
    PLAYER,
    Column(
        "replies",
        "integer",
        "replies",
        "answers to turns, decisions and reflections in games scored",
        origin="C",
    ),
    Column("read", "integer", "replies", "could be read", origin="C"),
    Column("recovered", "integer", "replies", "of these, after something was cut away", origin="C"),
    *(
        Column(problem, "integer", "replies", f"could not be read: {problem}", origin="C")
        for problem in PROBLEMS
    ),
    PLAYER_KIND,
    TEAMS,
)
