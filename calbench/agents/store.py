"""The reply store: what was paid for once is kept, and found by what was asked.

One SQLite file. Nothing in it is ever changed or deleted: triggers refuse it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import ValidationError

from calbench.agents.completion import ChatMessage
from calbench.agents.records import (
    SCHEMA_ROLE,
    Link,
    Record,
    Recorded,
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
    file: of two replies to one request the first stands, and both are handed that one.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

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
            execute("PRAGMA journal_mode = WAL")

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
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

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
            self._add_parts(request)
            is_new = self.add(record)
        return record if is_new else (self.get(record.key) or record)

    def _add_parts(self, request: Recorded) -> None:
        """Add messages and links that are not there yet: the last ones of a growing thread."""
        execute = self._connection.execute
        for (message, role, content), link in zip(
            reversed(list(request.parts())[: len(request.links)]),
            reversed(request.links),
            strict=True,
        ):
            if execute("SELECT 1 FROM threads WHERE digest = ?", (link.digest,)).fetchone():
                break
            self.add_message(message, role, content)
            self.add_link(link)
        for message, role, content in request.parts():
            if role == SCHEMA_ROLE:
                self.add_message(message, role, content)

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

        The nearest one shares the longest beginning of the thread.
        """
        for link in reversed(asked.links):
            record = self._below(link.digest)
            if record is not None:
                return first_difference(record, self.thread(record.thread), asked)
        row = self._connection.execute("SELECT key, body FROM replies LIMIT 1").fetchone()
        if row is None:
            return None
        record = self._parsed(*row)
        return first_difference(record, self.thread(record.thread), asked)

    def _below(self, thread: str) -> Record | None:
        """Return a reply to a thread or, next, to one that it grew into."""
        with self._reporting():
            row = self._connection.execute(
                "WITH RECURSIVE down(digest, depth) AS ("
                " SELECT digest, 0 FROM threads WHERE digest = ?"
                " UNION ALL SELECT t.digest, depth + 1"
                " FROM threads t JOIN down ON t.parent = down.digest)"
                " SELECT key, body FROM down JOIN replies ON replies.thread = down.digest"
                " ORDER BY depth, key LIMIT 1",
                (thread,),
            ).fetchone()
        return None if row is None else self._parsed(*row)

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
        """Note money before it may be spent; return the number of the entry."""
        with self.writing(is_synced=False) as connection:
            entry = connection.execute(
                "INSERT INTO reservations (model, nano_usd) VALUES (?, ?)", (model, nano_usd)
            ).lastrowid
        if entry is None:
            raise OutputError(f"{self}: the reservation was not written")
        return entry

    def settle(self, entry: int, nano_usd: int) -> None:
        """Note what a reservation came to."""
        with self.writing(is_synced=False) as connection:
            connection.execute("INSERT INTO settlements VALUES (?, ?)", (entry, nano_usd))

    def spent(self) -> int:
        """Return the nano-dollars spent; what was never settled counts in full."""
        with self._reporting():
            (total,) = self._connection.execute(
                "SELECT coalesce(sum(coalesce(s.nano_usd, r.nano_usd)), 0)"
                " FROM reservations r LEFT JOIN settlements s ON s.id = r.id"
            ).fetchone()
        return int(total)


def is_store_file(path: Path) -> bool:
    """Tell a store's file from a folder of shards by its name."""
    return printable(path.suffix) in {".sqlite", ".db", ".sqlite3"}
