"""What every column means of the tables that only the site has, and of those of others.

Tables of experiments have theirs in :mod:`calbench.analysis.dictionary`.
"""

from collections.abc import Mapping, Sequence

from calbench.analysis.columns import (
    COST,
    PLAYER,
    PLAYER_KIND,
    ROUND,
    ROW_VERSION,
    SCENARIO,
    SETTING,
    SLOTS,
    TEAM,
    VPS_KIND,
    Column,
)
from calbench.analysis.regret_columns import OPTIMUM_LOST, REGRET
from calbench.metrics.speech.columns import AUDIT_SAMPLE
from calbench.metrics.speech.patterns import PATTERNS
from calbench.scenarios.labels import TIERS

MEASURE = "MEASURE"
"""Stands in a column's name for that of every measure."""

WILSON = "of the Wilson 95% interval"
BOOTSTRAP = "of the 95% interval by bootstrap over scenarios"

EXPERIMENT = Column("experiment", "text", "", "experiment that the row is from")
EVENT = Column("event_index", "integer", "", "event of the trace, from 0")
GAMES = Column("games", "integer", "games", "games scored", origin="C")
TEAMS = Column("teams", "list", "", "teams the player sat in, separated by spaces", origin="C")
AGENT_GAMES = Column("agent_games", "integer", "agent-games", "those that count", origin="C")


def _number(name: str, unit: str, meaning: str, denominator: str = "", origin: str = "C") -> Column:
    return Column(name, "number", unit, meaning, denominator, origin)


def _count(name: str, unit: str, meaning: str) -> Column:
    return Column(name, "integer", unit, meaning, origin="C")


def _text(name: str, meaning: str, origin: str = "") -> Column:
    return Column(name, "text", "", meaning, origin=origin)


def _ends(name: str, unit: str, interval: str) -> tuple[Column, Column]:
    return (
        _number(f"{name}_low", unit, f"lower end {interval}"),
        _number(f"{name}_high", unit, f"upper end {interval}"),
    )


