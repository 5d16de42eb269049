"""Published numbers that changed from one release to the next, by table, column and row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from calbench.console import progress
from calbench.errors import ConfigError, FileError
from calbench.files import read_bytes
from calbench.release.copies import Copies, row_key
from calbench.release.differences import Difference, parsed, table_differences
from calbench.release.manifest import MANIFEST, Manifest, digests, read_manifest

COLUMNS = ("table", "what", "column", "key", "old", "new")
"""Columns of the list of all changes; ``key`` has ``column=value`` of each key column."""

VERSION = "metrics_version"
"""Column that changes in every row of a new version: its cells are not listed."""

KINDS: Mapping[str, str] = {
    "cell": "cell",
    "row missing": "row gone",
    "row new": "row new",
    "row twice": "row new",
    "column missing": "column gone",
    "column new": "column new",
    "rows in another order": "order",
    "columns in another order": "order",
    "not readable": "not compared",
}
"""What a change is called, by kind of difference; of others there are no cells to list."""


@dataclass(frozen=True)
class Numbers:
    """Tables on one side: of a release, or as the pipeline computed them.

    Attributes:
        folder: of the release, or of the tables.
        manifest: of the release; ``None`` for computed tables.
    """

    folder: Path
    manifest: Manifest | None

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """Digest of every CSV file, by path below the folder of tables."""
        if self.manifest is None:
            return digests(self.folder, _is_table)
        found = self.manifest.tables | self.manifest.files
        return {name: digest for name, digest in found.items() if _is_table(name)}

    def has_cells(self, name: str) -> bool:
        """Whether the cells of a table are there, not only its digest."""
        return self.manifest is None or name in self.manifest.tables

    def read(self, name: str) -> bytes:
        """Return a table as a CSV file.

        Raises:
            FileError: it cannot be read.
        """
        return read_bytes(self.folder / name) if self.manifest is None else self._copies.table(name)

    @cached_property
    def _copies(self) -> Copies:
        return Copies(self.folder)


def _is_table(name: str) -> bool:
    return name.endswith(".csv")


def numbers(folder: Path) -> Numbers:
    """Return the tables of a release, if the folder has its manifest, or of a folder of tables.

    Raises:
        ConfigError: there are none.
        FileError: the manifest is invalid.
    """
    found = Numbers(folder, read_manifest(folder) if (folder / MANIFEST).is_file() else None)
    if not found.digests:
        raise ConfigError(f"{folder}: holds neither a release nor tables")
    return found


def changes(old: Numbers, new: Numbers) -> pd.DataFrame:
    """Return every change as text, sorted by all of :data:`COLUMNS`; rows are matched by key."""
    names = sorted(old.digests.keys() | new.digests.keys())
    rows: list[tuple[str, ...]] = []
    with progress("compared tables", len(names)) as tick:
        for name in names:
            rows += _of_table(name, old, new)
            tick()
    found = pd.DataFrame(rows, columns=pd.Index(COLUMNS), dtype=object)
    return found.sort_values(list(COLUMNS), ignore_index=True)


def _of_table(name: str, old: Numbers, new: Numbers) -> Iterator[tuple[str, ...]]:
    if name not in new.digests or name not in old.digests:
        yield name, "table new" if name in new.digests else "table gone", "", "", "", ""
    elif old.digests[name] == new.digests[name]:
        return
    elif not (old.has_cells(name) and new.has_cells(name)):
        yield name, "not compared", "", "", "", "only checksums of this table are published"
    else:
        try:
            before, after = old.read(name), new.read(name)
            yield from _listed(name, before, after)
        except FileError as error:
            yield name, "not compared", "", "", "", str(error)


def _listed(name: str, before: bytes, after: bytes) -> Iterator[tuple[str, ...]]:
    """Yield the changes of a table that both sides have."""
    key, is_known = common_key(name, parsed(before), parsed(after))
    if not is_known:
        yield name, "not compared", "", "", "", "rows have another key"
    for each in table_differences(name, before, after, key):
        if (kind := KINDS.get(each.what)) and not (kind == "cell" and each.column == VERSION):
            yield name, kind, each.column, _key(each), each.published or "", each.now or each.note


def common_key(name: str, old: pd.DataFrame, new: pd.DataFrame) -> tuple[tuple[str, ...], bool]:
    """Return the columns by which rows are matched, and whether they tell rows apart.

    They are the declared key. Of key columns that one side lacks the others are enough if they
    still name each row once.
    """
    key = row_key(name, {*old.columns, *new.columns})
    shared = tuple(column for column in key if column in old.columns and column in new.columns)
    if shared == key:
        return key, True
    is_unique = bool(shared) and not any(rows.duplicated(list(shared)).any() for rows in (old, new))
    return (shared, True) if is_unique else (key, False)


def _key(difference: Difference) -> str:
    return " ".join(f"{name}={value}" for name, value in difference.row.items())
