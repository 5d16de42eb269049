"""How hard the suites are: feasible fractions by setting and third."""

from collections.abc import Sequence

from calbench.analysis.summary import setting_title
from calbench.analysis.tables.difficulty import UNCUT
from calbench.facts.games import FRACTION_DIGITS
from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.results import ExperimentResults, Row
from calbench.scenarios.difficulty import TERTILES


def fractions_by_setting(
    experiments: Sequence[ExperimentResults],
) -> dict[str, dict[str, list[str]]]:
    """Return the feasible fractions of the suites: ``[setting][tertile]`` (games.csv).

    Scenarios without a fraction are left out; those without a tertile are listed as "all".
    """
    fractions: dict[str, dict[str, list[str]]] = {}
    for results in experiments:
        games = results.table("games.csv")
        for setting in results.settings:
            scenarios = {row["scenario_id"]: row for row in games if row["setting"] == setting}
            by_tertile: dict[str, list[str]] = {tertile: [] for tertile in (*TERTILES, UNCUT)}
            for row in scenarios.values():
                if row["feasible_fraction"]:
                    shown = f"{numbers.decimal(row['feasible_fraction']):.{FRACTION_DIGITS}f}"
                    by_tertile[row["tertile"] or UNCUT].append(shown)
            title = setting_title(results.name, setting)
            fractions[title] = {tertile: cells for tertile, cells in by_tertile.items() if cells}
    return fractions


def table(rows: Sequence[Row]) -> str:
    """Return the feasible fractions in numbers (difficulty.csv)."""
    return numbers.table(
        "Feasible fraction by setting and third",
        [
            *(numbers.word_header(text) for text in ("Setting", "Third")),
            *(numbers.plain_header(text) for text in ("Scenarios", "least", "median", "greatest")),
        ],
        [
            [
                f'<th scope="row">{html_text(row["setting"])}</th>',
                numbers.word_cell(row["tertile"]),
                numbers.number_cell(row["scenarios"]),
                *(numbers.number_cell(row[name], 5) for name in ("least", "median", "greatest")),
            ]
            for row in rows
        ],
    )
