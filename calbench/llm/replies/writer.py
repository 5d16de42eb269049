"""Writing while requests continue: only the caller of a request waits for the disk.

A transaction costs as much as the rest of a call, and the disk takes milliseconds to confirm one,
in which many models could be asked. So what arrives in one turn of the event loop is written in
one transaction as soon as the turn is over, and one thread waits for the disk: once for all that
was written while it was busy. Money needs no such wait: what is written survives the end of the
process.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from calbench.errors import CalbenchError
from calbench.llm.replies.ledger import BegunGame
from calbench.llm.replies.record import NamedRequest, Record
from calbench.llm.replies.store import ReplyStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class _Note(Generic[T]):
    """Something to be written.

    Attributes:
        write: writes it, inside of a transaction.
        told: what that returned, once it can be relied on.
        is_reply: whether it is to be on the disk before that, and is written even if nobody waits
            for it any more. Anything else is needed no longer then.
    """

    write: Callable[[ReplyStore], T]
    told: asyncio.Future[T]
    is_reply: bool


class ReplyWriter:
    """Writes the replies of a store for one event loop; also the ledger of its budget.

    No reply is returned before it is on the disk, even if another process recorded it. Everything
    is written in the turn of the event loop after the one in which it was handed over.
    """

    def __init__(self, store: ReplyStore) -> None:
        self._store = store
        self._notes: list[_Note[Any]] = []
        self._settled: list[tuple[asyncio.Future[int | None], int]] = []
        self._is_due = False
        self._disk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reply-writer")
        self._next_sync: Future[None] | None = None
        self._on_disk: asyncio.Future[None]
        self._synced_version: int | None = None
        self._read_version: int | None = None

    def __enter__(self) -> Self:
        self._store.leave_log()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.write()
            if self._settled:  # of what has just been reserved, or what could not be written
                self._write([])
        finally:
            # Waits for the disk, even if the run was cancelled: what was written is paid for.
            self._disk.shutdown()

    # --- the ledger --------------------------------------------------------------------

    def reserve(
        self, model: str, nano_usd: int, fits: Callable[[], bool] = lambda: True
    ) -> asyncio.Future[int | None]:
        """Note money before it may be spent; return the number of the entry, once it is written.

        An entry that is cancelled before is not written, nor one that does not fit, which is asked
        when no other process can write.
        """
        return self._note(
            lambda store: store.reserve(model, nano_usd) if fits() else None, is_reply=False
        )

    def settle(self, entry: asyncio.Future[int | None], nano_usd: int) -> None:
        """Note the cost of a reserved attempt: with the reply that follows, or alone."""
        self._settled.append((entry, nano_usd))
        self._write_soon()

    def begun(self) -> tuple[int, dict[int, tuple[str, int]]]:
        """Return the nano-dollars spent, and model and nano-dollars of what was never settled.

        What was never settled counts in full. Both are of one moment.
        """
        with self._store.writing(is_synced=False):
            return self._store.spent(), self._store.open_entries()

    def news(
        self, entries: Collection[int]
    ) -> tuple[list[tuple[int, str, int]], list[tuple[int, int]]]:
        """Return what other processes did since the last call.

        Args:
            entries: reservations of theirs of which it is not known that they are settled.

        Returns:
            Number, model and nano-dollars of what they reserved; number and nano-dollars of what
            they settled.
        """
        version = self._store.others_version()
        if version == self._read_version:
            return [], []
        self._read_version = version
        reserved = self._store.others_reservations()
        return reserved, self._store.settlements([*entries, *(each[0] for each in reserved)])

    def answered(self, model: str) -> list[tuple[int, int]]:
        """Return what answered attempts of a model should cost and did; see the store."""
        return self._store.answered(model)

    # --- replies -----------------------------------------------------------------------

    def begin(self, game: BegunGame) -> None:
        """Note a game that begins; its first reply puts this on the disk, too."""
        with self._store.writing(is_synced=False):
            self._store.begin(game)

    async def put(self, asked: NamedRequest, record: Record) -> Record:
        """Add a reply, and return the one that is kept once it is on the disk.

        Raises:
            FileError: if the store is damaged.
            OutputError: if it cannot be written.
        """

        def write(store: ReplyStore) -> Record:
            store.add_parts(asked)
            return record if store.add(record) else (store.get(record.key) or record)

        return await self._note(write, is_reply=True)

    async def sync_others(self) -> None:
        """Wait until everything readable is on the disk: another process may just have written it.

        Raises:
            OutputError: if the disk fails.
        """
        version = self._store.others_version()
        if version != self._synced_version:
            await asyncio.shield(self._sync())  # others may wait for the same sync
            self._synced_version = version

    # --- transactions ------------------------------------------------------------------

    def write(self) -> None:
        """Write what was handed over, at once; whoever waits for it is told, errors too."""
        self._is_due = False
        notes = [note for note in self._notes if note.is_reply or not note.told.cancelled()]
        self._notes = []
        if notes or self._settled:
            self._try_to_write(notes)

    def _note(self, write: Callable[[ReplyStore], T], *, is_reply: bool) -> asyncio.Future[T]:
        note = _Note(write, asyncio.get_running_loop().create_future(), is_reply)
        self._notes.append(note)
        self._write_soon()
        return note.told

    def _write_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self.write)

    def _try_to_write(self, notes: list[_Note[Any]]) -> None:
        """Write together, or else each alone: one that cannot be written must not cost others."""
        try:
            self._write(notes)
        except Exception as error:
            if len(notes) > 1:
                for note in notes:
                    self._try_to_write([note])
            elif notes:
                _tell([(notes[0].told, None)], error)
            elif not isinstance(error, CalbenchError):  # else the next transaction raises it again
                raise

    def _write(self, notes: list[_Note[Any]]) -> None:
        """Run one transaction, together with the settlements of what is reserved by now."""
        ready = [each for each in self._settled if each[0].done()]
        later = [each for each in self._settled if not each[0].done()]
        has_replies = any(note.is_reply for note in notes)
        with self._store.writing(is_synced=has_replies and not self._store.has_log):
            found = [note.write(self._store) for note in notes]
            for entry, nano_usd in ready:
                if not entry.cancelled() and entry.exception() is None:
                    number = entry.result()
                    if number is not None:
                        self._store.settle(number, nano_usd)
        self._settled = later
        if later:
            self._write_soon()
        written = list(zip(notes, found, strict=True))
        _tell((note.told, value) for note, value in written if not note.is_reply)
        if has_replies:
            replies = [(note.told, value) for note, value in written if note.is_reply]
            self._sync().add_done_callback(lambda synced: _tell(replies, synced.exception()))

    def _sync(self) -> asyncio.Future[None]:
        """Return the end of a sync that starts after this call; all that wait share the next."""
        waiting = self._next_sync
        if waiting is None or waiting.running() or waiting.done():
            waiting = self._next_sync = self._disk.submit(self._store.sync)
            self._on_disk = asyncio.wrap_future(waiting)
        return self._on_disk


def _tell(
    told: Iterable[tuple[asyncio.Future[Any], Any]], error: BaseException | None = None
) -> None:
    for future, value in told:
        if future.done():  # as a cancelled one is
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
