"""Tables as pages read them: once, by the declaration of their columns, into rows of true types.

A number keeps how it is written, so that a page can show it word for word: decimals that were
published are part of what is said.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from calbench.analysis.audit_sample import SAMPLE
from calbench.analysis.registry import Declared
from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables import TABLES, table_bytes, table_file
from calbench.documents import read_yaml
from calbench.errors import ConfigError, FileError
from calbench.facts.columns import Column, Kind
from calbench.files import printable, read_bytes, shorten, utf8_text

Row = Mapping[str, Any]
"""A row of a table by column: text, tuples of text, ``int``, :class:`Number` and ``bool``. Absent
are ``None``, no text and the empty tuple."""

Said = TypeVar("Said")

PUBLISHED_COLUMNS, PUBLISHED_ROWS = "columns.yaml", "tables.yaml"
"""Beside the numbers of others: what their columns are, and in a sentence what their rows are."""


class Number(float):
    """A number of a table; as text it is the cell word for word."""

    __slots__ = ("cell",)

    cell: str

    def __new__(cls, cell: str) -> Self:
        """Read a cell.

        Raises:
            ValueError: it is no finite number.
        """
        found = super().__new__(cls, cell)
        if not found - found == 0:
            raise ValueError(f"not finite: {cell}")
        found.cell = cell
        return found

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        """Return what makes an equal one, in another process too."""
        return (self.cell,)

    def __str__(self) -> str:
        """Return the cell."""
        return self.cell


READ: Mapping[Kind, Callable[[str], Any]] = {
    "text": str,
    "list": lambda cell: tuple(cell.split()),
    "integer": int,
    "number": Number,
    "truth": {"true": True, "false": False}.__getitem__,
}
"""What makes a value of a cell that is not empty, by the kind of its column."""

ABSENT: Mapping[Kind, Any] = {"text": "", "list": ()}
"""What an empty cell is, where it is not ``None``."""


def cell_of(value: Any) -> str:
    """Return a value as tables write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(value) if isinstance(value, tuple) else str(value)


class Tables:
    """The tables of a folder; each is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, list[Row]] = {}
        self._found: dict[tuple[str, ...], dict[Any, list[Row]]] = {}

    @property
    def names(self) -> list[str]:
        """The files of the folder's tables, in the order of their names."""
        return sorted(path.name for path in self.folder.glob("*.csv"))

    def has(self, name: str) -> bool:
        """Return whether there is such a table."""
        return name in self._rows or table_file(self.folder, name) is not None

    def rows(self, name: str, **where: Any) -> list[Row]:
        """Return the rows of a table.

        Args:
            name: of its file, e.g. ``leaderboard.csv``.
            where: values that a row must have, by column.

        Raises:
            FileError: it cannot be read, or a row does not fit its header or declaration.
        """
        if name not in self._rows:
            self._rows[name] = self._read(name)
        if not where:
            return self._rows[name]
        key = (name, *where)
        if key not in self._found:
            self._found[key] = grouped(self._rows[name], *where)
        values = tuple(where.values())
        return list(self._found[key].get(values[0] if len(values) == 1 else values, ()))

    def _read(self, name: str) -> list[Row]:
        path = self.folder / name
        header, lines = _parsed(path, table_bytes(self.folder, name))
        kinds = self._kinds(name)
        typed = {
            column: _typed(path, [line[at] for line in lines], kinds.get(column, "text"))
            for at, column in enumerate(header)
        }
        return [dict(zip(typed, row, strict=True)) for row in zip(*typed.values(), strict=True)]

    def optional(self, name: str, **where: Any) -> list[Row]:
        """Return the rows of a table that not every run has; none if it is absent."""
        return self.rows(name, **where) if self.has(name) else []

    def _kinds(self, name: str) -> Mapping[str, Kind]:
        """Return the kinds of a table's columns; what nobody declares is text."""
        if self.described:
            declared = self.described.get(name, [])
        else:
            found = [table for table in DECLARED if table.path == name]
            declared = [column for table in found for column in table.with_replicates().columns]
        return {column.name: column.kind for column in declared}

    @cached_property
    def described(self) -> Mapping[str, Sequence[Column]]:
        """The columns of tables that a file beside them describes, as those of others are."""
        return published_columns(self.folder)


