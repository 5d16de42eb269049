"""The published tables of a run: each is declared once, and written, described and tested here."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypeVar

import pandas as pd

from calbench.errors import FileError
from calbench.facts.columns import (
    REPLICATE,
    ROW_VERSION,
    SCENARIO,
    TRACE_PATH,
    Column,
    columns,
    keyed,
)
from calbench.facts.frames import (
    arrow_schema,
    arrow_table,
    as_shown,
    cast,
    csv_text,
    header,
    parquet_writer,
    read_csv,
    read_parquet,
)
from calbench.facts.storage import Facts
from calbench.files import read_bytes, written_atomically
from calbench.llm.prices import Price
from calbench.metrics.measure import DEFAULT_MEASURE, METRICS_VERSION, MeasureSpec
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of a run's tables.

    Attributes:
        measure: of the metrics.
        analysis: of the estimates.
        prices: of tokens, by model as LiteLLM spells it; without an entry unknown.
    """

    measure: MeasureSpec = DEFAULT_MEASURE
    analysis: AnalysisSpec = DEFAULT_ANALYSIS
    prices: Mapping[str, Price] = field(default_factory=dict)


Made = pd.DataFrame | Iterable[pd.DataFrame]
"""A table: a frame, or its parts."""

Make = Callable[[Facts, Settings], Made]

Maker = TypeVar("Maker", bound=Make)

VERSION = ROW_VERSION.name

MOST_GAMES = 10_000
"""Most games of a run whose tables of single games and agents are CSV [C], beyond it Parquet."""


PART_ROWS = 100_000
"""Most rows of a table that are written at once [C]: bounds memory, also that of its reader."""


@dataclass(frozen=True)
class Declared:
    """Declaration of a table.

    Attributes:
        path: below the folder of tables; its suffix is the format.
        columns: in their order, keys marked.
        about: its contents, in a sentence.
    """

    path: str
    columns: tuple[Column, ...]
    about: str

    @property
    def is_large(self) -> bool:
        """Whether it grows with messages: it is Parquet, and a release has only its checksums."""
        return self.path.endswith(".parquet")

    @property
    def grows(self) -> bool:
        """Whether it is a CSV file with rows for each game."""
        is_of_games = {"team", SCENARIO.name} <= set(self.key) or TRACE_PATH.name in self.key
        return is_of_games and not self.is_large

    @property
    def key(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(column.name for column in self.columns if column.is_key)

    def as_written(self, names: Container[str]) -> Self:
        """Return the table with the columns that a file of it has."""
        return self.with_replicates() if REPLICATE.name in names else self

    def as_parquet(self) -> Self:
        """Return the table of a run of many games."""
        return replace(self, path=_other(self.path))

    def file(self, folder: Path) -> Path | None:
        """Return the file of it below a folder, as CSV or as Parquet; ``None`` without any."""
        found = (folder / path for path in dict.fromkeys((self.path, _other(self.path))))
        return next((path for path in found if path.is_file()), None)

    def read(self, folder: Path) -> pd.DataFrame:
        """Read it as :meth:`file` finds it, with the columns that it has there.

        Raises:
            FileError: it is missing, cannot be read, or is no such table.
        """
        path = self.file(folder) or folder / self.path
        if path.suffix == ".csv":
            return read_csv(path, self.as_written(header(path)).columns)
        found = read_parquet(path)
        try:
            return cast(found, self.as_written(found.columns).columns)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise FileError(f"{path}: is not the table it should be; make it again") from error

    def with_replicates(self) -> Self:
        """Return the table of a run whose teams play a scenario several times.

        A table with a row for a team on a scenario then has the replicate beside the scenario; one
        that sets a team beside its base has means over their games.
        """
        if not {"team", SCENARIO.name} <= set(self.key) or "base" in self.key:
            return self
        (own,) = keyed([REPLICATE], REPLICATE.name)
        place = [column.name for column in self.columns].index(SCENARIO.name) + 1
        return replace(self, columns=(*self.columns[:place], own, *self.columns[place:]))


@dataclass(frozen=True)
class Table(Declared):
    """A published table of a run.

    Attributes:
        make: from facts and settings to its rows; other columns than the declared are dropped.
        needs: facts that it requires.
    """

    make: Make
    needs: tuple[str, ...]

    def frames(
        self, facts: Facts, settings: Settings, at_once: int = PART_ROWS
    ) -> Iterator[pd.DataFrame]:
        """Yield its rows, never more than so many at once; a file gives them the declared types."""
        made = self.make(facts, settings)
        for frame in [made] if isinstance(made, pd.DataFrame) else made:
            versioned = frame.assign(**{VERSION: METRICS_VERSION})
            for start in range(0, len(frame), at_once):
                yield versioned.iloc[start : start + at_once]

    def write(self, facts: Facts, settings: Settings, folder: Path) -> None:
        """Write it below a folder, whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        write_frames(folder / self.path, self.frames(facts, settings), self.columns)
        (folder / _other(self.path)).unlink(missing_ok=True)  # of when the run had other games


def _other(path: str) -> str:
    """Return where a table is in the other form."""
    name, _, suffix = path.rpartition(".")
    return f"{name}.{'csv' if suffix == 'parquet' else 'parquet'}"


def sentence(make: Callable[..., object]) -> str:
    """Return the contents of a function's table: the first paragraph of its docstring."""
    return " ".join(_docstring(make).split("\n\n")[0].split())


def _docstring(make: Callable[..., object]) -> str:
    """Return a function's docstring, from its source where ``python -OO`` left it out."""
    if make.__doc__ is not None:
        return make.__doc__
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(make))).body
    return (ast.get_docstring(found) if isinstance(found, ast.FunctionDef) else None) or ""


