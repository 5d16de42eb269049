"""Columns of the tables by player, and of those that language agents fill."""

from calbench.analysis.columns import (
    GAME_ID,
    MEASURE_COLUMNS,
    OBSERVER,
    PLAYER,
    PLAYER_KIND,
    ROUND,
    SETTING,
    SLOTS,
    TARGET,
    TEAM,
    TRACE_PATH,
    VPS_KIND,
    Column,
    estimated,
)
from calbench.metrics.privacy.reflection import GREATEST_MOVEMENT
from calbench.metrics.usage import PROBLEMS

TEAMS = Column(
    "teams",
    "list",
    "",
    "teams the player sat in, separated by spaces; the same name with other settings is another "
    "player, with a row of its own",
    origin="C",
)
STEPS = "steps of 1 to 3"
MAGNITUDES = tuple(range(1, GREATEST_MOVEMENT + 1))

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

REFLECTIONS = (
    TRACE_PATH,
    GAME_ID,
    ROUND,
    TARGET,
    OBSERVER,
    Column("target_is_participant", "truth", "", "of the round's meeting", origin="P"),
    Column("observer_is_participant", "truth", "", "of the round's meeting", origin="P"),
    Column(
        "target_uses_language",
        "truth",
        "",
        "only then does the row count in the target's V",
        origin="C",
    ),
    Column("is_readable", "truth", "", "the answer could be read; else the rest is empty"),
    Column(
        "is_expected",
        "truth",
        "",
        "movements are expected ones, from token log-probabilities",
        origin="P",
    ),
    Column("moved", "number", SLOTS, "sum over slots of |movement| / 3", origin="P"),
    Column("moved_toward", "number", SLOTS, "of this, toward the truth: the loss", origin="P"),
    Column("moved_away", "number", SLOTS, "of this, away from it", origin="P"),
    Column("answered", "number", SLOTS, "moved, of the integers as answered", origin="P"),
    Column("answered_toward", "number", SLOTS, "moved_toward, of the integers", origin="P"),
    Column("answered_away", "number", SLOTS, "moved_away, of the integers", origin="P"),
)


def _precision(name: str, which: str) -> list[Column]:
    share = f"{which} that go toward the truth, as a share of 1"
    return estimated(name, "", share, which, "C")


REFLECTION_CALIBRATION = (
    SETTING,
    TEAM,
    Column("reflections", "integer", "reflections", "about one target each", origin="C"),
    Column("unread", "integer", "reflections", "of these, not readable", origin="C"),
    Column("movements", "integer", "movements", "integers other than 0, by slot", origin="C"),
    *_precision("precision", "movements"),
    Column("mean_toward", "number", STEPS, "mean |movement|", "movements toward the truth", "C"),
    Column("mean_away", "number", STEPS, "mean |movement|", "movements away from the truth", "C"),
    *(
        column
        for size in MAGNITUDES
        for column in (
            Column(f"movements_{size}", "integer", "movements", f"of these, by {size}", origin="C"),
            *_precision(f"precision_{size}", f"movements by {size}"),
        )
    ),
)
