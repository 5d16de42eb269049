"""Which rows of a long table a page shows; the others stand in its CSV file."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from calbench.report.columns import decimal
from calbench.report.tables import Row


def largest(
    rows: Sequence[Row], column: str, count: int, group: Callable[[Row], object] = lambda _: ""
) -> list[Row]:
    """Return the rows of each group whose cell is furthest from 0, largest first.

    Rows without a number come last; equal ones keep their order.
    """
    return _first(rows, count, group, lambda cell: -abs(decimal(cell)), column)


def least(
    rows: Sequence[Row], column: str, count: int, group: Callable[[Row], object] = lambda _: ""
) -> list[Row]:
    """Return the rows of each group with the least cell, least first; else as :func:`largest`."""
    return _first(rows, count, group, decimal, column)


def _first(
    rows: Sequence[Row],
    count: int,
    group: Callable[[Row], object],
    key: Callable[[str], Decimal],
    column: str,
) -> list[Row]:
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(group(row), []).append(row)
    return [
        row
        for own in groups.values()
        for row in sorted(
            own, key=lambda row: (not row[column], key(row[column]) if row[column] else Decimal())
        )[:count]
    ]
