"""Rows of games in the order of their arrival, in files of Arrow record batches.

Memory holds a few numbers for each game; the rows are read back through memory maps.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calbench.facts.fact import Fact
from calbench.facts.frames import arrow_schema

ROW_GROUP_ROWS = 32_300
"""Least rows of a row group of whole games, which is written and read at once [C]: about 4 MB of
text. Published tables of messages and calls have the same row groups."""


Ints = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """Rows of a fact.

    Attributes:
        table: rows of some games, game after game.
        lengths: number of rows of each game.
    """

    table: pa.RecordBatch
    lengths: Sequence[int]


class RowGroup(NamedTuple):
    """Rows of some whole games.

    Attributes:
        games: place of each row's game in the order that was asked for, from 0.
        rows: of these games.
    """

    games: Ints
    rows: pa.Table


class Spool:
    """Keeps rows of games until their order is known; games are numbered as they arrive."""

    def __init__(self, folder: Path, facts: Sequence[Fact]) -> None:
        """Begin a file for each fact.

        Raises:
            OSError: the folder cannot be written.
        """
        self._folder = folder
        self._files = {
            fact.name: pa.ipc.new_file(str(self._path(fact.name)), arrow_schema(fact.columns))
            for fact in facts
        }
        self._lengths: dict[str, list[Ints]] = {fact.name: [] for fact in facts}

    def add(self, name: str, rows: Rows) -> None:
        """Take rows of the next games that a fact has none of yet.

        Raises:
            OSError: a file cannot be written.
        """
        self._files[name].write_batch(rows.table)
        self._lengths[name].append(np.asarray(rows.lengths, dtype=np.int64))

    def close(self) -> None:
        """Close the files; what could not be written stays away."""
        for file in self._files.values():
            with suppress(OSError):  # the disk may be full; it is deleted anyway
                file.close()

    def finish(self, name: str) -> None:
        """End the file of a fact, whose rows can be read from then on.

        Raises:
            OSError: it cannot be written.
        """
        self._files[name].close()

    def num_rows(self, name: str) -> int:
        """Return the number of rows of a fact."""
        return sum(int(part.sum()) for part in self._lengths[name])

    def row_groups(self, name: str, order: Ints) -> Iterator[RowGroup]:
        """Yield the rows of a finished fact.

        Args:
            name: of the fact.
            order: the games by number, in the order in which they are wanted.
        """
        parts = self._lengths[name]
        batches = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        starts = [np.cumsum(part) - part for part in parts]
        none = np.zeros(0, dtype=np.int64)
        lengths = np.concatenate([none, *parts])[order]
        places = np.stack([batches[order], np.concatenate([none, *starts])[order], lengths], axis=1)
        for first, end in _cuts(lengths):
            games = np.repeat(np.arange(first, end), lengths[first:end])
            # Opened anew for each: pages of a map stay in memory until it is closed.
            with pa.memory_map(str(self._path(name))) as file, pa.ipc.open_file(file) as spool:
                yield RowGroup(games, _rows(spool, places[first:end]))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.arrow"


def _cuts(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield the first game of each row group and the one after its last."""
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        before = ends[first] - lengths[first]
        end = int(np.searchsorted(ends, before + ROW_GROUP_ROWS)) + 1
        yield first, min(end, len(lengths))
        first = end


def _rows(spool: Any, places: Ints) -> pa.Table:
    """Return the rows of some games, read batch by batch: a slice for each game takes far more.

    Args:
        spool: a file of record batches.
        places: batch, first row and number of rows of each game, ``[game, 3]``.
    """
    first, start, length = places.T
    batch = np.repeat(first, length)
    row = np.arange(len(batch)) + np.repeat(start - np.cumsum(length) + length, length)
    by_batch = np.argsort(batch, kind="stable")
    numbers, firsts = np.unique(batch[by_batch], return_index=True)
    parts = [
        spool.get_batch(number).take(pa.array(row[own]))
        for number, own in zip(numbers.tolist(), np.split(by_batch, firsts)[1:], strict=True)
    ]
    table = pa.Table.from_batches(parts, spool.schema).combine_chunks()
    return table.take(pa.array(np.argsort(by_batch)))
