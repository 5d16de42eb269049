"""The SQLite database of a reply store: tables, transactions, and what reaches the disk.

Nothing in it is ever changed or deleted: triggers refuse it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Self

from calbench.errors import FileError, OutputError
from calbench.files import printable, shorten
from calbench.llm.replies.schema import (
    APPLICATION_ID,
    STORE_VERSION,
    Extent,
    create_tables,
    damaged_rows,
    log_path,
    mark_path,
    read_mark,
    remove_mark,
    write_mark,
)

BUSY_S = 60.0
"""How long to wait for another process that is writing [C]."""

RETRY_S = 0.01
"""How long to wait until a busy file is asked again, where SQLite does not do so itself [C]."""

LOG_BYTES = 32 * 2**20
"""From which size on the log is moved into the database: about a second of 64 games [C]."""

MOVING_S = 0.05
"""How long moving the log waits for readers and blocks writers, until it is left for later [C]."""

BESIDE = ("", "-wal", "-shm", "-journal", "-mark", ".lock")
"""Ends of the names of all files that belong to a store."""


CHANGED = "is not as it was written; the store is damaged, or was changed"
"""What is said of something whose digest is another."""

_UNSYNCED: list[sqlite3.Connection] = []
"""Readers that keep stores with a failed disk from being tidied up, until the process ends."""


class ReplyDatabase:
    """A database with the tables of a reply store, in a file or in memory.

    Several processes may use one file, each with its own connection. What reads and adds
    rows is :class:`~calbench.llm.replies.store.ReplyStore`.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self._path = path
        self._file = None if path is None else Path(os.path.realpath(path))
        self._connection = connection
        self._is_syncing: bool | None = None
        self._is_folder_synced = False
        self._failure: str | None = None
        self._added = self._committed = Extent()
        self.has_log = False
        """Whether SQLite keeps a write-ahead log; some network file systems allow none."""

    @classmethod
    def open(cls, path: Path, *, must_exist: bool = False) -> Self:
        """Open a store, or start one.

        With ``must_exist`` it is only read, and never changed: neither started nor upgraded.

        Raises:
            FileError: naming the file, if it is not a reply store or is damaged.
            OutputError: if none can be made there.
        """
        if must_exist and not path.is_file():
            raise FileError(f"{path}: there is no reply store")
        _refuse_emptied(path, must_exist=must_exist)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not must_exist and path.exists() and path.stat().st_nlink > 1:
                raise FileError(
                    f"{path}: has several names (hard links), and SQLite keeps a log for each; "
                    "copy it to a file of its own"
                )
            connection = _read_only(path) if must_exist else None
            if connection is None:
                connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(
                f"{path}: no reply store can be made there ({error}); choose another place"
            ) from error
        store = cls(path, connection)
        try:
            store._prepare(is_written=not must_exist)
        except BaseException:
            connection.close()
            raise
        return store

    @classmethod
    def in_memory(cls) -> Self:
        """Make a store that is lost when it is closed."""
        store = cls(None, sqlite3.connect(":memory:", isolation_level=None))
        store._prepare(is_written=True)
        return store

    def _prepare(self, *, is_written: bool) -> None:
        with self._reporting():
            execute = self._connection.execute
            execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
            if is_written:
                with self.writing() as connection:  # unless another process was quicker
                    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    if not tables:
                        create_tables(connection)
            (application,) = execute("PRAGMA application_id").fetchone()
            (version,) = execute("PRAGMA user_version").fetchone()
            earlier = execute("SELECT 1 FROM sqlite_master WHERE name = 'earlier_digests'")
            is_upgraded = earlier.fetchone() is not None and bool(
                execute("SELECT count(*) FROM earlier_digests").fetchone()[0]
            )
        if application != APPLICATION_ID:
            raise FileError(f"{self}: is another program's database, not a reply store")
        if version != STORE_VERSION:
            raise FileError(
                f"{self}: is a reply store of version {version}; this package reads {STORE_VERSION}"
            )
        if is_upgraded:  # its first rows have their digests in a table that is no more read
            raise FileError(
                f"{self}: was upgraded from version 1; export it with calbench 0.1.0 "
                "(calbench replies export), and merge that (calbench replies merge)"
            )
        self._check_mark()
        with self._reporting():
            if not is_written:
                execute("PRAGMA query_only = ON")
                return
            # A write-ahead log survives a kill of the process at any moment.
            mode = keep_log(self._connection)
            # What another process left in it may be in memory only, if the disk failed then:
            # once it is moved and synced, it is on the disk.
            execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self.has_log = mode == "wal"

    def _check_mark(self) -> None:
        if self._file is None:
            return
        # The mark first: what is written after it was read is no damage.
        marked = read_mark(self._file)
        with self._reporting():
            found = self._connection.execute(
                "SELECT (SELECT coalesce(max(rowid), 0) FROM replies),"
                " (SELECT coalesce(max(id), 0) FROM reservations)"
            ).fetchone()
        if any(now < then for now, then in zip(found, marked, strict=True)):
            raise FileError(
                f"{self}: {marked.replies} replies and {marked.reservations} reservations were on "
                f"disk, of which {found[0]} and {found[1]} are left; its log is damaged or missing "
                f"({log_path(self._file).name}): put it back, or remove "
                f"{mark_path(self._file).name} to go on with what is left"
            )

    def __str__(self) -> str:
        return "the replies in memory" if self._path is None else str(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file.

        After the disk failed, the log is left as it is: what SQLite would move from there
        into the database may never have reached the disk.
        """
        if self._failure is not None and self._file is not None and self.has_log:
            with suppress(sqlite3.Error):
                reader = sqlite3.connect(_uri(self._file, "mode=ro"), uri=True)
                _UNSYNCED.append(reader)
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self._connection.close()
        if self._file is not None:
            remove_mark(self._file)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn an error of SQLite or the disk into one line that names the file.

        After an error of the disk itself nothing is read or written any more: the system may
        have dropped what it could not write, and a later success would prove nothing.
        """
        if self._failure is not None:
            raise OutputError(self._failure)
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            code = None if isinstance(error, OSError) else getattr(error, "sqlite_errorcode", -1)
            if code == -1:  # Python's own: a text that is none
                raise FileError(self._damage(printable(shorten(str(error))))) from error
            said = (
                f"{self}: the reply store cannot be used ({printable(str(error))}); is the disk "
                "full, or the file held by another program?"
            )
            if code is None or code & 0xFF == sqlite3.SQLITE_IOERR:
                self._failure = said
            raise OutputError(said) from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # Python decodes SQLite's words
            raise FileError(self._damage(printable(str(error)))) from error

    def _damage(self, what: str) -> str:
        return (
            f"{self}: not a reply store, or damaged ({what}); move it away, and merge what "
            "was exported into a new one"
        )

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
                self._added = self._committed
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._committed = self._added

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
        if self._file is None or not self.has_log:
            return
        log = log_path(self._file)
        extent = self._committed
        with self._reporting():
            size = _sync(log)
            if not self._is_folder_synced:  # the log may be new in it
                _sync(log.parent)
            write_mark(self._file, extent)
        self._is_folder_synced = True
        if size >= LOG_BYTES:
            self._move_log(self._file)

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

    def _check_rows(self, table: str) -> None:
        with self._reporting():
            damaged = damaged_rows(self._connection, table)
        for name in damaged:
            which = "a row is lost" if name is None else f"{printable(str(name))}: {CHANGED}"
            raise FileError(f"{self}: {table}: {which}")


def _refuse_emptied(path: Path, *, must_exist: bool) -> None:
    """Refuse a store without content: SQLite would take it for a new one, and remove its log."""
    if path.exists() and path.stat().st_size > 0:
        return
    log = log_path(Path(os.path.realpath(path)))
    if must_exist or (log.exists() and log.stat().st_size > 0):
        raise FileError(
            f"{path}: is empty, and no reply store; put back what was there, or remove "
            f"{log.name} as well to start a new one"
        )


def keep_log(connection: sqlite3.Connection) -> str:
    """Ask for a write-ahead log; return the mode that the file has then.

    Two processes that start one file at once are in each other's way here, and SQLite, which waits
    for :data:`BUSY_S` everywhere else, gives up at once, as neither might ever let go.
    """
    until = monotonic() + BUSY_S
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(RETRY_S)
        else:
            return str(mode)


def remove_store(path: Path) -> None:
    """Remove all files of a store that nobody has open."""
    for end in BESIDE:
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def _read_only(path: Path) -> sqlite3.Connection | None:
    """Open a file that cannot be changed, or that is where nothing can be made; else None.

    A log belongs to the store, and is read if there is one. Without one SQLite is told that
    nobody writes, as it would make a file beside the store to find that out.
    """
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return None
    how = "mode=ro" if log_path(Path(os.path.realpath(path))).exists() else "immutable=1"
    return sqlite3.connect(_uri(path, how), uri=True, timeout=BUSY_S, isolation_level=None)


def _uri(path: Path, how: str) -> str:
    return f"{path.absolute().as_uri()}?{how}"


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
