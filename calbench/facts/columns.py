"""A column and what it means, and the columns that several frames share."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any, Literal

Kind = Literal["text", "integer", "number", "truth", "list"]

DIGITS = 4
"""Decimals of numbers in tables, unless a column says otherwise [C]."""

FINE_DIGITS = 6
"""Decimals of the loss by one message, round or game, and of US$ [C]."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: as in the header.
        kind: of its cells; an empty cell is absent, never zero. A list is one cell with spaces
            between its parts.
        unit: of numbers, else empty.
        meaning: in words.
        denominator: what a mean is over, else empty.
        origin: [P] the paper, [R] the authors' public code, [F] fitted to the paper's numbers,
            [C] our choice; empty for identifiers.
        digits: decimals of numbers; ``None`` where they differ by row and numbers come as text.
        is_trimmed: whether trailing zeros are left out.
        is_key: whether it is part of the key of the table.
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
    """Return a column of text."""
    return Column(name, "text", "", meaning, origin=origin)


def listed(name: str, meaning: str, origin: str = "") -> Column:
    """Return a column of lists."""
    return Column(name, "list", "", meaning, origin=origin)


def truth(name: str, meaning: str, origin: str = "") -> Column:
    """Return a column of true and false."""
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


def precise(name: str, unit: str, meaning: str, denominator: str = "", origin: str = "C") -> Column:
    """Return a column of numbers with :data:`FINE_DIGITS` decimals."""
    return number(name, unit, meaning, denominator, origin, FINE_DIGITS)


def fine(
    name: str,
    unit: str,
    meaning: str,
    denominator: str = "",
    origin: str = "C",
    digits: int = FINE_DIGITS,
) -> Column:
    """Return a column of numbers with at most ``digits`` decimals, without trailing zeros."""
    return Column(name, "number", unit, meaning, denominator, origin, digits, is_trimmed=True)


INTERVALS = (
    "t (over scenarios), bound (exact, over scenarios); or why there is none: few (below 4 "
    "scenarios), same (one value in too many of them), exact (constant by construction); empty "
    "without a value"
)


def estimated(
    name: str, unit: str, meaning: str, denominator: str, origin: str = "C"
) -> tuple[Column, ...]:
    """Return the columns of an estimate: the mean, and its interval with how it was made."""
    return (
        number(name, unit, meaning, denominator, origin),
        number(f"{name}_low", unit, "lower end of the interval over scenarios", denominator),
        number(f"{name}_high", unit, "upper end of the interval over scenarios", denominator),
        text(f"{name}_interval", INTERVALS, "C"),
    )


def proportion(name: str, meaning: str, denominator: str, origin: str = "C") -> tuple[Column, ...]:
    """Return the columns of a share: itself, and its interval with how it was made."""
    return estimated(name, "share", meaning, denominator, origin)


def independent_proportion(
    name: str, meaning: str, denominator: str, origin: str = "C"
) -> tuple[Column, Column, Column]:
    """Return the columns of a share of independent trials, and the ends of its interval."""
    interval = "end of the Wilson interval, which assumes independent trials"
    return (
        number(name, "share", meaning, denominator, origin),
        number(f"{name}_low", "share", f"lower {interval}", denominator),
        number(f"{name}_high", "share", f"upper {interval}", denominator),
    )


_DECLARERS: Mapping[str, Callable[..., Column | tuple[Column, ...]]] = {
    "text": text,
    "list": listed,
    "truth": truth,
    "count": count,
    "number": number,
    "precise": precise,
    "fine": fine,
    "estimate": estimated,
    "share": proportion,
    "wilson": independent_proportion,
}
"""What makes the column, or the columns, of each kind of entry in :func:`columns`."""

_WITHOUT_UNIT = frozenset({"text", "list", "truth", "share", "wilson"})

# e.g. whole "mean (number2, US$; P): of all games // games"; not "mean: of all games",
# nor "mean (number; Q): of all games", nor "mean (number): of all games //games"
_ENTRY = re.compile(
    r"(\w+) \((\w+?)(\d*)(?:, ([^;()]+))?(?:; (-|[PRFC]\b[^()]*))?\): "
    r"((?:(?!//).)+?)(?: // ((?:(?!//).)+))?"
)
"""A column: name, kind with its decimals, unit, origin, meaning and denominator."""

