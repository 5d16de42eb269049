"""The SQLite database of a reply store: tables, transactions, and what reaches the disk.

Nothing in it is ever changed or deleted: triggers refuse it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self

from calbench.errors import FileError, OutputError
from calbench.files import printable

STORE_VERSION = 1
"""Raised when the tables change; stores of other versions are refused."""

APPLICATION_ID = 0x43614C62
"""Marks a file as ours: ``CaLb``."""

BUSY_S = 60.0
"""How long to wait for another process that is writing [C]."""

LOG_BYTES = 32 * 2**20
"""From which size on the log is moved into the database: about a second of 64 games [C]."""

MOVING_S = 0.05
"""How long moving the log waits for readers and blocks writers, until it is left for later [C]."""

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


class ReplyDatabase:
    """A database with the tables of a reply store, in a file or in memory.

    Several processes may use one file, each with its own connection. What reads and adds
    rows is :class:`~calbench.llm.replies.store.ReplyStore`.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._is_syncing: bool | None = None
        self._is_folder_synced = False
        self.has_log = False
        """Whether SQLite keeps a write-ahead log; some network file systems allow none."""

    @classmethod
    def open(cls, path: Path, *, must_exist: bool = False) -> Self:
        """Open a store, or start one.

        Raises:
            FileError: naming the file, if it is not a reply store or is damaged.
            OutputError: if none can be made there.
        """
        if must_exist and not path.is_file():
            raise FileError(f"{path}: there is no reply store")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(
                f"{path}: no reply store can be made there ({error}); choose another place"
            ) from error
        store = cls(path, connection)
        try:
            store._prepare()
        except BaseException:
            connection.close()
            raise
        return store

    @classmethod
    def in_memory(cls) -> Self:
        """Make a store that is lost when it is closed."""
        store = cls(None, sqlite3.connect(":memory:", isolation_level=None))
        store._prepare()
        return store

    def _prepare(self) -> None:
        with self._reporting():
            execute = self._connection.execute
            self._create()
            (application,) = execute("PRAGMA application_id").fetchone()
            (version,) = execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise FileError(f"{self}: is another program's database, not a reply store")
        if version != STORE_VERSION:
            raise FileError(
                f"{self}: is a reply store of version {version}; this package reads {STORE_VERSION}"
            )
        with self._reporting():
            # A write-ahead log survives a kill of the process at any moment.
            (mode,) = execute("PRAGMA journal_mode = WAL").fetchone()
        self.has_log = mode == "wal"

    def _create(self) -> None:
        """Make the tables in one transaction, unless another process was quicker."""
        with self.writing() as connection:
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables:
                return
            for statement in _TABLES.strip().split(";\n"):
                connection.execute(statement)
            for table in _KEPT:
                for verb in ("UPDATE", "DELETE"):
                    connection.execute(
                        f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN "
                        f"SELECT RAISE(ABORT, '{table} are only added'); END"
                    )
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {STORE_VERSION}")

    def __str__(self) -> str:
        return "the replies in memory" if self._path is None else str(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn an error of SQLite or the disk into one line that names the file."""
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            raise OutputError(
                f"{self}: the reply store cannot be used ({error}); is the disk full, or the "
                "file held by another program?"
            ) from error
        except sqlite3.DatabaseError as error:
            raise FileError(
                f"{self}: not a reply store, or damaged ({error}); move it away, and merge what "
                "was exported into a new one"
            ) from error

    @contextmanager
    def writing(self, *, is_synced: bool = True) -> Iterator[sqlite3.Connection]:
        """Run one transaction that is written whole or not at all.

        Synced data also survives a crash of the machine, at a cost of some milliseconds.
        """
        with self._reporting():
            if is_synced is not self._is_syncing:
                self._connection.execute(
                    f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}"
                )
                self._is_syncing = is_synced
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def sync(self) -> None:
        """Wait until everything written unsynced survives a crash of the machine.

        May be called from any thread. SQLite itself syncs only while it blocks other writers.
        What it has written unsynced is in the write-ahead log, or was synced when it was moved
        from there into the database. It is therefore enough to sync the log
        (https://sqlite.org/wal.html). SQLite locks other files than the log, so closing it
        here releases no lock.

        Raises:
            OutputError: if the disk fails.
        """
        if self._path is None or not self.has_log:
            return
        path = Path(os.path.realpath(self._path))
        log = path.with_name(f"{path.name}-wal")
        with self._reporting():
            size = _sync(log)
            if not self._is_folder_synced:  # the log may be new in it
                _sync(log.parent)
        self._is_folder_synced = True
        if size >= LOG_BYTES:
            self._move_log(path)

    def leave_log(self) -> None:
        """Leave it to :meth:`sync` to move the log into the database, which takes a while."""
        with self._reporting():
            self._connection.execute("PRAGMA wal_autocheckpoint = 0")

    def _move_log(self, path: Path) -> None:
        """Move the log into the database, most of it while others write on."""
        with self._reporting(), closing(sqlite3.connect(path, timeout=MOVING_S)) as connection:
            for extent in ("PASSIVE", "TRUNCATE"):
                connection.execute(f"PRAGMA wal_checkpoint({extent})").fetchone()

    def others_version(self) -> int:
        """Return a number that changes when another connection has written."""
        with self._reporting():
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def check(self) -> None:
        """Let SQLite read the whole file.

        Raises:
            FileError: naming the file and the first damage.
        """
        with self._reporting():
            (said,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise FileError(f"{self}: the reply store is damaged ({printable(str(said))})")


def _sync(path: Path) -> int:
    """Sync a file or folder; return its size."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


def is_store_file(path: Path) -> bool:
    """Tell a store's file from a folder of shards by its name."""
    return printable(path.suffix) in {".sqlite", ".db", ".sqlite3"}