DECLARED: Sequence[Declared] = (SAMPLE, *SUMMARY.values(), *TABLES.values())
"""What is made of several runs may have the name of a table of one; their columns agree."""


def _typed(path: Path, cells: Sequence[str], kind: Kind) -> list[Any]:
    """Return the values of a column; equal cells are read once."""
    read, absent = READ[kind], ABSENT.get(kind)
    try:
        values = {cell: read(cell) if cell else absent for cell in set(cells)}
    except (ValueError, KeyError) as error:
        reason = shorten(printable(str(error)), 80)
        raise FileError(f"{path}: a cell is not the {kind} it should be: {reason}") from error
    return [values[cell] for cell in cells]


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a CSV file with a header as text.

    Raises:
        FileError: it cannot be read, or a row does not fit its header.
    """
    header, lines = _parsed(path, read_bytes(path))
    return [dict(zip(header, line, strict=True)) for line in lines]


def _parsed(path: Path, data: bytes) -> tuple[list[str], list[list[str]]]:
    """Return the header and the cells of every row."""
    text = utf8_text(path, data)
    rows: list[list[str]] = []
    try:
        rows += filter(None, csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise FileError(f"{path}, line {len(rows) + 1}: {error}") from error
    header = rows[0] if rows else []
    for number, cells in enumerate(rows[1:], start=2):
        if len(cells) != len(header):
            raise FileError(f"{path}, line {number}: not as many cells as the header has columns")
    return header, rows[1:]


def csv_bytes(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    """Return a table with these columns of rows as the content of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell_of(row[column]) for column in columns] for row in rows)
    return text.getvalue().encode()


def published_columns(folder: Path) -> dict[str, list[Column]]:
    """Return the columns of the numbers of others by file; none if nothing describes them.

    Raises:
        FileError: the description cannot be read.
    """
    return _described(
        folder / PUBLISHED_COLUMNS,
        lambda columns: [Column(**{"unit": "", **column}) for column in columns],
        "describe tables by their columns",
    )


def published_rows(folder: Path) -> dict[str, str]:
    """Return what the rows of the numbers of others are, by file; nothing if nobody says.

    Raises:
        FileError: the description cannot be read.
    """
    return _described(folder / PUBLISHED_ROWS, _sentence, "say what the rows of tables are")


def _sentence(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a sentence each")
    return value


def _described(path: Path, read: Callable[[Any], Said], what: str) -> dict[str, Said]:
    """Return what a file says of each table; nothing without the file."""
    if not path.is_file():
        return {}
    try:
        return {name: read(said) for name, said in read_yaml(path).items()}
    except ConfigError as error:
        raise FileError(f"{error}; it does not {what}") from error
    except (AttributeError, TypeError, ValueError) as error:
        problem = shorten(printable(str(error)), 200)
        raise FileError(f"{path}: does not {what} ({problem})") from error


def grouped(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Return rows by what some columns hold: by a value, or by a tuple of those of several."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        key = tuple(row[column] for column in columns)
        found.setdefault(key[0] if len(columns) == 1 else key, []).append(row)
    return found


def wide(rows: Iterable[Row], names: Sequence[str], across: str, value: str) -> list[Row]:
    """Return a row for each that names tell apart, with a column for each cell of ``across``."""
    listed = list(rows)
    absent = dict.fromkeys(cell_of(row[across]) for row in listed)
    return [
        {**own[0], **absent, **{cell_of(row[across]): row[value] for row in own}}
        for own in grouped(listed, *names).values()
    ]


def ordered(rows: Iterable[Row], column: str, *, largest: bool = False) -> list[Row]:
    """Return rows by a number, least first, within each setting; those without it come last."""
    listed = list(rows)
    settings = list(dict.fromkeys(row.get("setting") for row in listed))

    def place(row: Row) -> tuple[int, bool, float]:
        number = row[column]
        known = 0.0 if number is None else float(number)
        return settings.index(row.get("setting")), number is None, -known if largest else known

    return sorted(listed, key=place)


def foremost(rows: Iterable[Row], column: str, *, largest: bool) -> list[Row]:
    """Return the rows with the greatest or the least number of a column, ties included."""
    known = [row for row in rows if row[column] is not None]
    end = (max if largest else min)((row[column] for row in known), default=None)
    return [row for row in known if row[column] == end]
