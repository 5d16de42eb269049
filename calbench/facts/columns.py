"""A column and what it means, and the columns that several frames share."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["text", "integer", "number", "truth", "list"]

DIGITS = 4
"""Decimals of numbers in tables, where a column does not say otherwise [C]."""

FINE_DIGITS = 6
"""Most decimals of what one message, round or game gave away, and of US$ [C]."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: as in the header.
        kind: of its cells; an empty cell is absent, never zero. Parts of a list stand in one cell
            with spaces between them.
        unit: of numbers, else empty.
        meaning: in words.
        denominator: over what a mean runs, else empty.
        origin: [P] the paper, [R] the public release, [F] fitted to the paper's numbers,
            [C] our choice; empty for identifiers.
        digits: decimals of numbers; ``None`` where they differ by row, and numbers come as text.
        is_trimmed: whether trailing zeros are left out.
        is_key: whether it belongs to what names a row, once in a table.
    """

    name: str
    kind: Kind
    unit: str
    meaning: str
    denominator: str = ""
    origin: str = ""
    digits: int | None = DIGITS
    is_trimmed: bool = False
    is_key: bool = False


def text(name: str, meaning: str, origin: str = "") -> Column:
    """Return a column of words."""
    return Column(name, "text", "", meaning, origin=origin)


def listed(name: str, meaning: str, origin: str = "") -> Column:
    """Return a column of lists."""
    return Column(name, "list", "", meaning, origin=origin)


def truth(name: str, meaning: str, origin: str = "") -> Column:
    """Return a column that says yes or no."""
    return Column(name, "truth", "", meaning, origin=origin)


def count(name: str, unit: str, meaning: str, origin: str = "C") -> Column:
    """Return a column of whole numbers."""
    return Column(name, "integer", unit, meaning, origin=origin)


def number(
    name: str,
    unit: str,
    meaning: str,
    denominator: str = "",
    origin: str = "C",
    digits: int | None = DIGITS,
) -> Column:
    """Return a column of numbers with fixed decimals, or with those of their texts."""
    return Column(name, "number", unit, meaning, denominator, origin, digits)


def fine(
    name: str,
    unit: str,
    meaning: str,
    denominator: str = "",
    origin: str = "C",
    digits: int = FINE_DIGITS,
) -> Column:
    """Return a column of numbers with as many decimals as they need, up to ``digits``."""
    return Column(name, "number", unit, meaning, denominator, origin, digits, is_trimmed=True)


def estimated(
    name: str, unit: str, meaning: str, denominator: str, origin: str
) -> tuple[Column, Column, Column]:
    """Return the columns of an estimate: its mean, and the ends of its interval."""
    interval = "of the expanded percentile interval by bootstrap over scenarios"
    return (
        number(name, unit, meaning, denominator, origin),
        number(f"{name}_low", unit, f"lower end {interval}", denominator),
        number(f"{name}_high", unit, f"upper end {interval}", denominator),
    )


def chosen(columns: Iterable[Column], names: str) -> tuple[Column, ...]:
    """Return some columns of a table, in the order of their names, separated by spaces."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in names.split())


def keyed(columns: Iterable[Column], key: str) -> tuple[Column, ...]:
    """Return the columns with those named in ``key``, separated by spaces, marked as keys."""
    listed_columns, names = tuple(columns), key.split()
    known = {column.name for column in listed_columns}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no column is called {unknown[0]}")
    return tuple(replace(column, is_key=column.name in names) for column in listed_columns)


SLOTS = "slot-equivalents"
COST = "accounting cost"

SETTING = text("setting", "setting of the scenario")
TEAM = text("team", "team id")
SCENARIO = text("scenario_id", "scenario id, unique in its suite file")
AGENT = Column("agent_id", "integer", "", "agent, from 0")
TRACE_PATH = text("trace_path", "file of the game, relative to the folder of traces", "P")
GAME_ID = text("game_id", "UUIDv5 of what defines the game", "P")
ROUND = Column("round", "integer", "", "number of the round, from 0", origin="P")
TARGET = Column("target_agent", "integer", "", "whose calendar the belief is about", origin="P")
OBSERVER = Column("observer_agent", "integer", "", "who holds the belief", origin="P")
EVENT = Column("event_index", "integer", "", "event of the trace, from 0", origin="P")
PLAYER = text("player", "who takes the seat")
PLAYER_KIND = text("kind", "of player: protocol, degenerate, scripted, model or custom", "C")
VPS_KIND = text(
    "vps_kind",
    "how V was measured: protocol (typed messages by their semantics), reflection (language, by "
    "what others report to have learnt), mixed; empty: not measured",
    "P",
)
ROW_VERSION = Column(
    "metrics_version", "integer", "", "version of the metrics that computed the row", origin="C"
)
