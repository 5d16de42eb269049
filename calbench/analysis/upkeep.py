"""Facts of a folder of tables, kept up with its games: what is measured is not measured again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from calbench.analysis.scoring import (
    ALL_FACTS,
    Recorded,
    by_scenario,
    measured_batches,
    teams_of,
)
from calbench.code import MEASURING, code_digest
from calbench.facts.fact import Fact
from calbench.facts.kept import KeptFacts, keep, measuring, read_kept, remove_half_written
from calbench.facts.selection import Truths, selected
from calbench.facts.storage import FactsWriter, MeasuredBatch
from calbench.metrics.measure import MeasureSpec
from calbench.pool import Pool
from calbench.traces.catalog import raw_trace


def keep_up(
    games: Sequence[Recorded],
    folder: Path,
    measure: MeasureSpec,
    tick: Callable[[], None],
    pool: Pool | None = None,
    facts: Sequence[Fact] = ALL_FACTS,
    digests: Sequence[str] | None = None,
) -> KeptFacts:
    """Measure the games that are not among the facts of a folder, and keep those of all games.

    The facts are to the byte those of :func:`calbench.analysis.scoring.measure_games`, whatever
    was kept before. Arguments are the same, and ``digests``, the SHA-256 of the trace of each game
    in their order; unless given, they are computed.

    Raises:
        CalbenchError: a trace is invalid, or the folder cannot be written.
    """
    remove_half_written(folder)
    how, teams = measuring(measure, code_digest(MEASURING), facts), teams_of(games)
    traces = _trace_digests(games) if digests is None else digests
    found = _found(traces, read_kept(folder, how))
    for _ in range(found.num_taken):
        tick()
    if found.kept is not None and found.is_all(len(games)) and found.kept.facts.is_ordered(teams):
        return found.kept
    new = [game for game, is_new in zip(games, found.is_new, strict=True) if is_new]
    by_path = dict(zip((game.path for game in games), traces, strict=True))
    added = found.taken_traces
    with FactsWriter(folder, facts, teams) as writer:
        for batch in found.batches(facts):
            writer.add(batch)
        tasks = list(by_scenario(new))
        for batch in measured_batches(tasks, measure, pool, facts):
            writer.add(batch)
            for _ in batch.keys:
                tick()
        added += [by_path[path] for task in tasks for path in task]
        writer.write()
        return keep(folder, how, [added[number] for number in writer.order])


@dataclass(frozen=True)
class _Found:
    """Which games are among kept facts.

    Attributes:
        kept: the facts, if there are any.
        taken: whether each of their games is wanted.
        is_new: whether each game that is wanted is not among them.
    """

    kept: KeptFacts | None
    taken: Truths
    is_new: Sequence[bool]

    @property
    def num_taken(self) -> int:
        """How many games need not be measured."""
        return int(self.taken.sum())

    @property
    def taken_traces(self) -> list[str]:
        """SHA-256 of their traces, in the order of the kept facts."""
        if self.kept is None:
            return []
        return [self.kept.traces[place] for place in np.flatnonzero(self.taken).tolist()]

    def is_all(self, count: int) -> bool:
        """Whether the kept facts are those of all games that are wanted, and of no others."""
        return bool(self.taken.all()) and len(self.taken) == count

    def batches(self, facts: Sequence[Fact]) -> Iterator[MeasuredBatch]:
        """Yield the facts of the games that need not be measured."""
        if self.kept is not None and self.taken.any():
            yield from selected(self.kept.facts, self.taken, facts)


def _found(traces: Iterable[str], kept: KeptFacts | None) -> _Found:
    """Look for games by their traces; one that is wanted twice is found once."""
    places = {} if kept is None else {trace: at for at, trace in enumerate(kept.traces)}
    taken = np.zeros(len(places), dtype=bool)
    is_new = []
    for trace in traces:
        place = places.pop(trace, None)
        is_new.append(place is None)
        if place is not None:
            taken[place] = True
    return _Found(kept, taken, is_new)


def _trace_digests(games: Sequence[Recorded]) -> list[str]:
    """Return the SHA-256 of every trace, in the order of the games.

    It takes less time than to start a worker, who then may have nothing to measure.
    """
    return [sha256(raw_trace(game.path)).hexdigest() for game in games]
