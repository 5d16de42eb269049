"""A store that measures the games it keeps.

Games are measured where they are played: whoever has just played them has them in memory. What is
measured there is what would be measured from the traces on disk; of a sample, it is compared.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from calbench.analysis.scoring import measured_batches, measured_traces
from calbench.errors import CalbenchError
from calbench.facts.storage import FactsWriter, MeasuredBatch
from calbench.metrics.measure import MeasureSpec
from calbench.pool import Pool
from calbench.traces.models import Trace
from calbench.traces.store import Batch, TraceStore

SAMPLE = 50
"""One game in so many, and the first of each team, is measured again from disk [C]."""


@dataclass(frozen=True, slots=True)
class MeasuredTraces(Batch):
    """Prepared traces with their facts.

    Attributes:
        kept: what the store has to commit.
        paths: of the traces.
        measured: their facts; ``None`` if they could not be measured.
    """

    kept: Batch = field(default_factory=Batch)
    paths: tuple[Path, ...] = ()
    measured: MeasuredBatch | None = None


class MeasuringStore:
    """A store that measures traces where they are prepared, and takes their facts on commit."""

    def __init__(
        self,
        store: TraceStore,
        measure: MeasureSpec,
        facts: Sequence[str],
        writer: FactsWriter | None = None,
    ) -> None:
        """Begin with another store; ``writer`` takes the facts, in the process that commits."""
        self._store, self._measure, self._facts, self._writer = store, measure, facts, writer
        self._sample: dict[Path, str] = {}
        self._teams: set[str] = set()
        self.paths: set[Path] = set()

    def __reduce__(self) -> tuple[object, ...]:
        """Be sent to other processes, which only prepare."""
        return MeasuringStore, (self._store, self._measure, self._facts)

    def prepare(self, traces: Sequence[tuple[Path, Trace]]) -> Batch:
        """Make traces ready to be kept, and measure them.

        What cannot be measured is kept nevertheless: it is tried again from disk, which says why.
        """
        kept, measured = self._store.prepare(traces), None
        with suppress(CalbenchError):
            measured = measured_traces([trace for _, trace in traces], self._measure, self._facts)
        return MeasuredTraces(kept=kept, paths=tuple(path for path, _ in traces), measured=measured)

    def commit(self, batch: Batch) -> None:
        """Put prepared traces on disk, and take their facts."""
        if not isinstance(batch, MeasuredTraces) or self._writer is None:
            raise TypeError("only what this store prepared, where it was made")
        self._store.commit(batch.kept)
        if batch.measured is not None:
            self._writer.add(batch.measured)
            for number, path in enumerate(batch.paths):
                if len(self.paths) % SAMPLE == 0 or path.parent.name not in self._teams:
                    self._sample[path] = _digest(batch.measured, number)
                self._teams.add(path.parent.name)
                self.paths.add(path)

    def check(self, pool: Pool | None) -> None:
        """Measure a sample from disk.

        Raises:
            CalbenchError: a game is measured otherwise than it was where it was played.
        """
        tasks = ([path] for path in self._sample)
        again = measured_batches(tasks, self._measure, pool, self._facts)
        for (path, digest), batch in zip(self._sample.items(), again, strict=True):
            if len(batch.keys) != 1 or _digest(batch, 0) != digest:
                raise CalbenchError(
                    f"{path}: not the game that was played and measured; the trace was changed, "
                    "or this is an error of ours: run calbench rescore, and report it"
                )


def _digest(batch: MeasuredBatch, number: int) -> str:
    """Return a digest of the facts of one game of a batch."""
    digest = sha256(repr(batch.keys[number]).encode())
    for name, table in batch.tables.items():
        lengths = batch.lengths[name]
        rows = table.slice(sum(lengths[:number]), lengths[number])
        digest.update(repr(rows.to_pydict()).encode())
    return digest.hexdigest()
