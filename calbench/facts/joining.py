"""Facts of several runs as those of one: games are chosen, and teams are put together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calbench.facts.fact import Fact
from calbench.facts.spool import Rows
from calbench.facts.storage import GAME, Facts, FactsWriter, GameKey

Chosen = tuple[Facts, Callable[[GameKey], bool]]
"""Facts of a run, and which of its games are taken."""

Truths = npt.NDArray[np.bool_]


def join_facts(
    sources: Iterable[Chosen], folder: Path, facts: Sequence[Fact], teams: Sequence[str]
) -> Facts:
    """Write the facts of games of several runs as those of one.

    Args:
        sources: no game may be in two of them.
        folder: of the facts.
        facts: which ones; every source has them, or those that they are ``beside``.
        teams: order in which tables list teams; others follow by name.

    Raises:
        FileError: a source lacks one of the facts.
        OutputError: the folder cannot be written.
    """
    with FactsWriter(folder, facts, teams) as writer:
        for source, is_taken in sources:
            taken = np.array([is_taken(key) for key in source.keys], dtype=bool)
            keys = [key for key, is_own in zip(source.keys, taken, strict=True) if is_own]
            writer.take(keys, {fact.name: _selected(source, taken, fact) for fact in facts})
        return writer.write()


def _selected(source: Facts, taken: Truths, fact: Fact) -> Iterator[Rows]:
    """Yield the rows of some games, a row group at a time: it holds whole games.

    Args:
        source: where they are.
        taken: whether to take each of its games.
        fact: of which; the source has it, or has no rows of it.

    Raises:
        FileError: the source lacks the fact, or cannot be read.
    """
    from pyarrow import parquet

    first, nothing = 0, pa.RecordBatch.from_pylist([], fact.schema)
    if fact.beside and not source.has(fact.name) and source.has(fact.beside):
        yield Rows(nothing, [0] * int(taken.sum()))
        return
    with parquet.ParquetFile(source.path(fact.name)) as file:
        for number in range(file.num_row_groups):
            group = file.read_row_group(number)
            games = group.column(GAME).to_numpy()
            lengths = np.bincount(games, minlength=first)
            end = len(lengths)
            rows = group.select(fact.schema.names).cast(fact.schema).filter(pa.array(taken[games]))
            (batch,) = rows.combine_chunks().to_batches() or [nothing]
            yield Rows(batch, lengths[first:end][taken[first:end]].tolist())
            first = end
    yield Rows(nothing, [0] * int(taken[first:].sum()))
