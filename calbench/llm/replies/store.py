"""The reply store: what was paid for once is kept, and found by its request."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from calbench.console import progress
from calbench.domain.canonical import first_difference
from calbench.errors import FileError
from calbench.files import first_problem, printable, shorten
from calbench.llm.completion import ChatMessage
from calbench.llm.replies.database import CHANGED
from calbench.llm.replies.ledger import Ledger
from calbench.llm.replies.record import (
    SCHEMA_ROLE,
    Link,
    NamedRequest,
    Record,
    common_beginning,
    difference_from,
    link_digest,
    message_digest,
)
from calbench.llm.replies.schema import row_digest

MOST_NEAR = 1000
"""Replies among which the nearest to a missed request is looked for [C]."""

MOST_THREADS = 50_000
"""Threads kept in memory after they were read: most others begin as one of them [C]."""


class Stats(NamedTuple):
    """What a store holds."""

    replies: int
    messages: int
    cost_usd: float
    replies_by_model: dict[str, int]
    answered_by: dict[str, Counter[str]]
    """By the model that was asked for: replies by the one that is said to have answered."""


_REPLIES = "SELECT key, thread, body, digest FROM replies"

_FALSE_KEY = "is not that of its request; it was changed"


def _body(record: Record) -> str:
    """Return a reply as its row has it."""
    return record.model_dump_json(exclude_none=True)


class ReplyStore(Ledger):
    """Recorded replies in one SQLite file; also the ledger of what they cost.

    Several processes may use one file: of two replies to one request the first is kept, and
    both processes get that one. During a run, :class:`~calbench.llm.replies.writer.ReplyWriter`
    writes.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._threads: dict[str, tuple[ChatMessage, ...]] = {}

    def get(self, key: str) -> Record | None:
        """Return the recorded reply to a request.

        Raises:
            FileError: naming the store and the reply, if it is not as it was written.
        """
        with self._reporting():
            row = self._connection.execute(f"{_REPLIES} WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._checked(*row)

    def find(self, asked: NamedRequest) -> Record | None:
        """Return the recorded reply to a request, if it has one.

        Raises:
            FileError: if there is one under its key that answers another request.
        """
        record = self.get(asked.key)
        if record is not None and not record.answers(asked):
            raise FileError(f"{self}: reply {asked.key}: the key {_FALSE_KEY}")
        return record

    def _checked(self, key: Any, thread: Any, body: Any, digest: Any) -> Record:
        """Return a reply from its row, whose values may be anything."""
        if digest != row_digest(key, thread, body):
            raise FileError(self._place("reply", key, CHANGED))
        try:
            record = Record.model_validate_json(body)
        except ValidationError as error:
            raise FileError(self._place("reply", key, first_problem(error))) from error
        if body != (written := _body(record)):
            differs = first_difference(str(body).encode(), written.encode())
            raise FileError(self._place("reply", key, f"not as calbench writes it: {differs}"))
        if (record.key, record.thread) != (key, thread):
            raise FileError(self._place("reply", key, "is recorded under another key or thread"))
        return record

    def _place(self, kind: str, name: Any, problem: str) -> str:
        return f"{self}: {kind} {shorten(printable(str(name)), 64)}: {problem}"

    def add_parts(self, request: NamedRequest) -> None:
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
        row = (record.key, record.thread, _body(record))
        cursor = self._connection.execute(
            "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?)", (*row, row_digest(*row))
        )
        if cursor.rowcount != 1:
            return False
        self._added = self._added._replace(replies=cursor.lastrowid or 0)
        return True

    def thread(self, digest: str) -> tuple[ChatMessage, ...]:
        """Return the messages of a recorded thread.

        Raises:
            FileError: naming the store and the thread, if one is missing or not as it was written.
        """
        if len(self._threads) > MOST_THREADS:
            self._threads.clear()
        walked: list[tuple[str, ChatMessage]] = []
        above: str | None = digest
        # Ends: a link holds the digest of the one above it, so there is no circle.
        while above is not None and above not in self._threads:
            link, message = self._link(above, digest)
            walked.append((above, message))
            above = link.parent
        messages = () if above is None else self._threads[above]
        for place, message in reversed(walked):
            messages = self._threads[place] = (*messages, message)
        return messages

    def _link(self, digest: str, thread: str) -> tuple[Link, ChatMessage]:
        with self._reporting():
            row = self._connection.execute(
                "SELECT threads.digest, parent, message, role, content FROM threads"
                " LEFT JOIN messages ON messages.digest = message WHERE threads.digest = ?",
                (digest,),
            ).fetchone()
        if row is None or row[3] is None:
            raise FileError(self._place("thread", thread, "not all of its messages are there"))
        link = self._checked_link(*row[:3])
        _, role, content = self._checked_message(link.message, *row[3:])
        return link, ChatMessage(role, content)

    def _checked_link(self, digest: Any, parent: Any, message: Any) -> Link:
        if not isinstance(digest, str) or digest != link_digest(parent, message):
            raise FileError(self._place("thread", digest, CHANGED))
        return Link(digest, parent, message)

    def _checked_message(self, digest: Any, role: Any, content: Any) -> tuple[str, Any, str]:
        is_text = isinstance(role, str) and isinstance(content, str)
        if not is_text or digest != message_digest(role, content):
            raise FileError(self._place("message", digest, CHANGED))
        return digest, role, content

    def nearest_difference(self, asked: NamedRequest) -> str | None:
        """Say how a request differs from the nearest recorded one; None in an empty store.

        The nearest one shares the longest beginning of the thread, then of the next message.
        """
        for shared in range(len(asked.links), -1, -1):
            near = self._below(asked.links[shared - 1].digest if shared else None)
            if near:
                record = max(near, key=lambda each: self._likeness(each, asked, shared))
                return difference_from(record, self.thread(record.thread), asked)
        return None

    def _likeness(self, record: Record, asked: NamedRequest, place: int) -> int:
        """Return how many characters the messages at a place of two threads share."""
        threads = (self.thread(record.thread), asked.request.messages)
        return common_beginning(*(next(islice(each, place, None), None) for each in threads))

    def _below(self, thread: str | None) -> list[Record]:
        """Return the replies to a thread or, next, to those that it grew into; None: to all."""
        level = self._column("SELECT digest FROM threads WHERE parent IS NULL")
        if thread is not None:
            level = [thread]
        seen = set(level)
        while level:
            keys = self._column("SELECT key FROM replies WHERE thread = ?", level)
            if keys:
                found = (self.get(key) for key in sorted(keys)[:MOST_NEAR])
                return [record for record in found if record is not None]
            grown = self._column("SELECT digest FROM threads WHERE parent = ?", level)
            level = [digest for digest in grown if digest not in seen]  # damage may make a circle
            seen.update(level)
        return []

    def _column(self, query: str, values: Sequence[str] | None = None) -> list[str]:
        """Return the first column of a query, for each value in turn."""
        with self._reporting():
            rows = [
                row
                for parameters in ([()] if values is None else [(value,) for value in values])
                for row in self._connection.execute(query, parameters)
            ]
        return [row[0] for row in rows]

    # --- the whole of it ---------------------------------------------------------------

    def count(self) -> int:
        """Return how many replies there are."""
        with self._reporting():
            (count,) = self._connection.execute("SELECT count(*) FROM replies").fetchone()
        return int(count)

    def records(self) -> Iterator[Record]:
        """Yield all replies by ascending key."""
        for row in self._rows(f"{_REPLIES} ORDER BY key"):
            yield self._checked(*row)

    def links(self) -> Iterator[Link]:
        """Yield all links of threads by ascending digest."""
        for row in self._rows("SELECT digest, parent, message FROM threads ORDER BY digest"):
            yield self._checked_link(*row)

    def messages(self) -> Iterator[tuple[str, str, str]]:
        """Yield digest, role and content of all messages by ascending digest."""
        for row in self._rows("SELECT digest, role, content FROM messages ORDER BY digest"):
            yield self._checked_message(*row)

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        with self._reporting():
            yield from self._connection.execute(query)

    def check(self) -> None:
        """Let SQLite read the whole file, and look for rows that are lost or changed.

        Raises:
            FileError: naming the file and the first damage.
        """
        with self._reporting():
            self._connection.execute("PRAGMA cell_size_check = ON")
            (said,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise FileError(f"{self}: the reply store is damaged ({printable(str(said))})")
        for table in ("replies", "reservations", "settlements"):
            self._check_rows(table)

    def check_key(self, record: Record) -> str | None:
        """Return what is wrong with the key of a reply, given its request; None: nothing.

        Raises:
            FileError: if parts of the request are missing, or not as they were written.
        """
        return None if record.answers(self.request(record)) else _FALSE_KEY

    def request(self, record: Record) -> NamedRequest:
        """Return what a reply was asked for, named anew.

        Raises:
            FileError: parts of it are missing, or not as they were written.
        """
        schema = None if record.reply_schema is None else self._schema(record.reply_schema)
        return record.request(self.thread(record.thread), schema)

    def _schema(self, digest: str) -> Any:
        with self._reporting():
            row = self._connection.execute(
                "SELECT digest, role, content FROM messages WHERE digest = ? AND role = ?",
                (digest, SCHEMA_ROLE),
            ).fetchone()
        if row is None:
            raise FileError(f"{self}: schema {digest}: is not there")
        return json.loads(self._checked_message(*row)[2])

    def stats(self) -> Stats:
        """Count what the store holds, all of which is checked."""
        self.check()
        by_model: dict[str, int] = {}
        answered_by: dict[str, Counter[str]] = {}
        cost = 0.0
        with progress("counted", self.count()) as tick:
            for record in self.records():
                by_model[record.model] = by_model.get(record.model, 0) + 1
                cost += record.cost_usd or 0.0
                if record.provenance is not None and record.provenance.model is not None:
                    answered = answered_by.setdefault(record.model, Counter())
                    answered[record.provenance.model] += 1
                tick()
        messages = sum(1 for _ in self.messages())
        counts = dict(sorted(by_model.items()))
        return Stats(sum(counts.values()), messages, cost, counts, answered_by)
