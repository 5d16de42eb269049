"""What every column means: table headers and the site's data dictionary are made from this."""

from collections.abc import Mapping

from calbench.analysis.audits.columns import (
    AUDIT_HONESTY,
    AUDIT_LEAKS,
    AUDIT_OWN_SLOT,
    AUDIT_PATTERNS,
    AUDIT_SAMPLE,
)
from calbench.analysis.columns import (
    AGENT,
    COST,
    GAME_ID,
    MEASURE_COLUMNS,
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
from calbench.analysis.judge.columns import JUDGED
from calbench.analysis.language_columns import (
    PLAYERS,
    REPLY_OUTCOMES,
    USAGE,
)
from calbench.analysis.rating_columns import APART, MARGINS, MET, STANDINGS
from calbench.analysis.regret_columns import OPTIMUM_LOST, REGRET
from calbench.analysis.result_columns import (
    COMPARISONS,
    COMPLETION_REGRET,
    FIRST_SPEAKER,
    MESSAGES_BY_MEETING,
    PRIOR_MOVES,
)
from calbench.metrics.outcomes import OUTCOMES

LEADERBOARD = (
    SETTING,
    TEAM,
    Column("games", "integer", "games", "games scored; lost games are left out", origin="C"),
    Column("scenarios", "integer", "scenarios", "distinct scenarios of these games", origin="C"),
    *MEASURE_COLUMNS,
    VPS_KIND,
)

AGENT_GAMES = (
    SCENARIO,
    TEAM,
    AGENT,
    Column("assigned", "integer", "meetings", "M, meetings the agent takes part in", origin="P"),
    Column("scheduled", "integer", "meetings", "S, how many were scheduled", origin="P"),
    Column("cost", "integer", COST, "C, paid in the game, failed rounds included", origin="P"),
    Column(
        "oracle_cost",
        "integer",
        COST,
        "C*, the agent's cost in the best schedule of exactly the scheduled meetings; of "
        "several the lexicographically smallest",
        origin="P, tie-break C",
    ),
    Column("excess_cost", "integer", COST, "E = C - C*; may be negative", origin="F"),
    Column("messages_sent", "integer", "messages", "a group message counts once", origin="P"),
    Column("vps", "number", SLOTS, "V, over all observers and rounds", origin="P"),
    Column("excess_vps", "number", SLOTS, "max(0, V - floor)", origin="P, F"),
    Column(
        "excess_vps_participants",
        "number",
        SLOTS,
        "the same over participant pairs",
        origin="C",
    ),
    VPS_KIND,
    PLAYER_KIND,
    SETTING,
    PLAYER,
)

MEETINGS = (
    SCENARIO,
    TEAM,
    Column("meeting_id", "integer", "", "meeting of the scenario"),
    ROUND,
    Column("outcome", "text", "", f"one of {', '.join(OUTCOMES)}", origin="C"),
    Column("slot", "integer", "", "common slot, only if scheduled"),
    Column("participants", "list", "", "agents, separated by spaces"),
    Column("first_speaker", "integer", "", "agent that spoke first"),
    Column("broken_meetings", "list", "", "earlier meetings that did not stand whole"),
    Column("messages", "integer", "messages", "sent in its round by anybody", origin="P"),
    Column("cost", "integer", COST, "paid in its round by everybody", origin="P"),
    Column("rejected_batches", "integer", "batches", "refused in its round", origin="P"),
)

OUTCOME_COUNTS = (
    SETTING,
    TEAM,
    Column("games", "integer", "games", "games recorded, lost ones included", origin="C"),
    Column(
        "games_lost",
        "integer",
        "games",
        "games with a provider fault or budget stop: left out of every mean",
        origin="C",
    ),
    Column("lost_percent", "number", "percent", "share of lost games", "games recorded", "C"),
    Column("is_flagged", "truth", "", "more than 5 percent of the games were lost", origin="C"),
    Column("meetings", "integer", "meetings", "meetings of all games recorded", "", "C"),
    *(
        Column(outcome, "integer", "meetings", f"meetings that ended so: {outcome}", origin="C")
        for outcome in OUTCOMES
    ),
)

GAMES = (
    SETTING,
    SCENARIO,
    TEAM,
    GAME_ID,
    Column("tertile", "text", "", "difficulty by feasible fraction", origin="P"),
    Column(
        "feasible_fraction",
        "number",
        "",
        "share of injective assignments that satisfy the calendars",
        "S! / (S - M)! assignments",
        "P",
    ),
    Column("is_lost", "truth", "", "lost games have no measures", origin="C"),
    Column("meetings", "integer", "meetings", "meetings of the scenario", "", "P"),
    Column("scheduled", "integer", "meetings", "how many were scheduled", origin="P"),
    Column("cost", "integer", COST, "paid by all agents", origin="P"),
    Column("oracle_cost", "integer", COST, "least cost of the scheduled meetings", origin="P"),
    Column("excess_cost", "integer", COST, "cost - oracle_cost; never negative", origin="F"),
    Column("messages", "integer", "messages", "sent by all agents", origin="P"),
    Column(
        "message_bytes",
        "integer",
        "bytes",
        "length of these messages' contents as JSON in UTF-8, without spaces or envelopes",
        origin="C",
    ),
    Column(
        "vps",
        "number",
        SLOTS,
        "V, summed over all agents; empty unless every agent's was measured",
        origin="P",
    ),
    Column(
        "excess_vps",
        "number",
        SLOTS,
        "mean of max(0, V - floor)",
        "agents whose V was measured",
        "P, F",
    ),
    Column(
        "excess_vps_participants",
        "number",
        SLOTS,
        "the same over participant pairs",
        "agents whose V was measured",
        "C",
    ),
    Column("fairness", "number", COST, "mean of |E - mean E|", "agents", "F"),
    Column("fairness_least", "number", COST, "least over optimal schedules", "agents", "C"),
    Column("fairness_greatest", "number", COST, "greatest over optimal schedules", "agents", "C"),
    Column(
        "is_fairness_sampled",
        "truth",
        "",
        "the two rest on a sample of the schedules",
        origin="C",
    ),
    VPS_KIND,
)

SENSITIVITY = (
    SETTING,
    TEAM,
    Column(
        "fairness_least",
        "number",
        COST,
        "mean with, in each game, the optimal schedule that makes it least",
        "all agent-games",
        "C",
    ),
    Column("fairness", "number", COST, "mean with the canonical schedule", "all agent-games", "F"),
    Column(
        "fairness_greatest",
        "number",
        COST,
        "mean with, in each game, the optimal schedule that makes it greatest",
        "all agent-games",
        "C",
    ),
    Column("games", "integer", "games", "games scored", origin="C"),
    Column("games_sampled", "integer", "games", "of these, with sampled schedules", origin="C"),
)

VPS_SHARES = (
    SETTING,
    TEAM,
    Column("source", "text", "", "kind of message", origin="P"),
    Column("channel", "text", "", "channel it was sent on"),
    Column(
        "vps",
        "number",
        SLOTS,
        "loss these messages caused, before the floor",
        "all agent-games of typed agents",
        "C",
    ),
)

_VERSIONED: Mapping[str, tuple[Column, ...]] = {
    "leaderboard.csv": LEADERBOARD,
    "agent_games.csv": AGENT_GAMES,
    "meetings.csv": MEETINGS,
    "outcomes.csv": OUTCOME_COUNTS,
    "games.csv": GAMES,
    "sensitivity.csv": SENSITIVITY,
    "vps_shares.csv": VPS_SHARES,
    "players.csv": PLAYERS,
    "usage.csv": USAGE,
    "reply_outcomes.csv": REPLY_OUTCOMES,
    "comparisons.csv": COMPARISONS,
    "completion_regret.csv": COMPLETION_REGRET,
    "first_speaker.csv": FIRST_SPEAKER,
    "messages_by_meeting.csv": MESSAGES_BY_MEETING,
    "prior_moves.csv": PRIOR_MOVES,
    "regret.csv": REGRET,
    "optimum_lost.csv": OPTIMUM_LOST,
    "ratings.csv": STANDINGS,
    "ratings_met.csv": MET,
    "ratings_margins.csv": MARGINS,
    "ratings_apart.csv": APART,
    "audit_patterns.csv": AUDIT_PATTERNS,
    "audit_own_slot.csv": AUDIT_OWN_SLOT,
    "audit_leaks.csv": AUDIT_LEAKS,
    "audit_honesty.csv": AUDIT_HONESTY,
}
"""Tables whose rows name the version of the metrics, in a last column of their own."""

TABLES: Mapping[str, tuple[Column, ...]] = {
    name: (*columns, ROW_VERSION) for name, columns in _VERSIONED.items()
}
"""The data dictionary: the columns of each table, by file under ``tables/``."""

SAMPLES: Mapping[str, tuple[Column, ...]] = {"audit_sample.csv": AUDIT_SAMPLE}
"""The same of labelled samples, which belong to no experiment."""


JUDGE_TABLES: Mapping[str, tuple[Column, ...]] = {
    f"judge/{name}": (*columns, ROW_VERSION) for name, columns in JUDGED.items()
}
"""The same of the judge audit, which is made where it is asked for."""


def header(table: str) -> list[str]:
    """Return the column names of a table of any of these mappings."""
    columns = {**TABLES, **SAMPLES, **JUDGE_TABLES}[table]
    return [column.name for column in columns]
