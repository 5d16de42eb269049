"""Facts of several runs as those of one: games are chosen, and teams are put together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calbench.facts.fact import Fact
from calbench.facts.frames import arrow_schema
from calbench.facts.spool import ROW_GROUP_ROWS, Ints
from calbench.facts.storage import GAME, Facts, FactsWriter, GameKey, MeasuredBatch

Chosen = tuple[Facts, Callable[[GameKey], bool]]
"""Facts of a run, and which of its games are taken."""

Truths = npt.NDArray[np.bool_]

ROWS_AT_ONCE = ROW_GROUP_ROWS
"""Most rows of a fact in a batch, unless a game has more [C]."""

GAMES_AT_ONCE = 1000
"""Most games of a batch [C]."""


def join_facts(
    sources: Iterable[Chosen], folder: Path, facts: Sequence[Fact], teams: Sequence[str]
) -> Facts:
    """Write the facts of games of several runs as those of one.

    Args:
        sources: no game may be in two of them.
        folder: of the facts.
        facts: which ones; every source has them.
        teams: order in which tables list teams; others follow by name.

    Raises:
        FileError: a source lacks one of the facts.
        OutputError: the folder cannot be written.
    """
    with FactsWriter(folder, facts, teams) as writer:
        for source, is_taken in sources:
            taken = np.array([is_taken(key) for key in source.keys], dtype=bool)
            for batch in _selected(source, taken, facts):
                writer.add(batch)
        return writer.write()


def _selected(source: Facts, taken: Truths, facts: Sequence[Fact]) -> Iterator[MeasuredBatch]:
    """Yield the facts of some games, in the order of the source, with bounded memory.

    Args:
        source: where they are.
        taken: whether to take each of its games.
        facts: which facts; the source has all of them.

    Raises:
        FileError: the source lacks one of the facts, or cannot be read.
    """
    keys = source.keys
    lengths = {fact.name: _lengths(source.path(fact.name), len(keys)) for fact in facts}
    streams = {fact.name: _Stream(source.path(fact.name), fact) for fact in facts}
    for first, end in _ranges(lengths, len(keys)):
        own = taken[first:end]
        tables, counts = {}, {}
        for name, of_games in lengths.items():
            of_range = of_games[first:end]
            rows = streams[name].take(int(of_range.sum()))
            tables[name] = rows.filter(pa.array(np.repeat(own, of_range)))
            counts[name] = tuple(of_range[own].tolist())
        yield MeasuredBatch(
            tuple(key for key, is_kept in zip(keys[first:end], own, strict=True) if is_kept),
            tables,
            counts,
        )


def _lengths(path: Path, num_games: int) -> Ints:
    """Return the number of rows of each game in a file."""
    from pyarrow import parquet

    counts = np.zeros(num_games, dtype=np.int64)
    with parquet.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            games = file.read_row_group(group, columns=[GAME]).column(GAME).to_numpy()
            counts += np.bincount(games, minlength=num_games)
    return counts


def _ranges(lengths: dict[str, Ints], num_games: int) -> Iterator[tuple[int, int]]:
    """Yield first games and ends of ranges with a bounded number of rows of every fact."""
    ends = np.array([np.cumsum(of_games) for of_games in lengths.values()])
    first = 0
    while first < num_games:
        before = ends[:, first - 1] if first else np.zeros(len(ends), dtype=np.int64)
        room = min(
            int(np.searchsorted(of_fact, start + ROWS_AT_ONCE, side="right"))
            for of_fact, start in zip(ends, before, strict=True)
        )
        end = min(max(room, first + 1), first + GAMES_AT_ONCE, num_games)
        yield first, end
        first = end


class _Stream:
    """Reads the rows of a fact one after another."""

    def __init__(self, path: Path, fact: Fact) -> None:
        self._schema = arrow_schema(fact.columns)
        self._batches = _batches(path, self._schema)
        self._rest = pa.RecordBatch.from_pylist([], self._schema)

    def take(self, count: int) -> pa.RecordBatch:
        """Return the next rows."""
        parts, missing = [], count
        while missing > len(self._rest):
            parts.append(self._rest)
            missing -= len(self._rest)
            self._rest = next(self._batches)
        parts.append(self._rest.slice(0, missing))
        self._rest = self._rest.slice(missing)
        if len(parts) == 1:
            return parts[0]
        (rows,) = pa.Table.from_batches(parts).combine_chunks().to_batches() or [parts[0]]
        return rows


def _batches(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=schema.names):
            yield batch.select(schema.names).cast(schema)
