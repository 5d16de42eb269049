"""Columns of the tables of paired comparisons and of the paper's further results."""

from calbench.analysis.columns import (
    COST,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    VPS_KIND,
    Column,
    estimated,
)
from calbench.analysis.language_columns import TEAMS
from calbench.analysis.measures import MEASURES
from calbench.metrics.agent_rounds import ROLES

UNIT = "unit of the measure"
COMMON = "scenarios that count for both teams"
SEATS = (SETTING, PLAYER, PLAYER_KIND, TEAMS)
FULL = "agent-games with M > 0 and all M meetings scheduled"

COMPARISONS = (
    SETTING,
    Column("team_a", "text", "", "team id"),
    Column("team_b", "text", "", "team id of another, later in the order of the tables"),
    Column("measure", "text", "", f"one of {', '.join(m.name for m in MEASURES)}"),
    Column("scenarios", "integer", "scenarios", "those that count for both teams", origin="C"),
    *estimated(
        "difference",
        UNIT,
        "mean of team_a less mean of team_b",
        f"agent-games that count, in {COMMON}",
        "C",
    ),
    Column("p", "number", "", "two-sided, paired permutation test over scenarios", COMMON, "C"),
    Column("p_adjusted", "number", "", "Benjamini-Hochberg over all rows of the table", "", "C"),
    Column(
        "resolvable_gap",
        "number",
        UNIT,
        "smallest true difference that so many scenarios find with 80% power at the level of 5%, "
        "by the paired t-test; empty below three scenarios",
        COMMON,
        "C",
    ),
    Column(
        "scenarios_needed",
        "integer",
        "scenarios",
        "fewest in all with which a true difference of this size is found with that power; empty "
        "for a difference of zero",
        "",
        "C",
    ),
)


def _share(name: str, meaning: str) -> list[Column]:
    wilson = "of its Wilson interval, which takes seats as independent"
    return [
        Column(name, "number", "", f"{meaning}, as a share of 1", FULL, "P"),
        Column(f"{name}_low", "number", "", f"lower end {wilson}", FULL, "C"),
        Column(f"{name}_high", "number", "", f"upper end {wilson}", FULL, "C"),
    ]


COMPLETION_REGRET = (
    *SEATS,
    Column("seats", "integer", "agent-games", "seats with meetings, M > 0", origin="P"),
    Column("full_seats", "integer", "agent-games", "of these, all M scheduled", origin="P"),
    Column("scenarios", "integer", "scenarios", "those with a full seat", origin="C"),
    *estimated("mean_excess", f"{COST} per meeting", "mean of E / S", FULL, "P"),
    *_share("nonzero_regret", "full seats with E other than 0"),
    *_share("positive_regret", "full seats with E above 0"),
)

FIRST_SPEAKER = (
    *SEATS,
    Column(
        "quantity",
        "text",
        "",
        "vps: slot-equivalents leaked in the meeting's round to all observers, before any floor; "
        "excess_cost: what the agent paid in the round of a scheduled meeting less the cost of "
        "what stood at the start in the slot that the oracle gives the meeting",
        origin="P, F",
    ),
    Column("first", "integer", "agent-meetings", "the agent speaks first", origin="P"),
    Column("subsequent", "integer", "agent-meetings", "another participant does", origin="P"),
    *estimated("first_mean", "unit of the quantity", "mean as first speaker", "first", "P"),
    *estimated("subsequent_mean", "unit of the quantity", "mean otherwise", "subsequent", "P"),
    Column("pairs", "integer", "agent-games", "with agent-meetings of both kinds", origin="C"),
    Column("scenarios", "integer", "scenarios", "those with such an agent-game", origin="C"),
    *estimated(
        "difference",
        "unit of the quantity",
        "mean within the agent-game as first speaker less that otherwise",
        "pairs",
        "P, pairing C",
    ),
    Column("p", "number", "", "two-sided, paired permutation test over scenarios", "pairs", "C"),
    Column("p_adjusted", "number", "", "Benjamini-Hochberg over all rows of the table", "", "P"),
    VPS_KIND,
)

MESSAGES_BY_MEETING = (
    *SEATS,
    Column("meeting_index", "integer", "", "place of the meeting in the stream, from 0"),
    Column(
        "role",
        "text",
        "",
        f"of the agent in the meeting: {', '.join(ROLES)}; an outsider takes no part in it",
        origin="P, outsider C",
    ),
    Column("agent_rounds", "integer", "agent-rounds", "agents in this role and meeting", "", "C"),
    Column("scenarios", "integer", "scenarios", "those with such an agent", origin="C"),
    *estimated("messages", "messages", "mean of messages sent in the round", "agent_rounds", "P"),
)

PRIOR_MOVES = (
    *SEATS,
    Column("agent_games", "integer", "agent-games", "seats it took in games scored", origin="P"),
    Column("scenarios", "integer", "scenarios", "of these games", origin="C"),
    *estimated(
        "meetings_moved",
        "meetings",
        "mean number of distinct meetings that the agent moved: prior meetings of the scenario, "
        "and those scheduled in an earlier round",
        "all agent-games",
        "P",
    ),
    *estimated(
        "copies_moved",
        "meetings",
        "the same of copies of meetings that had failed",
        "all agent-games",
        "C",
    ),
)
