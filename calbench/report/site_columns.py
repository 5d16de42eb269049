"""What every column means of figures' tables, and of the numbers of others.

Tables of experiments and over several runs describe themselves: see
:data:`calbench.analysis.tables.TABLES` and :data:`calbench.analysis.summary.SUMMARY`.
"""

from collections.abc import Mapping, Sequence

from calbench.facts.columns import COST, PLAYER, SETTING, SLOTS, TEAM, Column, count, number, text

WILSON = "of the Wilson 95% interval"
BOOTSTRAP = "of the 95% interval by bootstrap over scenarios"
"""As others printed them."""

DRAWN = (
    text("line", "line of the figure that the point lies on; empty: a team of its own"),
    text("point", "value of the setting that changes along the line"),
    text("third", "easy, medium or hard third of the candidates; all: as drawn", "P"),
    number("value", "of the figure", "what the curve shows"),
    number("low", "of the figure", "lower end of the bar: an interval, or the least game"),
    number("high", "of the figure", "upper end of the bar: an interval, or the greatest game"),
)
"""Columns of files in ``tables/figures`` that are those of no other table."""


def _ends(name: str, unit: str, interval: str) -> tuple[Column, Column]:
    return (
        number(f"{name}_low", unit, f"lower end {interval}"),
        number(f"{name}_high", unit, f"upper end {interval}"),
    )


_SOURCE = text("source", "whose number it is: paper, or release for the authors' code")
_NOTE = text("note", "where exactly it is from, and its licence")


def _printed(*columns: Column) -> tuple[Column, ...]:
    return (_SOURCE, *columns, _NOTE)


def _as_printed(name: str, unit: str, meaning: str) -> Column:
    return number(name, unit, meaning, "", "P")


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
        text("label", "what is looked for in a message", "P"),
        _as_printed("precision", "share", "right of those found"),
        *_ends("precision", "share", WILSON),
        _as_printed("recall", "share", "found of those there"),
        *_ends("recall", "share", WILSON),
    ),
    "published/table14.csv": _printed(
        text("property", "what the row says of the audited games", "P"),
        text("value", "number or words, as printed", "P"),
    ),
    "published/table15.csv": _printed(
        _as_printed("rank", "", "place in the table"),
        text("pattern", "name of the pattern", "P"),
        _as_printed("count", "", "how often it was found, over all models"),
        text("level", "message, or social: of agents together", "P"),
        text("top_models", "models that showed it most, with their counts", "P"),
    ),
    "published/table16.csv": _printed(
        text("dataset", "games that were judged", "P"),
        _as_printed("beliefs", "movements", "judged movements other than 0"),
        _as_printed("judge_vps", SLOTS, "sum over the games"),
        _as_printed("judge_vps_calibrated", SLOTS, "of this, toward the truth alone"),
        _as_printed("primary_vps", SLOTS, "sum by the paper's own measure of these games"),
    ),
    "published/table17.csv": _printed(
        text("statistic", "as the table names it", "P"),
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
        count("agents", "agents", "of a game, and as many meetings"),
        number("games_per_second", "games per second", "of processor time in one process"),
        text("note", "the machine"),
    ),
    "published/timings.csv": (
        text("group", "table of a page that shows the row"),
        text("what", "what was timed or weighed"),
        text("condition", "under which"),
        number("low", "of the row", "the least measured, or the only one"),
        number("high", "of the row", "the greatest measured; empty: one measurement"),
        text("unit", "of both"),
        text("how", "how it was measured"),
    ),
}
"""Numbers of others as printed, and our measurements by hand; a lost number is empty."""
