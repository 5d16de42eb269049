"""The page that explains ties: every pair of teams, and how sure their difference is."""

from collections.abc import Sequence
from typing import Any

from calbench.analysis.measures import MEASURES
from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.leaderboard import FIRST_MEASURE
from calbench.report.results import ExperimentResults, Row, percent

COLUMNS = (
    "team_a", "team_b", "measure", "scenarios", "difference", "difference_low", "difference_high",
    "p", "p_adjusted", "minimum_detectable_difference", "required_scenarios",
)  # fmt: skip
"""Of ``comparisons.csv``, as the page's data has them."""

HEADERS = (
    "Scenarios", "Difference", "p", "p corrected", "Significant",
    "Minimum detectable difference", "Required scenarios",
)  # fmt: skip

DIGITS = 3


def page_data(experiments: Sequence[ExperimentResults]) -> dict[str, Any]:
    """Return what the page's script needs: all rows of ``comparisons.csv``, by setting."""
    groups = []
    for results in experiments:
        rows = results.table("comparisons.csv")
        groups += [
            {
                "experiment": results.name,
                "setting": setting,
                "confidence": results.confidence,
                "level": results.level,
                "power": percent(results.made_with.analysis.power),
                "rows": [
                    [row[name] for name in COLUMNS] for row in rows if row["setting"] == setting
                ],
            }
            for setting in dict.fromkeys(row["setting"] for row in rows)
        ]
    return {
        "columns": list(COLUMNS),
        "first": FIRST_MEASURE,
        "measures": [
            {
                "name": measure.name,
                "title": measure.title,
                "unit": measure.unit,
                "better": measure.better,
                "link": f"../method.html#{numbers.anchor(measure.name)}",
            }
            for measure in MEASURES
        ],
        "groups": groups,
    }


def table(experiments: Sequence[ExperimentResults]) -> str:
    """Return the first setting's pairs in the first measure; it stands without scripts."""
    for results in experiments:
        rows = [r for r in results.table("comparisons.csv") if r["measure"] == FIRST_MEASURE]
        if rows:
            setting = rows[0]["setting"]
            title = numbers.MEASURE_BY_NAME[FIRST_MEASURE].title
            return numbers.table(
                f"{results.name}, {setting}: {title}, first team less second",
                [
                    numbers.word_header("Teams"),
                    *(numbers.plain_header(text) for text in HEADERS),
                ],
                [_cells(row, results.level) for row in rows if row["setting"] == setting],
            )
    return "<p>No two teams were compared.</p>"


def _cells(row: Row, level: str) -> list[str]:
    pair = f"{row['team_a']} {numbers.MINUS} {row['team_b']}"
    return [
        f'<th scope="row">{html_text(pair)}</th>',
        numbers.number_cell(row["scenarios"]),
        _difference(row),
        numbers.number_cell(row["p"], 4),
        numbers.number_cell(row["p_adjusted"], 4),
        numbers.word_cell(verdict(row, level)),
        numbers.number_cell(row["minimum_detectable_difference"], DIGITS),
        numbers.number_cell(row["required_scenarios"]),
    ]


def _difference(row: Row) -> str:
    if not row["difference_low"]:
        return numbers.number_cell(row["difference"], DIGITS)
    ends = (row["difference_low"], row["difference_high"])
    return numbers.range_cell(row["difference"], *ends, DIGITS)


def verdict(row: Row, level: str) -> str:
    """Return which team is shown to be better, or that neither is."""
    if not row["p_adjusted"]:
        return ""
    if numbers.decimal(row["p_adjusted"]) >= numbers.decimal(level):
        return "tie"
    is_higher = numbers.decimal(row["difference"]) > 0
    is_first = is_higher == (numbers.MEASURE_BY_NAME[row["measure"]].better == "higher")
    return f"{row['team_a'] if is_first else row['team_b']} is better"


def downloads(experiments: Sequence[ExperimentResults]) -> str:
    """Return links to the whole tables."""
    links = [
        f'<a href="../tables/{each.name}/comparisons.csv">{html_text(each.name)}</a>'
        for each in experiments
    ]
    return f"<p>Whole tables: {' · '.join(links)}</p>"
