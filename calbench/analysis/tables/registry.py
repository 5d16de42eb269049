"""The published tables of a run: each is declared once, and written, described and tested here."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

import pandas as pd

from calbench.analysis.settings import Settings
from calbench.facts.columns import REPLICATE, ROW_VERSION, SCENARIO, Column, keyed
from calbench.facts.frames import (
    arrow_schema,
    arrow_table,
    as_shown,
    cast,
    csv_text,
    parquet_writer,
)
from calbench.facts.storage import Facts
from calbench.files import written_atomically
from calbench.metrics.measure import METRICS_VERSION

Made = pd.DataFrame | Iterable[pd.DataFrame]
"""A table: a frame, or its parts."""

Make = Callable[[Facts, Settings], Made]

Maker = TypeVar("Maker", bound=Make)

VERSION = ROW_VERSION.name


@dataclass(frozen=True)
class Declared:
    """Declaration of a table.

    Attributes:
        path: below the folder of tables; its suffix is the format.
        columns: in their order, keys marked.
        about: its contents, in a sentence.
        is_large: whether it grows with messages: then a release has only its checksum.
    """

    path: str
    columns: tuple[Column, ...]
    about: str
    is_large: bool

    @property
    def key(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(column.name for column in self.columns if column.is_key)

    def as_written(self, names: Container[str]) -> Self:
        """Return the table with the columns that a file of it has."""
        return self.with_replicates() if REPLICATE.name in names else self

    def with_replicates(self) -> Self:
        """Return the table of a run whose teams play a scenario several times.

        A table with a row for a team on a scenario then has the replicate beside the scenario.
        """
        if not {"team", SCENARIO.name} <= set(self.key):
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

    def frames(self, facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
        """Yield its rows with the declared columns and types."""
        made = self.make(facts, settings)
        for part in [made] if isinstance(made, pd.DataFrame) else made:
            if not part.empty:
                rows = part.reset_index(drop=True).assign(**{VERSION: METRICS_VERSION})
                yield cast(rows, self.columns)

    def write(self, facts: Facts, settings: Settings, folder: Path) -> None:
        """Write it below a folder, whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        # Each call on pandas' default, Arrow's arrays, costs more than its work on a table's rows.
        with pd.option_context("mode.string_storage", "python"):
            write_frames(folder / self.path, self.frames(facts, settings), self.columns)


def sentence(make: Callable[..., object]) -> str:
    """Return the contents of a function's table: the first paragraph of its docstring."""
    return " ".join((make.__doc__ or "").split("\n\n")[0].split())


TABLES: dict[str, Table] = {}
"""Every table by its path, in the order of the data dictionary."""


def table(
    path: str,
    columns: Sequence[Column],
    key: str,
    *,
    needs: str = "",
    is_versioned: bool = True,
    is_large: bool = False,
) -> Callable[[Maker], Maker]:
    """Register a function as a table.

    Args:
        path: below the folder of tables, ``.csv`` or ``.parquet``.
        columns: in their order.
        key: names of the key columns, separated by spaces.
        needs: facts that it requires and not every run has, likewise.
        is_versioned: whether its last column is the version of the metrics.
        is_large: whether it grows with messages.
    """
    version = (ROW_VERSION,) if is_versioned else ()

    def register(make: Maker) -> Maker:
        if path in TABLES:
            raise ValueError(f"two tables are called {path}")
        declared = (*keyed(columns, key), *version)
        TABLES[path] = Table(path, declared, sentence(make), is_large, make, tuple(needs.split()))
        return make

    return register


def tables_of(facts: Facts) -> list[Table]:
    """Return the tables that can be made of facts."""
    found = [each for each in TABLES.values() if all(map(facts.has, each.needs))]
    return [each.with_replicates() for each in found] if facts.has_replicates else found


def write_frames(path: Path, frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> None:
    """Write a table by its columns, whole or not at all.

    Raises:
        OutputError: naming the place, if it cannot be written.
    """
    save = _save_parquet if path.suffix == ".parquet" else _save_csv
    with written_atomically(path) as beside:
        save(beside, frames, columns)


def _save_csv(path: Path, frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_text(frames, columns))


def _save_parquet(path: Path, frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> None:
    with parquet_writer(path, arrow_schema(columns)) as writer:
        for frame in frames:
            if len(frame):  # else it would be an empty row group
                writer.write_table(arrow_table(as_shown(frame, columns), columns), len(frame))
