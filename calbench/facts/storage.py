"""Facts in files: Parquet files in one folder, written once and read by column.

Games arrive in any order and are written in a fixed one: by setting, team, scenario and replicate.
Until then their rows are in files of Arrow record batches, so memory holds only a few numbers per
game.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from calbench.errors import FileError, OutputError
from calbench.facts.fact import Fact, Values
from calbench.facts.frames import (
    arrow_schema,
    from_arrow,
    kept,
    parquet_writer,
    read_arrow,
    read_parquet,
)
from calbench.facts.spool import Ints, Rows, Spool
from calbench.files import written_atomically
from calbench.traces.outlines import trace_name

GAME = "game"
"""Column with the number of a row's game in the order of games, from 0."""

SPOOL = ".spool"
"""Folder of the rows that are not yet in order."""


class GameKey(NamedTuple):
    """Names of a game, unique in a run."""

    setting: str
    team: str
    scenario_id: str
    replicate: int = 0


KEY = GameKey._fields

REPLICATES = "replicates"
"""Column with the number of scored games of a row's team on its scenario, at least 1."""


class MeasuredBatch(NamedTuple):
    """Facts of some games, made here or in another process.

    Attributes:
        keys: of the games.
        tables: rows of every fact, game after game.
        lengths: number of rows of each game, for every fact.
    """

    keys: tuple[GameKey, ...]
    tables: Mapping[str, pa.RecordBatch]
    lengths: Mapping[str, tuple[int, ...]]


def batch_of(
    facts: Sequence[Fact], games: Iterable[tuple[GameKey, Mapping[str, Values]]]
) -> MeasuredBatch:
    """Concatenate facts of games, fact by fact and column by column."""
    listed = list(games)
    tables, lengths = {}, {}
    for fact in facts:
        parts = [values[fact.name] for _, values in listed]
        first = fact.columns[0].name
        lengths[fact.name] = tuple(len(part[first]) for part in parts)
        tables[fact.name] = pa.record_batch(
            {
                name: pa.array(list(chain.from_iterable([part[name] for part in parts])), kind)
                for name, kind in zip(fact.schema.names, fact.schema.types, strict=True)
            }
        )
    return MeasuredBatch(tuple(key for key, _ in listed), tables, lengths)


