"""A finding in parts, so that its numbers stay cells of tables and its names stay text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calbench.report.columns import MEASURE_BY_NAME, apart
from calbench.report.tables import Row


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that the site offers, shown with some decimals; ``None``: as it is."""

    cell: str
    digits: int | None = None


@dataclass(frozen=True, slots=True)
class Team:
    """The name of a team, which leads to its page where there is one."""

    name: str


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead somewhere, from the site's root."""

    words: str
    address: str


Part = str | Cell | Team
"""Of a sentence."""

Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found.

    Attributes:
        title: in a few words.
        sentence: with its numbers.
        links: to the game or the table behind it.
    """

    title: str | Parts
    sentence: Parts
    links: tuple[Link, ...]


def value(row: Row, measure: str) -> Cell:
    """Return a measure of a row, with its decimals."""
    return Cell(row[measure], MEASURE_BY_NAME[measure].digits)


def listed(names: Iterable[str]) -> Parts:
    """Return teams as a list in a sentence."""
    parts: list[Part] = []
    distinct = list(dict.fromkeys(names))
    for place, name in enumerate(distinct):
        if place:
            parts.append(" and " if place == len(distinct) - 1 else ", ")
        parts.append(Team(name))
    return tuple(parts)


def teams_of(rows: Sequence[Row]) -> Parts:
    """Return the teams of some rows as a list in a sentence."""
    return listed(row["team"] for row in rows)


def interval(row: Row, name: str, digits: int) -> Parts:
    """Return the interval of an estimate in brackets; nothing where there is none, or one value."""
    low, high = row.get(f"{name}_low", ""), row.get(f"{name}_high", "")
    if not low or not high or low == high:
        return ()
    shown = apart(low, high, digits)
    return " (", Cell(low, shown), " to ", Cell(high, shown), ")"
