"""Means and shares that a figure works out of a table's rows, with their intervals."""

from collections.abc import Mapping, Sequence

from calbench.analysis.estimates import ScenarioSum, estimate_means
from calbench.analysis.proportions import wilson
from calbench.report import numbers
from calbench.report.figures.style import Value
from calbench.report.results import Row
from calbench.stats.spec import DEFAULT_ANALYSIS

DIGITS = 4
"""Of the numbers that figures work out, as of the tables."""


def means(
    rows_by_name: Mapping[str, Sequence[Row]], column: str, per: str, *names: str
) -> dict[str, Value]:
    """Return the mean of a column for each name, with its bootstrap interval over scenarios.

    Args:
        rows_by_name: rows with ``scenario_id``, the column, and the denominator.
        column: what is added up.
        per: column with the denominator; empty for one a row.
        names: what the resamples are for.
    """
    scenarios = sorted({row["scenario_id"] for rows in rows_by_name.values() for row in rows})
    columns = [_sums(rows, column, per, scenarios) for rows in rows_by_name.values()]
    found = estimate_means(columns, DEFAULT_ANALYSIS, *names) if scenarios else []
    return {
        name: Value(_cell(each.value), _cell(each.low), _cell(each.high))
        for name, each in zip(rows_by_name, found, strict=bool(scenarios))
        if each is not None
    }


def _sums(
    rows: Sequence[Row], column: str, per: str, scenarios: Sequence[str]
) -> list[ScenarioSum | None]:
    total, count = dict.fromkeys(scenarios, 0.0), dict.fromkeys(scenarios, 0)
    for row in rows:
        if row[column]:
            total[row["scenario_id"]] += float(numbers.decimal(row[column]))
            count[row["scenario_id"]] += int(row[per]) if per else 1
    return [ScenarioSum(total[each], count[each]) if count[each] else None for each in scenarios]


def share(found: int, of: int) -> Value:
    """Return a share with its Wilson interval; empty cells without trials."""
    proportion = wilson(found, of, DEFAULT_ANALYSIS)
    if proportion is None:
        return Value("")
    return Value(_cell(proportion.value), _cell(proportion.low), _cell(proportion.high))


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.{DIGITS}f}"
