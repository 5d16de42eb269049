"""Where the traces of a run are kept, and how they get there from several processes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from calbench.console import say, warn
from calbench.errors import OutputError
from calbench.traces.catalog import frames_of, shards_of
from calbench.traces.frames import Packed, described, packed_frames
from calbench.traces.index import Frame, index_line, index_path, shard_path
from calbench.traces.models import Format, Trace
from calbench.traces.recovery import recover
from calbench.traces.storage import trace_bytes, write_trace

SHARD_GAMES = 10_000
"""Games after which a shard takes no more [C]."""

SHARD_BYTES = 2**26
"""Bytes after which a shard takes no more [C]: 64 MB, as hosts of data take files whole."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a store still has to commit of some prepared traces; it is sent between processes."""

    frames: tuple[Packed, ...] = ()


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


class ShardStore:
    """Shards of a folder: compressed where traces are prepared, appended where they are committed.

    Nothing that a shard holds is changed. A frame is on disk before the index names it.
    """

    def __init__(self, folder: Path, *, is_synced: bool = True) -> None:
        """Begin without a look at the folder.

        Args:
            folder: of the traces.
            is_synced: whether they survive a crash of the machine; not if they can be made again.
        """
        self._folder = folder
        self._is_synced = is_synced
        self._end: _End | None = None

    def __reduce__(self) -> tuple[type["ShardStore"], tuple[Path]]:
        """Be sent to other processes, which only prepare, by the folder alone."""
        return ShardStore, (self._folder,)

    def prepare(self, traces: Sequence[tuple[Path, Trace]]) -> Batch:
        """Compress traces, as many in a frame as it takes."""
        games = []
        for path, trace in traces:
            name = path.relative_to(self._folder).as_posix()
            line = trace_bytes(trace)
            games.append((described(name, trace.game_id, trace.is_halted, line), line))
        return Batch(tuple(packed_frames(games)))

    def commit(self, batch: Batch) -> None:
        """Append frames to the last shard; what is written when this returns survives a crash.

        Raises:
            OutputError: they cannot be written; what was there is as it was.
        """
        if self._end is None:
            recover(self._folder)
            self._end = _last(self._folder)
        for frame in batch.frames:
            self._end = self._end.followed_by(frame, self._is_synced)


@dataclass(frozen=True, slots=True)
class _End:
    """Where the next frame goes.

    Attributes:
        number: of the shard.
        size: its bytes so far.
        games: its games so far.
    """

    folder: Path
    number: int
    size: int
    games: int

    def followed_by(self, packed: Packed, is_synced: bool) -> "_End":
        """Write a frame here; return the end behind it."""
        end = self if self.takes_more else _End(self.folder, self.number + 1, 0, 0)
        shard = shard_path(end.folder, end.number)
        frame = Frame(end.size, len(packed.data), packed.games)
        try:
            end.folder.mkdir(parents=True, exist_ok=True)
            _put(shard, end.size, packed.data, is_synced)
            index = index_path(shard)
            place = index.stat().st_size if end.size else 0
            _put(index, place, index_line(frame), is_synced)
        except OSError as error:
            raise OutputError(
                f"{shard}: cannot be written ({error.strerror or error}); the same command goes on"
            ) from error
        return _End(end.folder, end.number, frame.end, end.games + len(packed.games))

    @property
    def takes_more(self) -> bool:
        """Whether the shard takes another frame."""
        return self.games < SHARD_GAMES and self.size < SHARD_BYTES


def _put(path: Path, place: int, data: bytes, is_synced: bool) -> None:
    """Write at the end of a file until it is on disk; an error leaves the file as it was."""
    with path.open("r+b" if place else "wb") as file:
        try:
            file.seek(place)
            file.truncate()  # bytes that no index names
            file.write(data)
            file.flush()
            if is_synced:
                os.fsync(file.fileno())
        except OSError:
            file.truncate(place)
            raise


def _last(folder: Path) -> _End:
    shards = shards_of(folder)
    if not shards:
        return _End(folder, 0, 0, 0)
    frames = frames_of(shards[-1])
    size = frames[-1].end if frames else 0
    return _End(folder, len(shards) - 1, size, sum(len(frame.games) for frame in frames))


def open_store(folder: Path, wanted: Format) -> TraceStore:
    """Return the store of a folder; its owner asks once, before it looks for games.

    A folder goes on in the form that it has: in files, if it holds any.

    Args:
        folder: of the traces.
        wanted: the form of a new one.

    Raises:
        CalbenchError: its shards do not fit.
    """
    has_files = next(folder.glob("*/*.json"), None) is not None
    has_shards = bool(shards_of(folder))
    if has_shards and (lost := recover(folder)):
        warn(f"{folder}: {lost} games are lost, because a shard is shorter than it was")
    if has_files and wanted == "shards":
        say(f"{folder} holds files, and goes on so; `calbench traces pack` makes shards of them")
    is_sharded = has_shards if has_shards or has_files else wanted == "shards"
    return ShardStore(folder) if is_sharded and not has_files else FILES
