"""Columns of the tables that explain excess cost."""

from calbench.analysis.columns import AGENT, COST, SCENARIO, SETTING, TEAM, Column

REGRET = (
    SETTING,
    TEAM,
    SCENARIO,
    Column(
        "meeting_id",
        "integer",
        "",
        "meeting of the scenario, prior ones too; charges of other agents in its round stand "
        "with it as well",
    ),
    AGENT,
    Column(
        "played_slot",
        "integer",
        "",
        "where it was scheduled; of a prior meeting where this agent finally holds it; empty if "
        "it was not scheduled",
    ),
    Column(
        "oracle_slot",
        "integer",
        "",
        "where the best schedule of exactly the scheduled meetings has it; empty if it was not "
        "scheduled",
        origin="P, tie-break C",
    ),
    Column(
        "excess",
        "integer",
        COST,
        "slot_choice + avoidable_moves + failed_rounds; sums over meetings to the agent's E",
        origin="C",
    ),
    Column(
        "slot_choice",
        "integer",
        COST,
        "charges for what stood where the meeting went and had not been moved before, minus the "
        "oracle's charges for this meeting; may be negative",
        origin="C",
    ),
    Column(
        "avoidable_moves",
        "integer",
        COST,
        "every other charge in the round of a scheduled meeting: items not in its way, items "
        "moved a second time",
        origin="C",
    ),
    Column(
        "failed_rounds",
        "integer",
        COST,
        "charges in the round of a meeting that was not scheduled",
        origin="C",
    ),
)

OPTIMUM_LOST = (
    SETTING,
    TEAM,
    SCENARIO,
    Column("optimum", "integer", COST, "least cost of all meetings; empty if impossible", "", "P"),
    Column("cost", "integer", COST, "paid by all agents", origin="P"),
    Column(
        "is_searched",
        "truth",
        "",
        "the loss was looked for: not without an optimum or above 14 meetings",
        origin="C",
    ),
    Column(
        "event_index",
        "integer",
        "",
        "event of the trace, from 0, after which the optimum was out of reach; empty if it never "
        "was, or was not looked for",
        origin="C",
    ),
    Column("round", "integer", "", "its round, from 0", origin="C"),
    Column(
        "phase",
        "text",
        "",
        "of the batch that lost it; RESOLUTION where a meeting had failed without one",
        origin="C",
    ),
    Column("agent_id", "integer", "", "whose batch it was; empty at a resolution", origin="C"),
    Column(
        "least_cost_before",
        "integer",
        COST,
        "paid so far plus the cheapest completion, before the event: the optimum",
        origin="C",
    ),
    Column(
        "least_cost_after",
        "integer",
        COST,
        "the same after it; empty if not all meetings could be scheduled any more",
        origin="C",
    ),
)