TABLES: dict[str, Table] = {}
"""Every table by its path, in the order of the data dictionary."""


def table(
    path: str,
    declared: str | Sequence[Column],
    key: str,
    *,
    needs: str = "",
    is_versioned: bool = True,
    of: Iterable[Column] = (),
    **groups: Iterable[Column],
) -> Callable[[Maker], Maker]:
    """Register a function as a table.

    Args:
        path: below the folder of tables, ``.parquet`` if it grows with messages, else ``.csv``.
        declared: its columns in their order, or entries as :func:`columns` reads them.
        key: names of the key columns, separated by spaces.
        needs: names of facts that it requires and not every run has, separated by spaces.
        is_versioned: whether its last column is the version of the metrics.
        of: columns that entries may name, as in :func:`columns`.
        groups: columns that one name means, as in :func:`columns`.
    """
    own = columns(declared, of, **groups) if isinstance(declared, str) else declared
    version = (ROW_VERSION,) if is_versioned else ()

    def register(make: Maker) -> Maker:
        if {path, _other(path)} & TABLES.keys():
            raise ValueError(f"two tables are called {path}")
        every = (*keyed(own, key), *version)
        TABLES[path] = Table(path, every, sentence(make), make, tuple(needs.split()))
        return make

    return register


def tables_of(facts: Facts, most_games: int = MOST_GAMES) -> list[Table]:
    """Return the tables that can be made of facts, as they are written for so many games."""
    found = [each for each in TABLES.values() if all(map(facts.has, each.needs))]
    if len(facts.games) > most_games:
        found = [each.as_parquet() if each.grows else each for each in found]
    return [each.with_replicates() for each in found] if facts.has_replicates else found


def table_file(folder: Path, path: str) -> Path | None:
    """Return the file of a table, of a run or another, as CSV or Parquet; ``None`` without any."""
    if path in TABLES:
        return TABLES[path].file(folder)
    return folder / path if (folder / path).is_file() else None


def table_bytes(folder: Path, path: str) -> bytes:
    """Return a table of a folder as CSV, as which it need not be there.

    Args:
        folder: of tables.
        path: of the table below it, as it is declared.

    Raises:
        FileError: it cannot be read.
    """
    file = table_file(folder, path)
    if file is None or file.suffix == ".csv":
        return read_bytes(folder / path)
    frame = TABLES[path].read(folder)
    return "".join(csv_text([frame], TABLES[path].as_written(frame.columns).columns)).encode()


def write_frames(path: Path, frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> None:
    """Write a table by its columns, whole or not at all.

    Raises:
        OutputError: naming the place, if it cannot be written.
    """
    save = _save_parquet if path.suffix == ".parquet" else _save_csv
    with written_atomically(path, is_synced=False) as beside:
        save(beside, frames, columns)


def _save_csv(path: Path, frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_text(frames, columns))


def _save_parquet(path: Path, frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> None:
    with parquet_writer(path, arrow_schema(columns)) as writer:
        for frame in frames:
            if len(frame):  # else it would be an empty row group
                writer.write_table(arrow_table(as_shown(frame, columns), columns), len(frame))
