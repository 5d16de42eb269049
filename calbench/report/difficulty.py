"""How hard the suites are: feasible fractions by setting and third."""

import statistics
from collections.abc import Mapping, Sequence

from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.figures.difficulty import UNCUT
from calbench.report.results import ExperimentResults, Row
from calbench.report.setting import SettingResults
from calbench.scenarios.difficulty import TERTILES


def fractions_by_setting(
    experiments: Sequence[ExperimentResults],
) -> dict[str, dict[str, list[float]]]:
    """Return the feasible fractions of the suites: ``[setting][tertile]``.

    Scenarios without a fraction are left out; those without a tertile are listed as "all".
    """
    fractions: dict[str, dict[str, list[float]]] = {}
    for results in experiments:
        for setting in results.settings:
            name = SettingResults(results, setting, {}).title
            by_tertile: dict[str, list[float]] = {}
            for tertile in (*TERTILES, None):
                values = [
                    scenario.difficulty.feasible_fraction
                    for scenario in results.scenarios
                    if scenario.setting == setting
                    and scenario.difficulty is not None
                    and scenario.difficulty.tertile == tertile
                    and scenario.difficulty.feasible_fraction is not None
                ]
                if values:
                    by_tertile[tertile or UNCUT] = values
            fractions[name] = by_tertile
    return fractions


COLUMNS = ("setting", "tertile", "scenarios", "least", "median", "greatest")
"""Of ``tables/difficulty.csv``."""


def rows(fractions: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Row]:
    """Return range and median of the feasible fractions, by setting and third (suite files)."""
    made: list[Row] = []
    for setting, by_tertile in fractions.items():
        for tertile, values in by_tertile.items():
            numbers_of = (min(values), statistics.median(values), max(values))
            cells = (str(len(values)), *(f"{value:.10f}" for value in numbers_of))
            made.append(dict(zip(COLUMNS, (setting, tertile, *cells), strict=True)))
    return made


def table(fractions: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
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
            for row in rows(fractions)
        ],
    )
