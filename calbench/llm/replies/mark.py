"""How much of a store is known to be on the disk: a lower bound, beside the store's log.

A write-ahead log whose end is damaged looks to SQLite like one that was cut short by a crash: it
is read up to there, without a word. What was synced before cannot be missing after a crash, so
the mark tells damage from a crash. It is itself never waited for: an old one, or none, only
finds less. It is removed with the log.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from calbench.llm.replies.schema import row_digest


class Extent(NamedTuple):
    """Numbers of the last reply and the last reservation of a store, which only grow."""

    replies: int = 0
    reservations: int = 0


def mark_path(store: Path) -> Path:
    """Return where the mark of a store is."""
    return store.with_name(f"{store.name}-mark")


def log_path(store: Path) -> Path:
    """Return where the write-ahead log of a store is."""
    return store.with_name(f"{store.name}-wal")


def open_mark(store: Path) -> int:
    """Open the mark of a store for writing; return its descriptor."""
    return os.open(mark_path(store), os.O_WRONLY | os.O_CREAT, 0o666)


def write_mark(mark: int, extent: Extent) -> None:
    """Note that so much is on the disk."""
    line = f"{extent.replies:>20} {extent.reservations:>20} {row_digest(*extent)}\n"
    os.pwrite(mark, line.encode(), 0)


def read_mark(store: Path) -> Extent:
    """Return what was noted; nothing, if that cannot be read: a crash may leave half a mark."""
    with suppress(OSError, ValueError):
        replies, reservations, digest = mark_path(store).read_text("ascii").split()
        extent = Extent(int(replies), int(reservations))
        if digest == row_digest(*extent):
            return extent
    return Extent()


def remove_mark(store: Path) -> None:
    """Remove the mark of a store that has no log any more."""
    if not log_path(store).exists():
        with suppress(OSError):
            mark_path(store).unlink(missing_ok=True)
