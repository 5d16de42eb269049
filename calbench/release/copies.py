"""Copies of suites and tables in a release, which restore the computed files to the byte.

A table is kept as Parquet with the declared types of its columns: it has a tenth of the size of the
CSV file. Tables that people compare by eye are kept as CSV.
"""

from collections.abc import Container, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pyarrow import parquet

from calbench.analysis.audit_sample import SAMPLE
from calbench.analysis.registry import Declared
from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables import TABLES
from calbench.errors import FileError
from calbench.facts.columns import Column, text
from calbench.facts.frames import PARQUET_VERSION, arrow_table, csv_text, header, read_csv
from calbench.facts.frames import read_parquet as read_frame
from calbench.files import read_bytes
from calbench.release import manifest
from calbench.release.manifest import packed, unpacked

COMPACT: Mapping[str, Any] = {
    "version": PARQUET_VERSION,
    "compression": "zstd",
    "compression_level": 19,
    "use_dictionary": False,
    "write_statistics": False,
    "store_schema": False,
}
"""Options of Parquet files, for half of the usual size [C]."""

SUMMARY_FOLDER = "summary"
"""Folder of tables over several experiments, in that of tables."""

READ_BY_PEOPLE = frozenset({"audit_sample.csv", "leaderboard.csv"})
"""Tables kept as CSV: they have few rows and show whether a result moved [C]."""


def declared(name: str) -> Declared | None:
    """Return the declaration of a table, if it has one.

    Args:
        name: path below the folder of tables; it begins with an experiment or the summary.
    """
    folder, _, inner = name.partition("/")
    if name == SAMPLE.path:
        return SAMPLE
    return SUMMARY.get(inner) if folder == SUMMARY_FOLDER else TABLES.get(inner)


def kept_columns(name: str, written: Container[str] = ()) -> tuple[Column, ...]:
    """Return the columns of a table that is copied; none for any other file.

    Large tables, which grow with messages, are not copied.

    Args:
        name: path below the folder of tables.
        written: columns that the file has: the replicate is one only where there are several.
    """
    table = declared(name)
    return () if table is None or table.is_large else table.as_written(written).columns


def is_copied(name: str) -> bool:
    """Whether the release has a copy of a table, not only its digest."""
    path = PurePosixPath(name)
    return path.name in READ_BY_PEOPLE or (path.suffix == ".csv" and kept_columns(name) != ())


def row_key(name: str, written: Container[str] = ()) -> tuple[str, ...]:
    """Return the key columns of a table; none if it is not declared.

    Arguments as in :func:`kept_columns`.
    """
    return tuple(column.name for column in kept_columns(name, written) if column.is_key)


def table_copy(release: Path, name: str) -> Path:
    """Return the path of the copy of a table."""
    path = release / manifest.TABLES / name
    return path if path.name in READ_BY_PEOPLE else path.with_suffix(".parquet")


def suite_copy(release: Path, name: str) -> Path:
    """Return the path of the copy of a suite."""
    return release / manifest.SUITES / f"{name}.gz"


def write_suite_copy(release: Path, name: str, computed: Path) -> None:
    """Write the copy of a suite.

    Raises:
        FileError: it cannot be read.
    """
    path = suite_copy(release, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(read_bytes(computed)))


def write_table_copy(release: Path, name: str, computed: Path) -> None:
    """Write the copy of a table.

    Raises:
        FileError: it is not as declared, or cannot be restored to the byte.
    """
    path, data = table_copy(release, name), read_bytes(computed)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        path.write_bytes(data)
        return
    columns = kept_columns(name, header(computed))
    rows = arrow_table(read_csv(computed, columns), columns)
    parquet.write_table(rows.replace_schema_metadata(None), path, **COMPACT)
    if read_table_copy(release, name) != data:
        raise FileError(
            f"{computed}: is not written as its columns are declared; make the table again"
        )


def read_suite_copy(release: Path, name: str) -> bytes:
    """Return the published bytes of a suite.

    Raises:
        FileError: the copy is missing or broken.
    """
    return unpacked(suite_copy(release, name))


def read_table_copy(release: Path, name: str) -> bytes:
    """Return the published bytes of a table.

    Raises:
        FileError: the copy is missing or broken.
    """
    path = table_copy(release, name)
    if path.suffix == ".csv":
        return read_bytes(path)
    frame = read_frame(path)
    known = {column.name: column for column in kept_columns(name, frame.columns)}
    columns = [known.get(column, text(column, "declared no more")) for column in frame.columns]
    return "".join(csv_text([frame], columns)).encode()
