"""Sentences in which every number is the cell of a table, to be printed by a template."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Literal

from calbench.report.columns import MEASURE_BY_NAME, apart, rounded


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence.

    Attributes:
        kind: ``text``; ``name``, of a team or player; ``number``, the cell of a table; ``link``.
        text: what is shown; of a number, the cell word for word.
        digits: decimals shown of a number; ``None``: as in the table.
        address: where a link leads, from the site's root.
    """

    kind: Literal["text", "name", "number", "link"]
    text: str
    digits: int | None = None
    address: str = ""


Sentence = tuple[Part, ...]


def text(words: str) -> Sentence:
    """Return plain words."""
    return (Part("text", words),)


def cell(value: str, digits: int | None = None) -> Sentence:
    """Return a number of a table."""
    return (Part("number", value, digits),)


def measured(row: Mapping[str, str], measure: str) -> Sentence:
    """Return a measure of a row, with its decimals."""
    return cell(row[measure], MEASURE_BY_NAME[measure].digits)


def link(words: str, address: str) -> Sentence:
    """Return words that lead somewhere; plain words if the site has no such place."""
    return (Part("link", words, address=address),) if address else text(words)


def names(found: Iterable[str]) -> Sentence:
    """Return names of teams or players as an enumeration, each once."""
    return joined([(Part("name", name),) for name in dict.fromkeys(found)])


def teams(rows: Iterable[Mapping[str, str]]) -> Sentence:
    """Return the teams of rows likewise."""
    return names(row["team"] for row in rows)


def joined(pieces: Sequence[Sentence], last: str = " and ", between: str = ", ") -> Sentence:
    """Return pieces with commas between them, and a word before the last."""
    found: list[Part] = []
    for place, piece in enumerate(pieces):
        if place:
            found += text(last if place == len(pieces) - 1 else between)
        found += piece
    return tuple(found)


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


def interval(row: Mapping[str, str], name: str, digits: int) -> Sentence:
    """Return the interval of an estimate in brackets; nothing where there is none, or one value."""
    low, high = row.get(f"{name}_low", ""), row.get(f"{name}_high", "")
    if not low or not high or low == high:
        return ()
    shown = apart(low, high, digits)
    return said(" ({low} to {high})", low=cell(low, shown), high=cell(high, shown))


def estimate(row: Mapping[str, str], name: str, digits: int) -> Sentence:
    """Return a number of a row with its interval, where it has one."""
    return cell(row[name], digits) + interval(row, name, digits)


def shared_estimate(rows: Sequence[Mapping[str, str]], name: str, digits: int) -> Sentence:
    """Return a number that rows share, with the ends of its interval only if they share these."""
    ends = {(row.get(f"{name}_low", ""), row.get(f"{name}_high", "")) for row in rows}
    return estimate(rows[0], name, digits) if len(ends) == 1 else cell(rows[0][name], digits)


def plain(sentence: Sentence) -> str:
    """Return a sentence as text alone, its numbers rounded."""
    return "".join(
        rounded(part.text, part.digits) if part.kind == "number" else part.text for part in sentence
    )
