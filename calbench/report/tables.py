"""CSV tables as pages read them: cells stay text, so that a page can show them word for word."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from calbench.analysis.tables import table_bytes, table_file
from calbench.errors import FileError
from calbench.files import read_bytes

Row = Mapping[str, str]
"""A row of a table by column. An empty cell is absent."""


class Tables:
    """The tables of a folder; each is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, list[Row]] = {}

    @property
    def names(self) -> list[str]:
        """The files of the folder's tables, in the order of their names."""
        return sorted(path.name for path in self.folder.glob("*.csv"))

    def has(self, name: str) -> bool:
        """Return whether there is such a table."""
        return name in self._rows or table_file(self.folder, name) is not None

    def rows(self, name: str, **where: str) -> list[Row]:
        """Return the rows of a table.

        Args:
            name: of its file, e.g. ``leaderboard.csv``.
            where: cells that a row must have, by column.

        Raises:
            FileError: it cannot be read, or a row does not fit its header.
        """
        if name not in self._rows:
            self._rows[name] = self.read(name)
        rows = self._rows[name]
        if not where:
            return rows
        return [row for row in rows if all(row[key] == cell for key, cell in where.items())]

    def read(self, name: str) -> list[Row]:
        """Return the same without keeping it."""
        return _parsed(self.folder / name, table_bytes(self.folder, name))

    def optional(self, name: str, **where: str) -> list[Row]:
        """Return the rows of a table that not every run has; none if it is absent."""
        return self.rows(name, **where) if self.has(name) else []


def read_table(path: Path) -> list[Row]:
    """Read a CSV file with a header.

    Raises:
        FileError: it cannot be read, or a row does not fit its header.
    """
    return _parsed(path, read_bytes(path))


def _parsed(path: Path, data: bytes) -> list[Row]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: byte {error.start + 1} is not UTF-8") from error
    lines = filter(None, csv.reader(io.StringIO(text, newline="")))
    rows: list[Row] = []
    try:
        header = next(lines, [])
        for number, cells in enumerate(lines, start=2):
            if len(cells) != len(header):
                raise FileError(
                    f"{path}, line {number}: not as many cells as the header has columns"
                )
            rows.append(dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise FileError(f"{path}, line {len(rows) + 2}: {error}") from error
    return rows


def csv_bytes(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    """Return a table with these columns of rows as the content of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