# e.g. whole "setting team games"; not "setting, team"
_NAMES = re.compile(r"\w+(?: \w+)*")
"""Columns that are described elsewhere."""


def columns(
    entries: str, of: Iterable[Column] = (), **groups: Iterable[Column]
) -> tuple[Column, ...]:
    """Return columns as they are declared in words, in their order.

    An entry begins at the left margin; further lines of it are indented::

        setting team prices
        games (count, games): games scored
        mean (number2, US$ per game; P, rounding C): of all players // games

    That is ``NAME (KIND, UNIT; ORIGIN): MEANING // DENOMINATOR``. A kind is a key of
    :data:`_DECLARERS`, with decimals behind it where they differ from its own; an origin of ``-``
    is none where the kind has one. Names alone are those of known columns.

    Args:
        entries: the declarations.
        of: columns that are known by name, before those that all tables share.
        groups: columns that one name means.

    Raises:
        ValueError: an entry is neither, or has what its kind has not; a name is not known, or a
            column declared twice.
    """
    known: dict[str, tuple[Column, ...]] = {name: tuple(each) for name, each in groups.items()}
    for column in (*of, *_SHARED):
        known.setdefault(column.name, (column,))
    found: list[Column] = []
    for entry in re.split(r"\n(?! )", dedent(entries).strip()):
        line = " ".join(entry.split())
        if _NAMES.fullmatch(line):
            if unknown := [name for name in line.split() if name not in known]:
                raise ValueError(f"no column is called {unknown[0]}")
            found += [column for name in line.split() for column in known[name]]
        elif match := _ENTRY.fullmatch(line):
            found += _declared(match)
        else:
            raise ValueError(f"declares no column: {line}")
    names = Counter(column.name for column in found)
    if twice := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"a column is declared twice: {twice[0]}")
    return tuple(found)


def _declared(match: re.Match[str]) -> tuple[Column, ...]:
    """Return the columns of one entry."""
    name, kind, digits, unit, origin, meaning, denominator = match.groups(default="")
    given: dict[str, Any] = {} if kind in _WITHOUT_UNIT and not unit else {"unit": unit}
    given |= {"denominator": denominator} if denominator else {}
    given |= {"origin": origin.removeprefix("-")} if origin else {}
    given |= {"digits": int(digits)} if digits else {}
    try:
        made = _DECLARERS[kind](name, meaning=meaning, **given)
    except (KeyError, TypeError) as error:
        raise ValueError(f"declares no column: {match[0]}") from error
    return (made,) if isinstance(made, Column) else made


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
UNIT = "unit of the measure"

SETTING = text("setting", "setting of the scenario")
TEAM = text("team", "team id")
SCENARIO = text("scenario_id", "scenario id, unique in its suite file")
AGENT = count("agent_id", "", "agent, from 0", "")
REPLICATE = count(
    "replicate",
    "",
    "which of the games of the team on the scenario, from 0; models answer anew",
    "C",
)
TRACE_PATH = text("trace_path", "file of the game, relative to the folder of traces", "P")
GAME_ID = text("game_id", "UUIDv5 of what defines the game", "P")
ROUND = count("round", "", "number of the round, from 0", "P")
TARGET = count("target_agent", "", "whose calendar the belief is about", "P")
OBSERVER = count("observer_agent", "", "agent that holds the belief", "P")
EVENT = count("event_index", "", "event of the trace, from 0", "P")
PLAYER = text("player", "player in the seat")
PLAYER_KIND = text("kind", "of player: protocol, degenerate, scripted, model or custom", "C")
VPS_KIND = text(
    "vps_kind",
    "how V was measured: protocol (typed messages, by their semantics), reflection (language, by "
    "the integers in which others report how beliefs moved), expected (by the expected values of "
    "these, from token log-probabilities), mixed; empty: not measured. Losses of two kinds are not "
    "comparable",
    "P",
)
ROW_VERSION = count("metrics_version", "", "version of the metrics that computed the row", "C")

_SHARED = (
    *(SETTING, TEAM, SCENARIO, AGENT, REPLICATE, TRACE_PATH, GAME_ID, ROUND, TARGET, OBSERVER),
    *(EVENT, PLAYER, PLAYER_KIND, VPS_KIND),
)
"""Columns that :func:`columns` knows by name."""
