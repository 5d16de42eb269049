"""The tables of a reply store, and the digest of each of their rows.

A store of version 1 has no digests. It is read as it is, and gets them when it is opened for
recording: tables are added, and no row of it is changed.
"""

import hashlib
import sqlite3

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
CREATE TABLE replies (key TEXT PRIMARY KEY, thread TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX replies_by_thread ON replies (thread);
CREATE TABLE reservations (id INTEGER PRIMARY KEY, model TEXT NOT NULL, nano_usd INTEGER NOT NULL);
CREATE TABLE settlements (id INTEGER PRIMARY KEY, nano_usd INTEGER NOT NULL);
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
    _keep(connection, _KEPT)
    add_digests(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {STORE_VERSION}")


def add_digests(connection: sqlite3.Connection, *, is_lasting: bool = True) -> None:
    """Make the tables of digests, for the rows that are there; lasting or for this connection."""
    connection.create_function("row_digest", -1, row_digest, deterministic=True)
    for table, columns in DIGESTED.items():
        name = columns.partition(",")[0]
        kind = "TEXT PRIMARY KEY" if name == "key" else "INTEGER PRIMARY KEY"
        connection.execute(
            f"CREATE {'' if is_lasting else 'TEMP '}TABLE {table}_digests"
            f" ({name} {kind}, digest TEXT NOT NULL){' WITHOUT ROWID' if name == 'key' else ''}"
        )
        connection.execute(
            f"INSERT INTO {table}_digests SELECT {name}, row_digest({columns}) FROM {table}"  # noqa: S608 - names of ours
        )
    if is_lasting:
        _keep(connection, [f"{table}_digests" for table in DIGESTED])


def upgrade(connection: sqlite3.Connection) -> None:
    """Make a store of version 1 one of this version; inside of a transaction."""
    add_digests(connection)
    connection.execute(f"PRAGMA user_version = {STORE_VERSION}")


def _keep(connection: sqlite3.Connection, tables: tuple[str, ...] | list[str]) -> None:
    """Refuse every change of tables whose rows are only added."""
    for table in tables:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN "
                f"SELECT RAISE(ABORT, '{table} are only added'); END"
            )


def damaged_rows(connection: sqlite3.Connection, table: str) -> list[object]:
    """Return names of rows that are not as they were written, at most one; None: one is lost."""
    columns = DIGESTED[table]
    name = columns.partition(",")[0]
    connection.create_function("row_digest", -1, row_digest, deterministic=True)
    rows = connection.execute(
        f"SELECT {name} FROM {table} LEFT JOIN {table}_digests USING ({name})"  # noqa: S608 - names of ours
        f" WHERE digest IS NOT row_digest({columns}) LIMIT 1"
    ).fetchall()
    (kept,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    (known,) = connection.execute(f"SELECT count(*) FROM {table}_digests").fetchone()  # noqa: S608
    return [row[0] for row in rows] or ([] if kept == known else [None])
