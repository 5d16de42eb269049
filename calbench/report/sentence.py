"""Sentences in which every number is one of a table, to be printed by a template."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import Formatter
from typing import Literal

from calbench.report.columns import MEASURE_BY_NAME, apart
from calbench.report.tables import Row


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence.

    Attributes:
        kind: ``text``; ``name``, of a team or player; ``number``, of a table; ``link``.
        value: what is shown.
        digits: decimals shown of a number; ``None``: as in the table.
        address: where a link leads, from the site's root.
    """

    kind: Literal["text", "name", "number", "link"]
    value: str | float
    digits: int | None = None
    address: str = ""


Sentence = tuple[Part, ...]


def text(words: str) -> Sentence:
    """Return plain words."""
    return (Part("text", words),)


def cell(value: float, digits: int | None = None) -> Sentence:
    """Return a number of a table."""
    return (Part("number", value, digits),)


def measured(row: Row, measure: str) -> Sentence:
    """Return a measure of a row, with its decimals."""
    return cell(row[measure], MEASURE_BY_NAME[measure].digits)


def link(words: str, address: str) -> Sentence:
    """Return words that lead somewhere; plain words if the site has no such place."""
    return (Part("link", words, address=address),) if address else text(words)


def names(found: Iterable[str]) -> Sentence:
    """Return names of teams or players as an enumeration, each once."""
    pieces: list[Part] = []
    listed = list(dict.fromkeys(found))
    for place, name in enumerate(listed):
        if place:
            pieces += text(" and " if place == len(listed) - 1 else ", ")
        pieces.append(Part("name", name))
    return tuple(pieces)


def teams(rows: Iterable[Row]) -> Sentence:
    """Return the teams of rows as an enumeration, each once."""
    return names(row["team"] for row in rows)


def said(form: str, **values: Sentence | str) -> Sentence:
    """Return a sentence of a form such as ``"{team} pays {cost}."``."""
    found: list[Part] = []
    for words, name, _, _ in Formatter().parse(form):
        if words:
            found += text(words)
        if name is not None:
            value = values[name]
            found += text(value) if isinstance(value, str) else value
    return tuple(found)


def interval(row: Row, name: str, digits: int) -> Sentence:
    """Return the interval of an estimate in brackets; nothing where there is none, or one value."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is None or high is None or low == high:
        return ()
    shown = apart(low, high, digits)
    return said(" ({low} to {high})", low=cell(low, shown), high=cell(high, shown))
