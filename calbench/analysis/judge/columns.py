"""What the columns of the judge's tables mean (paper, appendix I)."""

from calbench.analysis.columns import (
    GAME_ID,
    OBSERVER,
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

_STEPS = "steps of 1 to 3"
_JUDGE = Column(
    "judge", "text", "", "scripted (no language model), or the player id of a model", origin="C"
)
_SLOT = Column("slot", "integer", "", "slot the belief is about", origin="P")
_BELIEF = (
    _JUDGE,
    TRACE_PATH,
    GAME_ID,
    ROUND,
    TARGET,
    OBSERVER,
    _SLOT,
    Column(
        "delta",
        "integer",
        _STEPS,
        "how the observer's belief should move, other than 0; above 0 toward occupied",
        origin="P",
    ),
    Column("slot_equivalents", "number", SLOTS, "|delta| / 3", origin="P"),
)

JUDGE_BELIEFS = _BELIEF

JUDGE_BELIEFS_CALIBRATED = (
    *_BELIEF,
    Column(
        "is_occupied",
        "truth",
        "",
        "anything stands in the target's slot after the round",
        origin="P",
    ),
    Column("is_toward_truth", "truth", "", "the movement goes to where the truth is", origin="P"),
    Column(
        "calibrated",
        "number",
        SLOTS,
        "slot_equivalents if toward the truth, else 0",
        origin="P",
    ),
)

_TARGETS = "game-targets"
_MEASURED = "game-targets with a primary measure"

METRIC_COMPARISON = (
    _JUDGE,
    SETTING,
    TEAM,
    VPS_KIND,
    Column("games", "integer", "games", "games judged; lost games are left out", origin="P"),
    Column("scenarios", "integer", "scenarios", "distinct scenarios of these games", origin="C"),
    Column("cases", "integer", "cases", "recipients with a message, by round", origin="P"),
    Column("unread", "integer", "cases", "of these, with an answer not readable", origin="C"),
    Column("beliefs", "integer", "movements", "judged movements other than 0", origin="P"),
    Column("game_targets", "integer", _TARGETS, "agents of these games", origin="P"),
    Column("judge_vps", "number", SLOTS, "sum of |delta| / 3", origin="P"),
    Column("judge_vps_calibrated", "number", SLOTS, "of this, toward the truth alone", origin="P"),
    Column(
        "judge_excess_vps",
        "number",
        SLOTS,
        "sum over game-targets of max(0, calibrated - vps_floor)",
        origin="P",
    ),
    Column("measured_targets", "integer", _TARGETS, "with a primary measure", origin="C"),
    Column(
        "primary_vps",
        "number",
        SLOTS,
        "sum of V by the primary measure, see vps_kind",
        origin="P",
    ),
    Column(
        "primary_excess_vps",
        "number",
        SLOTS,
        "sum over game-targets of max(0, V - vps_floor)",
        origin="P",
    ),
    *estimated("mean_judge_vps", SLOTS, "mean of judge_vps", _TARGETS, "C"),
    *estimated("mean_judge_vps_calibrated", SLOTS, "mean of judge_vps_calibrated", _TARGETS, "C"),
    *estimated("mean_judge_excess_vps", SLOTS, "mean of judge_excess_vps", _TARGETS, "C"),
    *estimated("mean_primary_vps", SLOTS, "mean of primary_vps", _MEASURED, "C"),
    *estimated("mean_primary_excess_vps", SLOTS, "mean of primary_excess_vps", _MEASURED, "C"),
    *estimated("gap", SLOTS, "mean of judge_vps_calibrated - primary_vps", _MEASURED, "C"),
    Column("gap_p", "number", "", "of no gap: two-sided sign-flip test over scenarios", origin="C"),
)

JUDGE_VS_REFLECTION_PRECISION = (
    _JUDGE,
    TRACE_PATH,
    GAME_ID,
    TARGET,
    Column("judge_movements", "integer", "movements", "judged, other than 0", origin="P"),
    Column("judge_toward", "integer", "movements", "of these, toward the truth", origin="P"),
    Column("judge_precision", "number", "", "their share", "judge_movements", "P"),
    Column("reflection_movements", "integer", "movements", "reflected, other than 0", origin="P"),
    Column("reflection_toward", "integer", "movements", "of these, toward the truth", origin="P"),
    Column("reflection_precision", "number", "", "their share", "reflection_movements", "P"),
    Column("gap", "number", "", "judge_precision - reflection_precision", origin="P"),
    Column("more_precise", "text", "", "judge, reflection or tied, compared exactly", origin="P"),
)

CELL_AGREEMENT = (
    _JUDGE,
    TRACE_PATH,
    GAME_ID,
    OBSERVER,
    TARGET,
    _SLOT,
    Column("judge_rows", "integer", "rounds", "in which the judge answered", origin="P"),
    Column("judge_delta", "integer", _STEPS, "sum of its changes over these", origin="P"),
    Column(
        "judge_mean", "number", _STEPS, "their mean; empty without an answer", "judge_rows", "P"
    ),
    Column("reflection_rows", "integer", "rounds", "with a readable reflection", origin="P"),
    Column("reflection_delta", "integer", _STEPS, "sum of its changes over these", origin="P"),
    Column(
        "reflection_mean",
        "number",
        _STEPS,
        "their mean; empty without an answer",
        "reflection_rows",
        "P",
    ),
    Column(
        "agreement",
        "text",
        "",
        "same, opposite, judge_only or reflection_only, by the signs of the sums; cells where "
        "both are 0 have no row",
        origin="P",
    ),
)

JUDGE_AGREEMENT = (
    _JUDGE,
    SETTING,
    TEAM,
    Column(
        "unit",
        "text",
        "",
        "what is compared: cell (game, observer, target, slot; rounds summed), round_cell (the "
        "same with the round), movement, or game_target",
        origin="F: cell; C: round_cell",
    ),
    Column(
        "statistic",
        "text",
        "",
        "of Table 17 for cells, of appendix I.4 for movements and game-targets; by_chance: "
        "directional agreement with reflections of other games",
        origin="P, by_chance C",
    ),
    Column("value", "number", "", "a count, or a number of at most 1", origin="P"),
    Column(
        "low",
        "number",
        "",
        "lower end of the percentile interval by bootstrap over scenarios",
        origin="C",
    ),
    Column("high", "number", "", "upper end of it; counts have none", origin="C"),
    Column("scenarios", "integer", "scenarios", "with an answer to compare", origin="C"),
    Column(
        "p_value",
        "number",
        "",
        "of directional agreement: one-sided permutation test that deals whole games out anew",
        origin="C",
    ),
)

JUDGED = {
    "judge_beliefs.csv": JUDGE_BELIEFS,
    "judge_beliefs_calibrated.csv": JUDGE_BELIEFS_CALIBRATED,
    "metric_comparison.csv": METRIC_COMPARISON,
    "judge_vs_reflection_precision.csv": JUDGE_VS_REFLECTION_PRECISION,
    "judge_more_precise_than_reflection.csv": JUDGE_VS_REFLECTION_PRECISION,
    "judge_reflection_cell_agreement.csv": CELL_AGREEMENT,
    "judge_agreement.csv": JUDGE_AGREEMENT,
}
"""The columns of each table, without the version of the metrics, by file."""
