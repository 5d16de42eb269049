"""Differences between a computed file and the published one, by cell and row."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from calbench.errors import FileError
from calbench.files import printable, shorten

What = Literal[
    "cell",
    "row missing",
    "row new",
    "row twice",
    "rows in another order",
    "column missing",
    "column new",
    "columns in another order",
    "missing",
    "not published",
    "not readable",
    "other bytes",
    "other type",
    "other values",
    "version",
    "release",
]
"""Kind of a difference."""

NUMBER = "#"
"""Key column of a table without a key."""

NTH, PUBLISHED, NOW = "\0nth", "\0published", "\0now"
"""Names of auxiliary columns, which no table uses."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference.

    Attributes:
        file: path below ``data``.
        what: kind of the difference.
        row: key of the row, by column.
        column: of the cell, or the whole column.
        published: the cell, or version; empty for an empty cell.
        now: the same, as computed.
        note: explanation.
    """

    file: str
    what: What
    row: Mapping[str, str] = field(default_factory=dict)
    column: str = ""
    published: str | None = None
    now: str | None = None
    note: str = ""

    def __str__(self) -> str:
        """Return it on one line."""
        place = " ".join(f"{name}={_shown(value)}" for name, value in self.row.items())
        parts = [self.file.removeprefix("tables/")]
        if self.what not in {"cell", "version"}:
            parts.append(self.what)
        parts += [part for part in (place, self.column) if part]
        if self.published is not None and self.now is not None:
            parts.append(f"published {_shown(self.published)}, now {_shown(self.now)}")
        if self.note:
            parts.append(self.note)
        return printable(": ".join(parts))

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "file": self.file,
            "what": self.what,
            "row": dict(self.row),
            "column": self.column or None,
            "published": self.published,
            "now": self.now,
            "line": str(self),
        }


def _shown(value: str) -> str:
    return shorten(value) if value else "empty"


def parsed(data: bytes) -> pd.DataFrame:
    """Return a CSV file with all cells as text; an empty cell is an empty text.

    Raises:
        FileError: it is not a table.
    """
    try:
        reader = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
        header, rows = next(reader, None), []
        if not header:
            raise FileError("it has no header")
        for row in reader:
            if len(row) != len(header):
                raise FileError(
                    f"line {reader.line_num} has {len(row)} cells, the header has {len(header)}"
                )
            rows.append(row)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"line {line} is not UTF-8") from error
    except csv.Error as error:
        raise FileError(f"line {reader.line_num}: {error}") from error
    if len(set(header)) < len(header):
        raise FileError("two columns have one name")
    return pd.DataFrame(rows, columns=pd.Index(header), dtype=object)


def table_differences(
    file: str, published: bytes, now: bytes, key: Sequence[str]
) -> Iterator[Difference]:
    """Yield every difference of a table.

    Args:
        file: path below ``data``.
        published: the published file.
        now: the computed one.
        key: the key columns; without any, rows are named by their number.
    """
    try:
        old, new = parsed(published), parsed(now)
    except FileError as error:
        yield Difference(file, "not readable", note=str(error))
        return
    found = list(_columns(file, old, new, key))
    yield from found
    if not set(key) <= {*old.columns} & {*new.columns}:
        return
    if not key:
        key = [NUMBER]
        old, new = (frame.assign(**{NUMBER: (frame.index + 1).astype(str)}) for frame in (old, new))
    rows = list(_rows(file, old, new, list(key)))
    yield from rows
    if not found and not rows:
        yield Difference(file, "other bytes", note="the same cells, written otherwise")


def _columns(
    file: str, old: pd.DataFrame, new: pd.DataFrame, key: Sequence[str]
) -> Iterator[Difference]:
    for name in old.columns.difference(new.columns, sort=False):
        note = "it is in the key, so rows were not compared" if name in key else ""
        yield Difference(file, "column missing", column=name, note=note)
    for name in new.columns.difference(old.columns, sort=False):
        yield Difference(file, "column new", column=name)
    shared = [name for name in old.columns if name in new.columns]
    other = [name for name in new.columns if name in old.columns]
    if moved := [name for name, there in zip(shared, other, strict=True) if name != there]:
        yield Difference(file, "columns in another order", column=moved[0])


def _rows(file: str, old: pd.DataFrame, new: pd.DataFrame, key: list[str]) -> Iterator[Difference]:
    """Yield the differences of rows with the same key, and rows without a counterpart."""
    pairs = _pairs(old, new, key)
    is_old, is_new = pairs[PUBLISHED].notna(), pairs[NOW].notna()
    for row in _named(pairs[is_old & ~is_new], key):
        yield Difference(file, "row missing", row)
    for row, nth in zip(
        _named(pairs[is_new & ~is_old], key), pairs.loc[is_new & ~is_old, NTH], strict=True
    ):
        yield Difference(file, "row twice" if nth else "row new", row)
    both = pairs[is_old & is_new]
    yield from _cells(file, old, new, both, key)
    behind = both[NOW].diff() < 0
    if behind.any():
        row = next(_named(both[behind], key))
        yield Difference(file, "rows in another order", row, note="the first that moved up")


def _pairs(old: pd.DataFrame, new: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Return a row for each row of either table: its key, and its number in both."""

    def placed(frame: pd.DataFrame, column: str) -> pd.DataFrame:
        nth = frame.groupby(key, sort=False, dropna=False).cumcount()
        places = pd.DataFrame({NTH: nth, column: np.arange(len(frame))}, frame.index)
        return pd.concat([frame[key], places], axis="columns")

    pairs = placed(old, PUBLISHED).merge(placed(new, NOW), "outer", [*key, NTH])
    return pairs.sort_values([PUBLISHED, NOW])


