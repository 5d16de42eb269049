"""Numbers as they stand in tables: fixed digits, no exponent, no noise, absent as empty."""

from functools import lru_cache

from calbench.metrics.measure import METRICS_VERSION

Cell = str | int | float | bool | None
"""What a table holds; ``None`` is absent."""


@lru_cache(maxsize=65536)
def rounded(value: float, digits: int) -> str:
    """Return a number with exactly ``digits`` decimals; never ``-0``."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


@lru_cache(maxsize=65536)
def trimmed(value: float, digits: int) -> str:
    """Return a number with at most ``digits`` decimals, without trailing zeros."""
    text = rounded(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def cell(value: Cell, digits: int) -> str:
    """Return the text of a cell: floats with fixed digits, truth as true or false."""
    kind = type(value)
    if kind is int or kind is str:  # most cells by far
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return rounded(value, digits) if isinstance(value, float) else str(value)


def row(*cells: str) -> str:
    """Return a line of CSV.

    Cells are numbers, names of a fixed vocabulary and ids, none of which can hold a comma,
    a quote or a line break.
    """
    return ",".join(cells) + "\n"


def versioned(lines: str) -> str:
    """Return whole lines with the version of the metrics as a last cell of each."""
    return lines.replace("\n", f",{METRICS_VERSION}\n")
