"""The reply store: what was paid for once is kept, and found by what was asked.

One SQLite file. Nothing in it is ever changed or deleted: triggers refuse it.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import ValidationError

from calbench.agents.completion import ChatMessage
from calbench.agents.records import (
    Link,
    Record,
    Recorded,
    common_length,
    first_difference,
)
from calbench.errors import FileError, OutputError
from calbench.files import first_problem, printable

STORE_VERSION = 1
"""Raised when the tables change; a store of another version is refused."""

APPLICATION_ID = 0x43614C62
"""Marks a file as ours: ``CaLb``."""

BUSY_S = 60.0
"""How long to wait for another process that is writing [C]."""

MOST_NEAR = 1000
"""Replies among which the nearest to a missed request is looked for [C]."""

LOG_BYTES = 32 * 2**20
"""From which size on the log is moved into the database: about a second of 64 games [C]."""

MOVING_S = 0.05
"""How long moving the log waits for readers, and keeps writers waiting: next time will do [C]."""

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


class Stats(NamedTuple):
    """What a store holds."""

    replies: int
    messages: int
    cost_usd: float
    replies_by_model: dict[str, int]


class Merged(NamedTuple):
    """What a merge did: replies added, those that stood already, and those that disagree."""

    added: int
    known: int
    conflicting: int


class ReplyStore:
    """Recorded replies in one SQLite file; also the ledger of what they cost.

    Every reply is on the disk before :meth:`put` returns. Several processes may use one
    file: of two replies to one request the first stands, and both are handed that one. While
    games go on, a :class:`~calbench.agents.recorder.Recorder` writes.
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
        """Make a store that is gone when it is closed."""
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
        """Turn what SQLite says into one line that names the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
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

        What is synced survives the end of the machine too, at some milliseconds a time.
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

    # --- the disk ----------------------------------------------------------------------

    def sync(self) -> None:
        """Wait until all that was written unsynced survives the end of the machine.

        May be called from any thread. SQLite itself syncs only while it keeps other writers
        out. What it has written unsynced is in the write-ahead log, or was synced on its way
        from there into the database, so that a synced log is all that is missing
        (https://sqlite.org/wal.html). SQLite locks other files than the log: closing it here
        opens none of its locks.

        Raises:
            OutputError: if the disk fails.
        """
        if self._path is None or not self.has_log:
            return
        path = Path(os.path.realpath(self._path))
        log = path.with_name(f"{path.name}-wal")
        try:
            size = _sync(log)
            if not self._is_folder_synced:  # the log may be new in it
                _sync(log.parent)
        except OSError as error:
            raise OutputError(
                f"{self}: the reply store cannot be used ({error}); is the disk full, or the "
                "file held by another program?"
            ) from error
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

    # --- replies -----------------------------------------------------------------------

    def get(self, key: str) -> Record | None:
        """Return the recorded reply to a request."""
        with self._reporting():
            row = self._connection.execute(
                "SELECT body FROM replies WHERE key = ?", (key,)
            ).fetchone()
        return None if row is None else self._parsed(key, row[0])

    def _parsed(self, key: str, body: str) -> Record:
        try:
            return Record.model_validate_json(body)
        except ValidationError as error:
            raise FileError(f"{self}: reply {key}: {first_problem(error)}") from error

    def put(self, request: Recorded, record: Record) -> Record:
        """Add a reply, and return the one that stands: an earlier one if there is one."""
        with self.writing():
            self.add_parts(request)
            is_new = self.add(record)
        return record if is_new else (self.get(record.key) or record)

    def add_parts(self, request: Recorded) -> None:
        """Add messages and links that are not there yet: the last ones of a growing thread.

        Inside of :meth:`writing`.
        """
        execute = self._connection.execute
        links, messages = reversed(request.links), reversed(request.request.messages)
        for link, message in zip(links, messages, strict=True):
            if execute("SELECT 1 FROM threads WHERE digest = ?", (link.digest,)).fetchone():
                break
            self.add_message(link.message, *message)
            self.add_link(link)
        schema = request.schema_part()
        if schema is not None:
            self.add_message(*schema)

    def add_message(self, message: str, role: str, content: str) -> None:
        """Add a message under its digest; inside of :meth:`writing`."""
        self._connection.execute(
            "INSERT OR IGNORE INTO messages VALUES (?, ?, ?)", (message, role, content)
        )

    def add_link(self, link: Link) -> None:
        """Add a link of a thread; inside of :meth:`writing`."""
        self._connection.execute("INSERT OR IGNORE INTO threads VALUES (?, ?, ?)", link)

    def add(self, record: Record) -> bool:
        """Add a reply unless its request has one; inside of :meth:`writing`."""
        body = record.model_dump_json(exclude_none=True)
        cursor = self._connection.execute(
            "INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (record.key, record.thread, body)
        )
        return cursor.rowcount == 1

    def thread(self, digest: str) -> tuple[ChatMessage, ...]:
        """Return the messages of a recorded thread."""
        with self._reporting():
            rows = self._connection.execute(
                "WITH RECURSIVE up(digest, parent, message, height) AS ("
                " SELECT digest, parent, message, 0 FROM threads WHERE digest = ?"
                " UNION ALL SELECT t.digest, t.parent, t.message, height + 1"
                " FROM threads t JOIN up ON t.digest = up.parent)"
                " SELECT role, content FROM up JOIN messages ON messages.digest = up.message"
                " ORDER BY height DESC",
                (digest,),
            ).fetchall()
        return tuple(ChatMessage(role, content) for role, content in rows)

    def difference(self, asked: Recorded) -> str | None:
        """Say how a request differs from the nearest recorded one; None in an empty store.

        The nearest one shares the longest beginning of the thread, then of the next message.
        """
        for shared in range(len(asked.links), -1, -1):
            near = [
                (record, self.thread(record.thread))
                for record in self._below(asked.links[shared - 1].digest if shared else None)
            ]
            if near:
                record, messages = max(near, key=lambda pair: _likeness(pair[1], asked, shared))
                return first_difference(record, messages, asked)
        return None

    def _below(self, thread: str | None) -> list[Record]:
        """Return the replies to a thread or, next, to those that it grew into; None: to all."""
        with self._reporting():
            rows = self._connection.execute(
                "WITH RECURSIVE down(digest, depth) AS ("
                " SELECT digest, 0 FROM threads"
                " WHERE CASE WHEN ?1 IS NULL THEN parent IS NULL ELSE digest = ?1 END"
                " UNION ALL SELECT t.digest, depth + 1"
                " FROM threads t JOIN down ON t.parent = down.digest),"
                " found AS (SELECT key, body, depth FROM down"
                " JOIN replies ON replies.thread = down.digest)"
                " SELECT key, body FROM found WHERE depth = (SELECT min(depth) FROM found)"
                " ORDER BY key LIMIT ?2",
                (thread, MOST_NEAR),
            ).fetchall()
        return [self._parsed(key, body) for key, body in rows]

    def check(self) -> None:
        """Let SQLite read the whole file.

        Raises:
            FileError: naming the file and the first damage.
        """
        with self._reporting():
            (said,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise FileError(f"{self}: the reply store is damaged ({printable(str(said))})")

    def orphan(self) -> str | None:
        """Return the key of a reply whose messages are not all there."""
        with self._reporting():
            row = self._connection.execute(
                "SELECT key FROM replies WHERE thread NOT IN (SELECT t.digest FROM threads t"
                " JOIN messages m ON m.digest = t.message"
                " WHERE t.parent IS NULL OR t.parent IN (SELECT digest FROM threads))"
                " ORDER BY key LIMIT 1"
            ).fetchone()
        return None if row is None else str(row[0])

    # --- the whole of it ---------------------------------------------------------------

    def records(self) -> Iterator[Record]:
        """Yield all replies by ascending key."""
        for key, _, body in self._rows("SELECT * FROM replies ORDER BY key"):
            yield self._parsed(key, body)

    def links(self) -> Iterator[Link]:
        """Yield all links of threads by ascending digest."""
        yield from map(Link._make, self._rows("SELECT * FROM threads ORDER BY digest"))

    def messages(self) -> Iterator[tuple[str, str, str]]:
        """Yield digest, role and content of all messages by ascending digest."""
        yield from self._rows("SELECT * FROM messages ORDER BY digest")

    def _rows(self, query: str) -> Iterator[tuple[str, str, str]]:
        with self._reporting():
            yield from self._connection.execute(query)

    def merge(self, other: "ReplyStore") -> Merged:
        """Add what another store holds; what stands here is never replaced.

        What was spent is not merged: it belongs to the run that spent it.
        """
        added = known = conflicting = 0
        with self.writing():
            for message in other.messages():
                self.add_message(*message)
            for link in other.links():
                self.add_link(link)
            for record in other.records():
                if self.add(record):
                    added += 1
                elif self.get(record.key) == record:
                    known += 1
                else:
                    conflicting += 1
        return Merged(added, known, conflicting)

    def stats(self) -> Stats:
        """Count what the store holds."""
        by_model: dict[str, int] = {}
        cost = 0.0
        for record in self.records():
            by_model[record.model] = by_model.get(record.model, 0) + 1
            cost += record.cost_usd or 0.0
        with self._reporting():
            (messages,) = self._connection.execute("SELECT count(*) FROM messages").fetchone()
        return Stats(sum(by_model.values()), messages, cost, dict(sorted(by_model.items())))

    # --- the ledger --------------------------------------------------------------------

    def reserve(self, model: str, nano_usd: int) -> int:
        """Note money before it may be spent; return its number. Inside of :meth:`writing`."""
        number = self._connection.execute(
            "INSERT INTO reservations (model, nano_usd) VALUES (?, ?)", (model, nano_usd)
        ).lastrowid
        if number is None:
            raise OutputError(f"{self}: the reservation was not written")
        return number

    def settle(self, number: int, nano_usd: int) -> None:
        """Note what a reservation came to; inside of :meth:`writing`."""
        self._connection.execute("INSERT INTO settlements VALUES (?, ?)", (number, nano_usd))

    def spent(self) -> int:
        """Return the nano-dollars spent; what was never settled counts in full."""
        with self._reporting():
            (total,) = self._connection.execute(
                "SELECT coalesce(sum(coalesce(s.nano_usd, r.nano_usd)), 0)"
                " FROM reservations r LEFT JOIN settlements s ON s.id = r.id"
            ).fetchone()
        return int(total)


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


def _likeness(recorded: Sequence[ChatMessage], asked: Recorded, place: int) -> int:
    """Return how many characters two threads share in one message."""
    here = asked.request.messages[place : place + 1]
    there = recorded[place : place + 1]
    if not here or not there or here[0].role != there[0].role:
        return 0
    return common_length(here[0].content, there[0].content)
