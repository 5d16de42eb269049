"""What a figure shows, in words made from its numbers."""

from collections.abc import Mapping, Sequence

from calbench.report.columns import decimal

MOST_NAMED = 4
"""Names in a list before it says how many more there are [C]."""


def number(cell: str) -> str:
    """Return a cell as people write it: the same number without idle zeros."""
    value = f"{decimal(cell):f}"
    if "." in value:
        value = value.rstrip("0").rstrip(".")
    return "0" if value in {"-0", ""} else value


def joined(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    names = list(dict.fromkeys(names))
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def extremes(cells: Mapping[str, str], what: str) -> str:
    """Return who is lowest and who highest, ties included.

    Args:
        cells: number by name; empty ones are left out.
        what: the quantity.
    """
    found = {name: decimal(cell) for name, cell in cells.items() if cell}
    if not found:
        return f"Nobody has a value of {what}."
    least, most = min(found.values()), max(found.values())
    low = [name for name, value in found.items() if value == least]
    high = [name for name, value in found.items() if value == most]
    if least == most:
        who = "All of them have" if len(found) > 1 else f"{low[0]} has"
        return f"{who} {what} {number(cells[low[0]])}."
    return (
        f"Lowest {what}: {joined(low)}, {number(cells[low[0]])}; "
        f"highest: {joined(high)}, {number(cells[high[0]])}."
    )