def _named(rows: pd.DataFrame, key: list[str]) -> Iterator[dict[str, str]]:
    return (
        dict(zip(key, values, strict=True)) for values in zip(*(rows[k] for k in key), strict=True)
    )


def _cells(
    file: str, old: pd.DataFrame, new: pd.DataFrame, both: pd.DataFrame, key: list[str]
) -> Iterator[Difference]:
    shared = [name for name in old.columns if name in new.columns and name not in key]
    before = old[shared].to_numpy()[both[PUBLISHED].to_numpy(int)]
    after = new[shared].to_numpy()[both[NOW].to_numpy(int)]
    places = np.argwhere(before != after)
    rows = _named(both.iloc[places[:, 0]], key)
    for row, (line, column) in zip(rows, places, strict=True):
        was, now = before[line, column], after[line, column]
        yield Difference(file, "cell", row, shared[column], was, now)


def suite_differences(file: str, published: bytes, now: bytes) -> Iterator[Difference]:
    """Yield the scenarios of a suite that differ, by id, or by line without one."""
    old, new = (
        {_scenario_id(number, line): line for number, line in enumerate(data.splitlines(), 1)}
        for data in (published, now)
    )
    found: list[Difference] = []
    for name in old.keys() | new.keys():
        what: What = "row missing" if name not in new else "row new"
        if name in old and name in new:
            if old[name] == new[name]:
                continue
            what = "other bytes"
        found.append(Difference(file, what, {"scenario_id": name}))
    if not found:
        note = "the same scenarios, in another order or with other line ends"
        found.append(Difference(file, "other bytes", note=note))
    yield from sorted(found, key=lambda each: each.row.get("scenario_id", ""))


def _scenario_id(number: int, line: bytes) -> str:
    try:
        return str(json.loads(line)["scenario_id"])
    except (ValueError, TypeError, KeyError):
        return f"line {number}"


def file_differences(
    folder: str, published: Mapping[str, str], now: Mapping[str, str]
) -> tuple[list[Difference], set[str]]:
    """Compare files by their digests.

    Args:
        folder: below ``data``.
        published: digest, or its first digits, by file.
        now: digest by file.

    Returns:
        Files on one side only, and the names of those that differ.
    """
    missing = [Difference(f"{folder}/{name}", "missing") for name in published if name not in now]
    others = [
        Difference(f"{folder}/{name}", "not published") for name in now if name not in published
    ]
    differing = {n for n, d in published.items() if n in now and not now[n].startswith(d)}
    return [*missing, *others], differing
