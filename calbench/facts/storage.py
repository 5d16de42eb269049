"""Facts in files: Parquet files in one folder, written once and read by column.

Games arrive in any order and are written in a fixed one: by setting, team, scenario and replicate.
Until then their rows are in files of Arrow record batches, so memory holds only a few numbers per
game.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from calbench.errors import FileError, OutputError
from calbench.facts.fact import Fact, Values
from calbench.facts.frames import (
    arrow_schema,
    from_arrow,
    parquet_writer,
    read_arrow,
    read_parquet,
)
from calbench.files import written_atomically
from calbench.traces.storage import trace_name

ROW_GROUP_ROWS = 32_300
"""Least rows of a row group of whole games, which is written and read at once [C]: about 4 MB of
text. Published tables of messages and calls have the same row groups."""

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
                field.name: pa.array(
                    [value for part in parts for value in part[field.name]], type=field.type
                )
                for field in fact.schema
            }
        )
    return MeasuredBatch(tuple(key for key, _ in listed), tables, lengths)


class _Place(NamedTuple):
    """Where the rows of a game are: which batch, and where in it for each fact."""

    batch: int
    starts: Mapping[str, int]
    lengths: Mapping[str, int]


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
        self._rank = {team: rank for rank, team in reversed(list(enumerate(teams)))}
        self._places: dict[GameKey, _Place] = {}
        self._num_batches = 0
        try:
            shutil.rmtree(folder / SPOOL, ignore_errors=True)
            (folder / SPOOL).mkdir(parents=True)
            self._spools = {
                fact.name: pa.ipc.new_file(str(self._spool(fact)), arrow_schema(fact.columns))
                for fact in facts
            }
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for spool in self._spools.values():
            with suppress(OSError):  # the disk may be full; it is deleted anyway
                spool.close()
        shutil.rmtree(self._folder / SPOOL, ignore_errors=True)

    def add(self, batch: MeasuredBatch) -> None:
        """Take the facts of some games.

        Raises:
            ValueError: this team's game on this scenario was added before.
            OutputError: the folder cannot be written.
        """
        starts = dict.fromkeys(batch.lengths, 0)
        for number, key in enumerate(batch.keys):
            if key in self._places:
                raise ValueError(f"two games are called {key}")
            lengths = {name: of_games[number] for name, of_games in batch.lengths.items()}
            self._places[key] = _Place(self._num_batches, dict(starts), lengths)
            starts = {name: start + lengths[name] for name, start in starts.items()}
        try:
            for name, spool in self._spools.items():
                spool.write_batch(batch.tables[name])
        except OSError as error:
            raise self._failure(error) from error
        self._num_batches += 1

    def write(self) -> "Facts":
        """Write the facts, each file whole or not at all, and return them.

        Raises:
            OutputError: the folder cannot be written.
        """
        places = [self._places[key] for key in sorted(self._places, key=self._order)]
        try:
            for fact in self._facts:
                self._spools[fact.name].close()
                self._write(fact, places)
        except OSError as error:
            raise self._failure(error) from error
        return Facts(self._folder)

    def _order(self, key: GameKey) -> tuple[str, int, str, str, int]:
        rank = self._rank.get(key.team, len(self._rank))
        return key.setting, rank, key.team, key.scenario_id, key.replicate

    def _write(self, fact: Fact, places: Sequence[_Place]) -> None:
        schema = arrow_schema(fact.columns).insert(0, pa.field(GAME, pa.int64()))
        target = _file(self._folder, fact.name)
        with (
            written_atomically(target, is_synced=False) as beside,
            pa.memory_map(str(self._spool(fact))) as file,
            pa.ipc.open_file(file) as spool,
            parquet_writer(beside, schema) as writer,
        ):
            for first, group in _groups(fact.name, places):
                writer.write_table(_rows(fact.name, spool, first, group, schema))

    def _spool(self, fact: Fact) -> Path:
        return self._folder / SPOOL / f"{fact.name}.arrow"

    def _failure(self, error: OSError) -> OutputError:
        reason = error.strerror or error
        return OutputError(f"{self._folder}: cannot be written ({reason}); choose another folder")


def _groups(name: str, places: Sequence[_Place]) -> Iterator[tuple[int, Sequence[_Place]]]:
    """Yield the first game of each row group, and its games."""
    first, rows = 0, 0
    for number, place in enumerate(places):
        rows += place.lengths[name]
        if rows >= ROW_GROUP_ROWS:
            yield first, places[first : number + 1]
            first, rows = number + 1, 0
    if first < len(places):
        yield first, places[first:]


def _rows(
    name: str, spool: Any, first: int, places: Sequence[_Place], schema: pa.Schema
) -> pa.Table:
    """Return the rows of some games, in their order, each with the number of its game."""
    slices = [
        spool.get_batch(place.batch).slice(place.starts[name], place.lengths[name])
        for place in places
    ]
    rows = pa.Table.from_batches(slices, spool.schema).combine_chunks()
    lengths = [place.lengths[name] for place in places]
    games = np.repeat(np.arange(first, first + len(places)), lengths)
    return pa.table([pa.array(games), *rows.columns], schema=schema)


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

    @property
    def has_replicates(self) -> bool:
        """Whether a team played a scenario more than once."""
        return bool((self.games["replicate"] > 0).any())

    @cached_property
    def scored(self) -> pd.DataFrame:
        """The games that count."""
        return self.games[~self.games["is_excluded"].astype(bool)]

    def has(self, name: str) -> bool:
        """Whether facts of this name were measured."""
        return _file(self._folder, name).is_file()

    def frame(self, name: str) -> pd.DataFrame:
        """Return all rows of a fact that is not large, as they were written.

        Raises:
            FileError: there is none of that name, or it cannot be read.
        """
        if name not in self._frames:
            self._frames[name] = read_parquet(self._existing(name))
        return self._frames[name]

    def table(self, name: str) -> pa.Table:
        """Return all rows of a fact as Arrow has them.

        Raises:
            FileError: there is none of that name, or it cannot be read.
        """
        return read_arrow(self._existing(name))

    def of_games(self, name: str, columns: Iterable[str] = KEY) -> pd.DataFrame:
        """Return the rows of scored games, with some columns of their games.

        Raises:
            FileError: as :meth:`frame`.
        """
        rows = self.frame(name)
        return self.named(rows[rows[GAME].isin(self.scored.index)], columns)

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
        with parquet.ParquetFile(self._existing(name)) as file:
            for group in range(file.num_row_groups):
                yield from_arrow(file.read_row_group(group, columns=names))
            if not file.num_row_groups:
                yield from_arrow(file.read(columns=names))

    def named(self, rows: pd.DataFrame, columns: Iterable[str] = KEY) -> pd.DataFrame:
        """Return rows, such as a batch, with some columns of their games and their number."""
        names = self.games.loc[rows[GAME].to_numpy(np.int64), [*columns, REPLICATES]]
        parts = [names.reset_index(drop=True), rows.reset_index(drop=True)]
        return pd.concat(parts, axis="columns")

    def _existing(self, name: str) -> Path:
        path = _file(self._folder, name)
        if not path.is_file():
            raise FileError(f"{path}: there is no such file; measure the games again")
        return path
