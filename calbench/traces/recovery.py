"""Shards whose writer was stopped: cut to what is whole, so that the next one goes on."""

import os
from pathlib import Path

from calbench.errors import OutputError
from calbench.files import write_atomically
from calbench.traces.catalog import shards_of
from calbench.traces.frames import whole_frames
from calbench.traces.index import Frame, index_bytes, index_path, indexed


def recover(folder: Path) -> int:
    """Let shards and indices of a folder agree; only the process that owns it may ask for this.

    A whole frame that no index names is added to it. What follows the last whole frame is cut
    off: bytes of which nobody was told that they are a game.

    Returns:
        How many games of the indices are lost, because shards are shorter than they were.

    Raises:
        FileError: a shard or its index does not fit, other than at its end.
        OutputError: they cannot be written.
    """
    return sum(map(_recover, shards_of(folder)))


def _recover(shard: Path) -> int:
    index = index_path(shard)
    try:
        size = shard.stat().st_size
        named = tuple(indexed(index)) if index.exists() else ()
        known = [frame for frame in named if frame.end <= size]
        end = known[-1].end if known else 0
        frames: list[Frame] = [*known, *whole_frames(shard, end)] if end < size else known
        end = frames[-1].end if frames else 0
        expected = index_bytes(frames)
        if not index.exists() or index.read_bytes() != expected:
            write_atomically(index, expected)
        if end < size:
            os.truncate(shard, end)
    except OSError as error:
        raise OutputError(f"{shard}: cannot be written ({error.strerror or error})") from error
    return sum(len(frame.games) for frame in named[len(known) :])
