"""Where the traces of a run are kept, and how they get there from several processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from calbench.traces.models import Trace
from calbench.traces.storage import write_trace


@dataclass(frozen=True, slots=True)
class Batch:
    """What a store still has to commit of some prepared traces."""


class TraceStore(Protocol):
    """Keeps traces: prepared in any process, committed by the one that owns the folder."""

    def prepare(self, traces: Sequence[tuple[Path, Trace]]) -> Batch:
        """Make traces ready to be kept, each at its path; may be repeated."""
        ...

    def commit(self, batch: Batch) -> None:
        """Put prepared traces on disk, completely or not at all."""
        ...


class FileStore:
    """One JSON file a game, written whole where it is prepared."""

    def prepare(self, traces: Sequence[tuple[Path, Trace]]) -> Batch:
        """Write each trace at its path."""
        for path, trace in traces:
            write_trace(path, trace)
        return Batch()

    def commit(self, batch: Batch) -> None:
        """Nothing is left to do."""


FILES = FileStore()
