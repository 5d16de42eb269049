"""The tables of a reply store, and the digest of each of their rows.

Beside a store's log there is a mark: how much is known to be on the disk, a lower bound. A log
whose end is damaged looks to SQLite like one that was cut short by a crash: it is read up to
there, without a word. What was synced before cannot be missing after a crash, so the mark tells
damage from a crash. It is itself never waited for: an old one, or none, only finds less. It is
removed with the log.
"""

import hashlib
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


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


def write_mark(store: Path, extent: Extent) -> None:
    """Note that so much of a store is on the disk."""
    line = f"{extent.replies:>20} {extent.reservations:>20} {row_digest(*extent)}\n"
    mark = os.open(mark_path(store), os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        os.pwrite(mark, line.encode(), 0)
    finally:
        os.close(mark)


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


STORE_VERSION = 2
"""Raised when the tables change; stores of unknown versions are refused."""

APPLICATION_ID = 0x43614C62
"""Marks a file as ours: ``CaLb``."""

_TABLES = """
CREATE TABLE messages (digest TEXT PRIMARY KEY, role TEXT NOT NULL, content TEXT NOT NULL);
CREATE TABLE threads (digest TEXT PRIMARY KEY, parent TEXT, message TEXT NOT NULL);
CREATE INDEX threads_by_parent ON threads (parent);
CREATE TABLE replies (key TEXT PRIMARY KEY, thread TEXT NOT NULL, body TEXT NOT NULL,
 digest TEXT);
CREATE INDEX replies_by_thread ON replies (thread);
CREATE TABLE reservations (id INTEGER PRIMARY KEY, model TEXT NOT NULL, nano_usd INTEGER NOT NULL,
 digest TEXT);
CREATE TABLE settlements (id INTEGER PRIMARY KEY, nano_usd INTEGER NOT NULL, digest TEXT);
"""

_KEPT = ("messages", "threads", "replies", "reservations", "settlements")

DIGESTED = {
    "replies": "key, thread, body",
    "reservations": "id, model, nano_usd",
    "settlements": "id, nano_usd",
}
"""Columns under the digest of a row, its name first. Messages and threads are named by theirs."""


def row_digest(*values: object) -> str:
    """Return the digest of a row from its values."""
    return hashlib.sha256("\n".join(map(str, values)).encode()).hexdigest()


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a new store; inside of a transaction."""
    for statement in _TABLES.strip().split(";\n"):
        connection.execute(statement)
    keep(connection, *_KEPT)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {STORE_VERSION}")


def keep(connection: sqlite3.Connection, *tables: str) -> None:
    """Refuse every change of tables whose rows are only added."""
    for table in tables:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER IF NOT EXISTS {table}_{verb} BEFORE {verb} ON {table} BEGIN "
                f"SELECT RAISE(ABORT, '{table} are only added'); END"
            )


def damaged_rows(connection: sqlite3.Connection, table: str) -> list[object]:
    """Return names of rows that are not as they were written, at most one; None: one is lost."""
    connection.create_function("row_digest", -1, row_digest, deterministic=True)
    columns = DIGESTED[table]
    rows = connection.execute(
        f"SELECT {columns} FROM {table}"  # noqa: S608 - names of ours
        f" WHERE digest IS NOT row_digest({columns}) LIMIT 1"
    ).fetchall()
    if not rows and table == "reservations":  # they are numbered without a gap
        rows = connection.execute(
            "SELECT NULL FROM (SELECT count(*) AS kept, max(id) AS last FROM reservations)"
            " WHERE kept < last"
            " UNION SELECT NULL FROM settlements WHERE id NOT IN (SELECT id FROM reservations)"
        ).fetchall()
    return [row[0] for row in rows]
