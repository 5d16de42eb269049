"""The reply store: what was paid for once is kept, and found by its request."""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import ValidationError

from calbench.console import progress
from calbench.errors import FileError, OutputError
from calbench.files import first_problem
from calbench.llm.completion import ChatMessage
from calbench.llm.replies.database import ReplyDatabase
from calbench.llm.replies.record import Record
from calbench.llm.replies.request import Link, NamedRequest

MOST_NEAR = 1000
"""Replies among which the nearest to a missed request is looked for [C]."""


class Stats(NamedTuple):
    """What a store holds."""

    replies: int
    messages: int
    cost_usd: float
    replies_by_model: dict[str, int]


class Merged(NamedTuple):
    """What a merge did: replies added, those already there, and those that disagree."""

    added: int
    known: int
    conflicting: int


class ReplyStore(ReplyDatabase):
    """Recorded replies in one SQLite file; also the ledger of what they cost.

    Several processes may use one file: of two replies to one request the first is kept, and
    both processes get that one. During a run, :class:`~calbench.llm.replies.writer.ReplyWriter`
    writes.
    """

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

    def below(self, thread: str | None) -> list[Record]:
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

    def count(self) -> int:
        """Return how many replies there are."""
        with self._reporting():
            (count,) = self._connection.execute("SELECT count(*) FROM replies").fetchone()
        return int(count)

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
        """Add what another store holds; what is already here is never replaced.

        What was spent is not merged: it belongs to the run that spent it.
        """
        added = known = conflicting = 0
        with self.writing():
            for message in other.messages():
                self.add_message(*message)
            for link in other.links():
                self.add_link(link)
            with progress("replies", other.count()) as tick:
                for record in other.records():
                    if self.add(record):
                        added += 1
                    elif self.get(record.key) == record:
                        known += 1
                    else:
                        conflicting += 1
                    tick()
        return Merged(added, known, conflicting)

    def stats(self) -> Stats:
        """Count what the store holds."""
        by_model: dict[str, int] = {}
        cost = 0.0
        with progress("counted", self.count()) as tick:
            for record in self.records():
                by_model[record.model] = by_model.get(record.model, 0) + 1
                cost += record.cost_usd or 0.0
                tick()
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
        """Note the cost of a reserved attempt; inside of :meth:`writing`."""
        self._connection.execute("INSERT INTO settlements VALUES (?, ?)", (number, nano_usd))

    def spent(self) -> int:
        """Return the nano-dollars spent; what was never settled counts in full."""
        with self._reporting():
            (total,) = self._connection.execute(
                "SELECT coalesce(sum(coalesce(s.nano_usd, r.nano_usd)), 0)"
                " FROM reservations r LEFT JOIN settlements s ON s.id = r.id"
            ).fetchone()
        return int(total)

    def learnt(self, model: str) -> tuple[int, int]:
        """Return what answered attempts of a model show of its replies, in nano-dollars.

        The most that one cost beyond its reservation, and the largest reservation; 0 if there are
        none. An attempt that cost nothing, or just what was reserved, may have had no answer.
        """
        with self._reporting():
            excess, largest = self._connection.execute(
                "SELECT max(s.nano_usd - r.nano_usd), max(r.nano_usd) FROM reservations r"
                " JOIN settlements s ON s.id = r.id"
                " WHERE r.model = ? AND s.nano_usd NOT IN (0, r.nano_usd)",
                (model,),
            ).fetchone()
        return max(0, int(excess or 0)), int(largest or 0)