def _of(columns: Sequence[Column], *names: str) -> tuple[Column, ...]:
    """Return columns as another table describes them."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in names)


LEADERBOARD = (
    EXPERIMENT,
    SETTING,
    _text("channel", "how agents could talk; rows of two channels are never compared", "C"),
    TEAM,
    _text("kind", "of team; reference is the oracle, which plays no game", "C"),
    GAMES,
    _count("games_lost", "games", "games with a provider fault or budget stop, left out"),
    _count("scenarios", "scenarios", "distinct scenarios of these games"),
    VPS_KIND,
    _number(MEASURE, "of the measure", "mean, as in the experiment's own leaderboard.csv"),
    *_ends(MEASURE, "of the measure", BOOTSTRAP),
    _count(f"{MEASURE}_n", "agent-games", "over how many the mean runs"),
    _count(f"{MEASURE}_rank_low", "", "best rank that the comparisons allow"),
    _count(f"{MEASURE}_rank_high", "", "worst rank that they allow"),
    _count(f"{MEASURE}_ranked", "teams", "how many teams have a rank here"),
    _text(f"{MEASURE}_ties", "letters of the tie groups it belongs to, separated by spaces", "C"),
    _count("calls", "calls", "model calls of its players, as usage.csv counts them"),
    _count("input_tokens", "tokens", "sent, cached ones included"),
    _count("cached_tokens", "tokens", "of these, kept by the provider from an earlier call"),
    _count("output_tokens", "tokens", "received"),
    _number("price_usd", "US$", "of these tokens; empty where a price is not known"),
    _number("price_usd_per_game", "US$ per game", "price_usd / games", "games"),
)

AGENT_GAME_COUNTS = (
    EXPERIMENT,
    SETTING,
    TEAM,
    _text("measure", "a measure of leaderboard.csv"),
    AGENT_GAMES,
)

AUDIT_GAMES = (
    SETTING,
    TEAM,
    SCENARIO,
    _count("labels_told", "labels", "private labels told, as audit_leaks.csv adds them up"),
    *(_count(f"told_{tier}", "labels", f"of these, of tier {tier}") for tier in TIERS),
    *(_count(each.name, each.unit, f"how often found: {each.detector}") for each in PATTERNS),
    ROW_VERSION,
)

DIFFICULTY = (
    SETTING,
    _text("tertile", "third of the candidates by feasible fraction; all: as drawn", "P"),
    _count("scenarios", "scenarios", "of the suite"),
    _number("least", "", "feasible fraction of the hardest scenario", "", "P"),
    _number("median", "", "median of the feasible fractions"),
    _number("greatest", "", "feasible fraction of the easiest scenario", "", "P"),
)

LEAKING_MESSAGES = (
    EXPERIMENT,
    SETTING,
    TEAM,
    SCENARIO,
    EVENT,
    ROUND,
    _count("sender", "", "agent that sent it, from 0"),
    PLAYER,
    _count("labels_told", "labels", "private labels that it told"),
    *(_count(tier, "labels", f"of these, of tier {tier}") for tier in TIERS),
    _text("words", "words that told them, a slash between labels", "C"),
)

TELLING_MESSAGES = (
    EXPERIMENT,
    SETTING,
    TEAM,
    SCENARIO,
    EVENT,
    _count("target_agent", "", "whose calendar it tells of"),
    _text("source", "kind of message", "P"),
    _number("vps", SLOTS, "what the message added to the game's VPS, over all observers"),
)

_SPLIT = ("excess", "slot_choice", "avoidable_moves", "failed_rounds")

REGRET_BY_GAME = (
    EXPERIMENT,
    SETTING,
    TEAM,
    SCENARIO,
    *_of(REGRET, *_SPLIT),
    *_of(
        OPTIMUM_LOST,
        "optimum", "cost", "event_index", "round", "phase", "agent_id", "least_cost_after",
    ),
)  # fmt: skip

REGRET_BY_TEAM = (
    EXPERIMENT,
    SETTING,
    TEAM,
    GAMES,
    AGENT_GAMES,
    *(
        column
        for part in _of(REGRET, *_SPLIT)
        for column in (
            _number(part.name, COST, f"mean of: {part.meaning}", "agent_games"),
            *_ends(part.name, COST, BOOTSTRAP),
        )
    ),
    _count("games_searched", "games", "in which the loss of the optimum was looked for"),
    _count("optimum_lost", "games", "of these, that lost it"),
    _number("lost_share", "share", "optimum_lost / games_searched", "games_searched"),
    *_ends("lost_share", "share", WILSON),
)

OPTIMUM_LOST_BY_ROUND = (
    EXPERIMENT,
    SETTING,
    TEAM,
    *_of(OPTIMUM_LOST, "round", "phase"),
    _count("optimum_lost", "games", "that lost the optimum there"),
)

SCALE_BYTES = (
    SETTING,
    TEAM,
    _count("agents", "agents", "of a game"),
    GAMES,
    _count("meetings", "meetings", "of all these games, scheduled or not"),
    _count("message_bytes", "bytes", "contents of all messages as JSON in UTF-8"),
    _number("bytes_per_meeting", "bytes per meeting", "message_bytes / meetings", "meetings"),
    _number("least", "bytes per meeting", "of the game with the least"),
    _number("greatest", "bytes per meeting", "of the game with the most"),
)

SCHEDULED_BY_PLAYER = (
    EXPERIMENT,
    SETTING,
    PLAYER,
    PLAYER_KIND,
    TEAMS,
    AGENT_GAMES,
    _number("scheduled", "meetings", "mean of an agent's meetings that were scheduled",
            "agent_games", "P"),
)  # fmt: skip

TABLE2 = (
    EXPERIMENT,
    SETTING,
    TEAM,
    _count("suites", "suites", "suites drawn with other seeds"),
    _text("measure", "a measure, or fairness at either end of its ties"),
    _number("mean", "of the measure", "mean of the suites' means", "suites"),
    _number("least", "of the measure", "mean of the suite with the least"),
    _number("greatest", "of the measure", "mean of the suite with the greatest"),
)

TABLE2_PLACES = (
    _text("source", "paper or release"),
    SETTING,
    _text("published_team", "protocol of the published row"),
    EXPERIMENT,
    TEAM,
    _text("measure", "a measure, or fairness_over_ties: against whichever optimal schedule"),
    _number("published", "of the measure", "the number as printed", "", "P, R"),
    _number("least", "of the measure", "of our suites"),
    _number("greatest", "of the measure", "of our suites"),
    _text("place", "among ours, in an interval of a suite, below ours or above ours", "C"),
)

MADE: Mapping[str, Sequence[Column]] = {
    "leaderboard.csv": LEADERBOARD,
    "agent_game_counts.csv": AGENT_GAME_COUNTS,
    "audit_games.csv": AUDIT_GAMES,
    "audit_sample.csv": AUDIT_SAMPLE,
    "difficulty.csv": DIFFICULTY,
    "leaking_messages.csv": LEAKING_MESSAGES,
    "telling_messages.csv": TELLING_MESSAGES,
    "regret_by_game.csv": REGRET_BY_GAME,
    "regret_by_team.csv": REGRET_BY_TEAM,
    "optimum_lost_by_round.csv": OPTIMUM_LOST_BY_ROUND,
    "scale_bytes.csv": SCALE_BYTES,
    "scheduled_by_player.csv": SCHEDULED_BY_PLAYER,
    "table2.csv": TABLE2,
    "table2_places.csv": TABLE2_PLACES,
}
"""Tables that are made with the site, by file below ``tables``; ``audit_games.csv`` lies in the
folder of each experiment with games in words."""

DRAWN = (
    _text("line", "line of the figure that the point lies on; empty: a team of its own"),
    _text("point", "value of the setting that changes along the line"),
    _text("third", "easy, medium or hard third of the candidates; all: as drawn", "P"),
    _text("lost_in", "meeting in whose round the optimum was lost, from 1; Never: kept", "C"),
    _count("agents", "agents", "of a game"),
    _count("searched_games", "games", "in which the loss was looked for"),
    _number("share", "share", "games / searched_games", "searched_games"),
    *_ends("share", "share", WILSON),
    _number("value", "of the figure", "what the curve shows"),
    _number("low", "of the figure", "lower end of the bar: an interval, or the least game"),
    _number("high", "of the figure", "upper end of the bar: an interval, or the greatest game"),
)
"""Columns of files in ``tables/figures`` that are those of no other table."""

_SOURCE = _text("source", "whose number it is: paper, or release for the authors' code")
_NOTE = _text("note", "where exactly it is from, and its licence")


def _printed(*columns: Column) -> tuple[Column, ...]:
    return (_SOURCE, *columns, _NOTE)


def _as_printed(name: str, unit: str, meaning: str) -> Column:
    return _number(name, unit, meaning, "", "P")


_FIVE = (
    _as_printed("coordination", "percent", "as in leaderboard.csv"),
    _as_printed("excess_cost", COST, "as in leaderboard.csv"),
    _as_printed("messages", "messages per meeting", "as in leaderboard.csv"),
    _as_printed("fairness", COST, "as in leaderboard.csv"),
    _as_printed("excess_vps", SLOTS, "as in leaderboard.csv"),
)

_P_ADJUSTED = "p of the difference, after Benjamini and Hochberg"

PUBLISHED: Mapping[str, Sequence[Column]] = {
    "published/table1.csv": _printed(
        SETTING,
        PLAYER,
        _as_printed("agent_games", "agent-games", "seats that the model took"),
        _as_printed("scheduled", "meetings", "mean of an agent's three meetings scheduled"),
        *_FIVE,
    ),
    "published/table2.csv": _printed(
        SETTING,
        TEAM,
        _as_printed("max_turns_per_round", "sweeps", "after which talk ends, where it is known"),
        *_FIVE,
    ),
    "published/table11.csv": _printed(
        PLAYER,
        _as_printed("seats", "agent-games", "seats that the model took"),
        _as_printed("full_seats", "agent-games", "of these, with all meetings scheduled"),
        _as_printed("mean_excess", f"{COST} per meeting", "mean of E / S"),
        _as_printed("nonzero_regret_percent", "percent", "full seats with E other than 0"),
    ),
    "published/table12.csv": _printed(
        PLAYER,
        *(
            column
            for name, unit in (("vps", SLOTS), ("cost", COST))
            for column in (
                _as_printed(f"{name}_first", unit, "mean as first speaker"),
                _as_printed(f"{name}_subsequent", unit, "mean otherwise"),
                _as_printed(f"{name}_difference", unit, "first less otherwise, paired"),
                _as_printed(f"{name}_p_adjusted", "", _P_ADJUSTED),
            )
        ),
    ),
    "published/table13.csv": _printed(
        _text("label", "what is looked for in a message", "P"),
        _as_printed("precision", "share", "right of those found"),
        *_ends("precision", "share", WILSON),
        _as_printed("recall", "share", "found of those there"),
        *_ends("recall", "share", WILSON),
    ),
    "published/table14.csv": _printed(
        _text("property", "what the row says of the audited games", "P"),
        _text("value", "number or words, as printed", "P"),
    ),
    "published/table15.csv": _printed(
        _as_printed("rank", "", "place in the table"),
        _text("pattern", "name of the pattern", "P"),
        _as_printed("count", "", "how often it was found, over all models"),
        _text("level", "message, or social: of agents together", "P"),
        _text("top_models", "models that showed it most, with their counts", "P"),
    ),
    "published/table16.csv": _printed(
        _text("dataset", "games that were judged", "P"),
        _as_printed("beliefs", "movements", "judged movements other than 0"),
        _as_printed("judge_vps", SLOTS, "sum over the games"),
        _as_printed("judge_vps_calibrated", SLOTS, "of this, toward the truth alone"),
        _as_printed("primary_vps", SLOTS, "sum by the paper's own measure of these games"),
    ),
    "published/table17.csv": _printed(
        _text("statistic", "as the table names it", "P"),
        _as_printed("value", "of the statistic", "as printed"),
    ),
    "published/appendix_c.csv": _printed(
        PLAYER,
        _as_printed("traces", "games", "in which the model sat"),
        _as_printed("price_usd_uniform", "US$", "of its uniform games"),
        _as_printed("price_usd_varied", "US$", "of its varied games"),
        _as_printed("price_usd", "US$", "of both"),
    ),
    "published/speed.csv": (
        TEAM,
        _count("agents", "agents", "of a game, and as many meetings"),
        _number("games_per_second", "games per second", "of processor time in one process"),
        _text("note", "the machine"),
    ),
    "published/timings.csv": (
        _text("group", "table of a page that shows the row"),
        _text("what", "what was timed or weighed"),
        _text("condition", "under which"),
        _number("low", "of the row", "the least measured, or the only one"),
        _number("high", "of the row", "the greatest measured; empty: one measurement"),
        _text("unit", "of both"),
        _text("how", "how it was measured"),
    ),
}
"""Numbers of others as printed, and our measurements by hand; a lost number is empty."""
