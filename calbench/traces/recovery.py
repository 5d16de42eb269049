"""Shards whose writer was stopped: brought to what is whole, so that the next one goes on."""

import os
from pathlib import Path
from typing import NamedTuple

from calbench.console import warn
from calbench.errors import OutputError
from calbench.files import write_atomically
from calbench.traces.catalog import shards_of
from calbench.traces.frames import whole_frames
from calbench.traces.index import Frame, index_bytes, index_path, indexed, rest_paths


def recover(folder: Path) -> int:
    """Let shards and indices of a folder agree; only the process that owns it may ask for this.

    A whole frame that no index names is added to it. One that is incomplete behind the last whole
    one is moved to a file beside the shard, since a damaged one may look the same.

    Returns:
        How many games of the indices are lost, because shards are shorter than they were.

    Raises:
        FileError: a shard or its index does not fit, other than by an incomplete frame at its end;
            nothing is changed.
        OutputError: they cannot be written.
    """
    return sum(map(_mended, [_found(shard) for shard in shards_of(folder)]))


class _Found(NamedTuple):
    """What a shard holds.

    Attributes:
        size: its bytes.
        frames: those that are whole.
        lost: games that its index names behind its end.
    """

    shard: Path
    size: int
    frames: tuple[Frame, ...]
    lost: int


def _found(shard: Path) -> _Found:
    index = index_path(shard)
    try:
        size = shard.stat().st_size
        named = tuple(indexed(index)) if index.exists() else ()
    except OSError as error:
        raise _unwritable(shard, error) from error
    known = tuple(frame for frame in named if frame.end <= size)
    more = whole_frames(shard, known[-1].end if known else 0)
    return _Found(shard, size, (*known, *more), sum(len(f.games) for f in named[len(known) :]))


def _mended(found: _Found) -> int:
    """Write what differs; return the games that are lost."""
    index = index_path(found.shard)
    end = found.frames[-1].end if found.frames else 0
    expected = index_bytes(found.frames)
    try:
        if not index.exists() or index.read_bytes() != expected:
            write_atomically(index, expected)
        if end < found.size:
            _set_aside(found.shard, end)
            os.truncate(found.shard, end)
    except OSError as error:
        raise _unwritable(found.shard, error) from error
    return found.lost


def _set_aside(shard: Path, end: int) -> None:
    """Keep what is behind a byte of a shard in a file of its own; it is on disk when this ends."""
    with shard.open("rb") as file:
        file.seek(end)
        rest = file.read()
    # One with the same bytes is that of a process that was stopped here.
    path = next(p for p in rest_paths(shard) if not os.path.lexists(p) or p.read_bytes() == rest)
    write_atomically(path, rest)
    warn(f"{shard}: its last {len(rest)} bytes are no whole frame, and are now in {path.name}")


def _unwritable(shard: Path, error: OSError) -> OutputError:
    return OutputError(f"{shard}: cannot be written ({error.strerror or error})")