class FactsWriter:
    """Takes facts of a run in any order and writes them in a fixed one.

    Use it as a context manager: what is not written is deleted.
    """

    def __init__(self, folder: Path, facts: Sequence[Fact], teams: Sequence[str]) -> None:
        """Prepare the folder.

        Args:
            folder: where the facts go; files of an earlier run there are replaced.
            facts: what is kept.
            teams: team ids in the order in which tables list them; others follow by name.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._folder, self._facts = folder, facts
        self._rank = _ranks(teams)
        self._numbers: dict[GameKey, int] = {}
        try:
            shutil.rmtree(folder / SPOOL, ignore_errors=True)
            (folder / SPOOL).mkdir(parents=True)
            self._spool = Spool(folder / SPOOL, facts)
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()
        shutil.rmtree(self._folder / SPOOL, ignore_errors=True)

    def add(self, batch: MeasuredBatch) -> None:
        """Take the facts of some games.

        Raises:
            ValueError: this team's game on this scenario was added before.
            OutputError: the folder cannot be written.
        """
        rows = {name: [Rows(table, batch.lengths[name])] for name, table in batch.tables.items()}
        self.take(batch.keys, rows)

    def take(self, keys: Iterable[GameKey], facts: Mapping[str, Iterable[Rows]]) -> None:
        """Take facts of some games, each fact in parts of its own.

        Args:
            keys: of the games.
            facts: rows of every fact, of all these games in this order.

        Raises:
            ValueError: a team's game on a scenario was added before.
            FileError: rows cannot be read.
            OutputError: the folder cannot be written.
        """
        for key in keys:
            if key in self._numbers:
                raise ValueError(f"two games are called {key}")
            self._numbers[key] = len(self._numbers)
        try:
            for name, parts in facts.items():
                for part in parts:
                    self._spool.add(name, part)
        except OSError as error:
            raise self._failure(error) from error

    def write(self) -> "Facts":
        """Write the facts and return them; files take their places when all are written.

        Raises:
            OutputError: the folder cannot be written.
        """
        keys = sorted(self._numbers, key=lambda key: _order(key, self._rank))
        order = np.array([self._numbers[key] for key in keys], dtype=np.int64)
        absent = [
            fact for fact in self._facts if fact.beside and not self._spool.num_rows(fact.name)
        ]
        try:
            with ExitStack() as files:
                for fact in self._facts:
                    if fact in absent:
                        continue
                    target = _file(self._folder, fact.name)
                    beside = files.enter_context(written_atomically(target, is_synced=False))
                    self._write(fact, order, beside)
            for fact in absent:
                _file(self._folder, fact.name).unlink(missing_ok=True)  # of an earlier run
        except OSError as error:
            raise self._failure(error) from error
        return Facts(self._folder)

    def _write(self, fact: Fact, order: Ints, path: Path) -> None:
        schema = arrow_schema(fact.columns).insert(0, pa.field(GAME, pa.int64()))
        self._spool.finish(fact.name)
        with parquet_writer(path, schema) as writer:
            for games, rows in self._spool.row_groups(fact.name, order):
                table = pa.table([pa.array(games), *rows.columns], schema=schema)
                writer.write_table(table, row_group_size=max(1, len(games)))  # of whole games

    def _failure(self, error: OSError) -> OutputError:
        reason = error.strerror or error
        return OutputError(f"{self._folder}: cannot be written ({reason}); choose another folder")


def _ranks(teams: Sequence[str]) -> dict[str, int]:
    return {team: rank for rank, team in reversed(list(enumerate(teams)))}


def _order(key: GameKey, rank: Mapping[str, int]) -> tuple[str, int, str, str, int]:
    """Return the sort key of a game; teams without a rank follow by name."""
    return key.setting, rank.get(key.team, len(rank)), key.team, key.scenario_id, key.replicate


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


class Facts:
    """Read-only frames by name.

    Every frame has the column ``game``, the row's game in :attr:`games`; games are ordered by
    setting, order of the teams and scenario.
    """

    def __init__(self, folder: Path) -> None:
        """Read facts from the folder that :class:`FactsWriter` wrote."""
        self._folder = folder
        self._frames: dict[str, pd.DataFrame] = {}
        self._scored: dict[tuple[str, ...], pd.DataFrame] = {}

    @cached_property
    def games(self) -> pd.DataFrame:
        """One row per game, indexed by its number.

        With ``team_place``, the position of the team in its setting, ``trace_path``, the file of
        the game relative to the folder of traces, and :data:`REPLICATES`.
        """
        games = self.frame("games").set_index(GAME, drop=False)
        places = games.groupby("setting", sort=False)["team"].transform(
            lambda t: pd.factorize(t)[0]
        )
        files = games[["team", "scenario_id", "replicate"]].itertuples(index=False)
        is_scored = (~games["is_excluded"].astype(bool)).astype("int64")
        played = is_scored.groupby([games[name] for name in KEY[:3]]).transform("sum")
        return games.assign(
            team_place=places.astype("int64"),
            trace_path=[trace_name(*file) for file in files],
            **{REPLICATES: played.clip(lower=1)},
        )

    @cached_property
    def keys(self) -> list[GameKey]:
        """Names of all games, in their order.

        Raises:
            FileError: there are no games, or they cannot be read.
        """
        columns = self.table("games", list(KEY)).select(KEY).columns
        return [GameKey(*row) for row in zip(*(c.to_pylist() for c in columns), strict=True)]

    @property
    def has_replicates(self) -> bool:
        """Whether a team played a scenario more than once."""
        return bool((self.games["replicate"] > 0).any())

    @cached_property
    def scored(self) -> pd.DataFrame:
        """The games that count."""
        return kept(self.games, ~self.games["is_excluded"].astype(bool))

    def has(self, name: str) -> bool:
        """Whether facts of this name were measured."""
        return _file(self._folder, name).is_file()

    def frame(self, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return all rows of a fact that is not large, as they were written.

        They are held, unless only some columns are wanted.

        Raises:
            FileError: there is none of that name, or it cannot be read.
        """
        if columns is not None:
            return read_parquet(self.path(name), [GAME, *columns])
        if name not in self._frames:
            self._frames[name] = read_parquet(self.path(name))
        return self._frames[name]

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows of a fact, or some of its columns, as Arrow has them.

        Raises:
            FileError: there is none of that name, or it cannot be read.
        """
        return read_arrow(self.path(name), columns)

    def of_games(self, name: str, columns: Iterable[str] = KEY) -> pd.DataFrame:
        """Return the rows of scored games, with some columns of their games.

        Raises:
            FileError: as :meth:`frame`.
        """
        key = (name, *columns)
        if key not in self._scored:
            rows = self.frame(name)
            own = kept(rows, rows[GAME].isin(self.scored.index))
            self._scored[key] = self.named(own, columns)
        return self._scored[key]

    def of_all_games(self, name: str, columns: Iterable[str] = KEY) -> pd.DataFrame:
        """Return the same rows, excluded games too."""
        return self.named(self.frame(name), columns)

    def batches(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows of a large fact, some whole games at a time; at least one frame.

        Raises:
            FileError: there is none of that name, or it cannot be read.
        """
        from pyarrow import parquet

        names = None if columns is None else [GAME, *columns]
        with parquet.ParquetFile(self.path(name)) as file:
            for group in range(file.num_row_groups):
                yield from_arrow(file.read_row_group(group, columns=names))
            if not file.num_row_groups:
                yield from_arrow(file.read(columns=names))

    def named(self, rows: pd.DataFrame, columns: Iterable[str] = KEY) -> pd.DataFrame:
        """Return rows, such as a batch, with some columns of their games and their number."""
        names = self.games[[*columns, REPLICATES]].iloc[rows[GAME].to_numpy(np.int64)]
        parts = [names.reset_index(drop=True), rows.reset_index(drop=True)]
        return pd.concat(parts, axis="columns")

    def path(self, name: str) -> Path:
        """Return the file of a fact.

        Raises:
            FileError: there is none of that name.
        """
        path = _file(self._folder, name)
        if not path.is_file():
            raise FileError(f"{path}: there is no such file; measure the games again")
        return path
