"""Copies of suites and tables in a release: the computed files, byte for byte.

The tables of an experiment are one archive, a tenth of their size. Those that people compare by eye
are files of their own.
"""

from collections.abc import Collection, Container, Mapping
from pathlib import Path, PurePosixPath

from calbench.analysis.audit_sample import SAMPLE
from calbench.analysis.registry import Declared
from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables import TABLES
from calbench.errors import FileError
from calbench.facts.columns import Column
from calbench.files import read_bytes
from calbench.release import manifest
from calbench.release.archives import SUFFIX, archived, read_archive, write_files
from calbench.release.manifest import experiment_of, packed, unpacked

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
    """Return the path of what holds the copy of a table: itself, or its experiment's archive."""
    tables = release / manifest.TABLES
    is_apart = PurePosixPath(name).name in READ_BY_PEOPLE
    return tables / (name if is_apart else f"{experiment_of(name)}{SUFFIX}")


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


def write_table_copies(release: Path, names: Collection[str], computed: Path) -> None:
    """Write the copies of tables.

    Args:
        release: its folder.
        names: of the tables, as paths below the folder that holds them.
        computed: that folder.

    Raises:
        FileError: one cannot be read.
    """
    by_path: dict[Path, list[str]] = {}
    for name in sorted(names):
        by_path.setdefault(table_copy(release, name), []).append(name)
    for path, held in by_path.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        files = [(name, read_bytes(computed / name)) for name in held]
        path.write_bytes(archived(files) if path.name.endswith(SUFFIX) else files[0][1])


class Copies:
    """The copies of a release; tables of one experiment after the other are read fastest."""

    def __init__(self, release: Path) -> None:
        self._release = release
        self._opened: tuple[Path, Mapping[str, bytes] | str] | None = None

    def suite(self, name: str) -> bytes:
        """Return the published bytes of a suite.

        Raises:
            FileError: the copy is missing or broken.
        """
        return unpacked(suite_copy(self._release, name))

    def table(self, name: str) -> bytes:
        """Return the published bytes of a table.

        Raises:
            FileError: the copy is missing or broken.
        """
        return self._beside(name)[name]

    def unpack(self, name: str, folder: Path) -> None:
        """Write a table into a folder, with what is in its archive, unless it is there.

        Raises:
            FileError: the copy is missing or broken.
        """
        if not (folder / name).is_file():
            write_files(self._beside(name), folder)

    def _beside(self, name: str) -> Mapping[str, bytes]:
        """Return a table with what is in its archive; one that is broken is read once."""
        path = table_copy(self._release, name)
        if not path.name.endswith(SUFFIX):
            return {name: read_bytes(path)}
        if self._opened is None or self._opened[0] != path:
            try:
                self._opened = path, read_archive(path)
            except FileError as error:
                self._opened = path, str(error)
        held = self._opened[1]
        if isinstance(held, str):
            raise FileError(held)
        if name not in held:
            raise FileError(f"{path}: holds no {name}; get it again with git")
        return held
