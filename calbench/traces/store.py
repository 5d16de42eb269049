"""Where the traces of a run are kept, and how they get there from several processes."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from calbench.console import say
from calbench.errors import FileError, OutputError
from calbench.files import printable, sync_folder
from calbench.traces.catalog import Catalog
from calbench.traces.models import Format, Trace
from calbench.traces.outlines import outline
from calbench.traces.shards import (
    Game,
    Packed,
    described,
    file_name_pattern,
    packed_frames,
    read_shard,
    shard_path,
    shards_of,
)
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

    Nothing that a shard holds is changed, and nothing is written behind what a stopped writer left:
    then the next shard begins.
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
            FileError: the last shard is damaged.
            OutputError: they cannot be written; what was there is as it was.
        """
        end = self._end or _last(self._folder)
        self._end = None  # unless all is well: an error may have left the beginning of a frame
        for frame in batch.frames:
            end = self._appended(end, frame)
        self._end = end

    def _appended(self, end: "_End", frame: Packed) -> "_End":
        """Write a frame with its head at an end; return the end behind it."""
        if end.games >= SHARD_GAMES or end.size >= SHARD_BYTES:
            end = _End(end.number + 1)
        shard = shard_path(self._folder, end.number)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _append(shard, end.size, frame.data, self._is_synced)
        except OSError as error:
            raise OutputError(
                f"{shard}: cannot be written ({error.strerror or error}); the same command goes on"
            ) from error
        return _End(end.number, end.size + len(frame.data), end.games + frame.num_games)


class _End(NamedTuple):
    """Where the next frame goes: the number of a shard, its bytes so far, and its games."""

    number: int
    size: int = 0
    games: int = 0


def _append(path: Path, size: int, data: bytes, is_synced: bool) -> None:
    """Write at the end of a file of a size; an error leaves it as it was."""
    with path.open("ab", buffering=0) as file:  # a buffer would be written once more on closing
        if file.tell() != size:
            raise OSError(f"it has {file.tell()} bytes, not {size}: another program wrote it")
        try:
            written = 0
            while written < len(data):
                written += file.write(memoryview(data)[written:])
            if is_synced:
                os.fsync(file.fileno())
        except BaseException:
            os.truncate(path, size)
            raise
    if is_synced and not size:
        sync_folder(path.parent)


def _last(folder: Path) -> _End:
    """Return where the next frame of a folder goes, never behind a tail."""
    shards = shards_of(folder)
    if not shards:
        return _End(0)
    last = read_shard(shards[-1])
    if last.tail:
        return _End(len(shards))
    return _End(len(shards) - 1, last.end, sum(len(frame.head.games) for frame in last.frames))


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
    catalog = Catalog()
    has_shards = bool(catalog.games(folder)) or bool(catalog.tails)
    catalog.tell()
    if has_files and wanted == "shards":
        say(f"{folder} holds files, and goes on so; `calbench traces pack` makes shards of them")
    is_sharded = has_shards if has_shards or has_files else wanted == "shards"
    return ShardStore(folder) if is_sharded and not has_files else FILES


def write_packed_games(paths: Iterable[Path], folder: Path, tick: Callable[[], None]) -> int:
    """Write traces as shards into a new folder; return how many there are.

    The bytes depend on the games alone: they are in the order of their scenarios, because games on
    one scenario have much in common, and are read together.

    Args:
        paths: of the traces.
        folder: of the shards.
        tick: called for each game.

    Raises:
        FileError: a trace does not fit.
    """
    catalog = Catalog()

    def games() -> Iterator[tuple[Game, bytes]]:
        for path in sorted(paths, key=lambda path: (path.name, path.parent.name)):
            yield _checked(path, catalog)
            tick()

    return write_shards(games(), folder)


def write_shards(games: Iterable[tuple[Game, bytes]], folder: Path) -> int:
    """Write games as shards, in their order; return how many there are."""
    store, count = ShardStore(folder, is_synced=False), 0
    for frame in packed_frames(games):
        store.commit(Batch((frame,)))
        count += frame.num_games
    return count


def _checked(path: Path, catalog: Catalog) -> tuple[Game, bytes]:
    """Return a trace with what a head says of it."""
    data = catalog.read(path)
    game = described_line(path, data)
    if game.name != f"{path.parent.name}/{path.name}":
        raise FileError(
            f"{printable(str(path))}: is {game.name} by its contents; name it so, in a folder of "
            "its own"
        )
    return game, data


def described_line(path: Path, line: bytes) -> Game:
    """Return what a head says of a game, from its bytes alone.

    Raises:
        FileError: it is not one line, or not a trace, or its names are none of a file.
    """
    place = printable(str(path))
    if not line.endswith(b"\n") or line.count(b"\n") != 1:
        raise FileError(f"{place}: is not one line, as calbench writes traces; keep it as a file")
    found = outline(path, line)
    if not file_name_pattern.fullmatch(found.name):
        raise FileError(f"{place}: {printable(found.name)[:99]!r} is no name of a trace")
    return described(*found, line)
