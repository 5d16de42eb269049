"""What a figure shows, in words made from its numbers."""

from collections.abc import Mapping, Sequence

from calbench.report.columns import DIGITS, apart, decimal, rounded

MOST_NAMED = 4
"""Names in a list before it says how many more there are [C]."""


def number(cell: str, digits: int | None = DIGITS) -> str:
    """Return a cell as pages print it: rounded, unless whole; only 0 is shown as 0."""
    return rounded(cell, apart("0", cell, digits if "." in cell else 0))


def two(low: str, high: str, digits: int = DIGITS) -> tuple[str, str]:
    """Return two cells likewise, with as many decimals as tell different ones apart."""
    found = apart(low, high, digits if "." in low + high else 0)
    bottom, top = (rounded(cell, apart("0", cell, found)) for cell in (low, high))
    return bottom, top


def change(first: str, last: str) -> str:
    """Return how a number goes from one cell to another."""
    if decimal(first) == decimal(last):
        return f"stays at {number(first)}"
    return f"goes from {' to '.join(two(first, last))}"


def joined(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    names = list(dict.fromkeys(names))
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def extremes(cells: Mapping[str, str], what: str, digits: int = DIGITS) -> str:
    """Return who is lowest and who highest, ties included.

    Args:
        cells: number by name; empty ones are left out.
        what: the quantity.
        digits: decimals of its numbers.
    """
    found = {name: decimal(cell) for name, cell in cells.items() if cell}
    if not found:
        return f"Nobody has a value of {what}."
    least, most = min(found.values()), max(found.values())
    low = [name for name, value in found.items() if value == least]
    high = [name for name, value in found.items() if value == most]
    if least == most:
        who = "All of them have" if len(found) > 1 else f"{low[0]} has"
        return f"{who} {what} {number(cells[low[0]], digits)}."
    bottom, top = two(cells[low[0]], cells[high[0]], digits)
    return f"Lowest {what}: {joined(low)}, {bottom}; highest: {joined(high)}, {top}."
