"""The tables of a reply store, and the digest of each of their rows.

A store of version 1 has no digests. It is read as it is, and gets them when it is opened for
recording: columns and a table are added, and no row of it is changed. The digests of its rows are
then in the table; later rows hold theirs, which is quicker.

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


STORE_VERSION = 2
"""Raised when the tables change; stores of unknown versions are refused."""

WITHOUT_DIGESTS = 1
"""The version whose stores have no digests."""

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

_EARLIER = """
CREATE TABLE earlier_digests (place TEXT, name, digest TEXT NOT NULL, PRIMARY KEY (place, name))
 WITHOUT ROWID
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
    connection.execute(_EARLIER)
    _keep(connection, *_KEPT, "earlier_digests")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {STORE_VERSION}")


def upgrade(connection: sqlite3.Connection) -> None:
    """Make a store of version 1 one of this version; inside of a transaction."""
    _know_digests(connection)
    connection.execute(_EARLIER)
    for table, columns in DIGESTED.items():
        name = columns.partition(",")[0]
        connection.execute(
            f"INSERT INTO earlier_digests SELECT '{table}', {name}, row_digest({columns})"  # noqa: S608 - names of ours
            f" FROM {table}"
        )
        connection.execute(f"ALTER TABLE {table} ADD COLUMN digest TEXT")
    _keep(connection, "earlier_digests")
    connection.execute(f"PRAGMA user_version = {STORE_VERSION}")


def read_as_upgraded(connection: sqlite3.Connection) -> None:
    """Read a store of version 1 as if it had digests; nothing is written."""
    _know_digests(connection)
    for table, columns in DIGESTED.items():
        connection.execute(
            f"CREATE TEMP VIEW {table} AS"  # noqa: S608 - names of ours
            f" SELECT {columns}, row_digest({columns}) AS digest FROM main.{table}"
        )
    connection.execute(_EARLIER.replace("TABLE", "TEMP TABLE"))


def _know_digests(connection: sqlite3.Connection) -> None:
    connection.create_function("row_digest", -1, row_digest, deterministic=True)


def _keep(connection: sqlite3.Connection, *tables: str) -> None:
    """Refuse every change of tables whose rows are only added."""
    for table in tables:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN "
                f"SELECT RAISE(ABORT, '{table} are only added'); END"
            )


def known_digest(table: str) -> str:
    """Return the SQL of a row's digest."""
    name = DIGESTED[table].partition(",")[0]
    return (
        "coalesce(digest, (SELECT e.digest FROM earlier_digests e"  # noqa: S608 - names of ours
        f" WHERE e.place = '{table}' AND e.name = {table}.{name}))"
    )


def damaged_rows(connection: sqlite3.Connection, table: str) -> list[object]:
    """Return names of rows that are not as they were written, at most one; None: one is lost."""
    _know_digests(connection)
    columns = DIGESTED[table]
    name = columns.partition(",")[0]
    rows = connection.execute(
        f"SELECT {name} FROM {table}"  # noqa: S608 - names of ours
        f" WHERE {known_digest(table)} IS NOT row_digest({columns}) LIMIT 1"
    ).fetchall()
    lost = connection.execute(
        f"SELECT 1 FROM earlier_digests WHERE place = '{table}'"  # noqa: S608
        f" AND name NOT IN (SELECT {name} FROM {table}) LIMIT 1"
    ).fetchone()
    if table == "reservations" and lost is None:  # they are numbered without a gap
        lost = connection.execute(
            "SELECT 1 FROM (SELECT count(*) AS kept, max(id) AS last FROM reservations)"
            " WHERE kept < last"
            " UNION SELECT 1 FROM settlements WHERE id NOT IN (SELECT id FROM reservations)"
        ).fetchone()
    return [row[0] for row in rows] or ([] if lost is None else [None])
