"""Facts of several runs as those of one: games are chosen, and teams are put together."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from calbench.facts.fact import Fact
from calbench.facts.frames import arrow_schema
from calbench.facts.storage import GAME, KEY, Facts, FactsWriter, GameKey, MeasuredBatch

Chosen = tuple[Facts, Callable[[GameKey], bool]]
"""Facts of a run, and which of its games are taken."""


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
            writer.add(_batch(source, is_taken, facts))
        return writer.write()


def _batch(
    source: Facts, is_taken: Callable[[GameKey], bool], facts: Sequence[Fact]
) -> MeasuredBatch:
    """Return the facts of the games that are taken, in the order of the source."""
    keys = [GameKey(*row) for row in source.games[list(KEY)].itertuples(index=False)]
    taken = np.array([is_taken(key) for key in keys], dtype=bool)
    tables, lengths = {}, {}
    for fact in facts:
        rows = source.table(fact.name)
        games = rows.column(GAME).to_numpy()
        schema = arrow_schema(fact.columns)
        chosen = rows.filter(pa.array(taken[games])).select(schema.names).cast(schema)
        batches = chosen.combine_chunks().to_batches()
        empty = pa.RecordBatch.from_pylist([], schema)
        tables[fact.name] = batches[0] if batches else empty
        counts = np.bincount(games, minlength=len(keys))[taken]
        lengths[fact.name] = tuple(counts.tolist())
    kept = tuple(key for key, is_kept in zip(keys, taken, strict=True) if is_kept)
    return MeasuredBatch(kept, tables, lengths)
