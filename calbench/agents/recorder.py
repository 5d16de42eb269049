"""Recording while games go on: nobody but the caller waits for the disk.

The disk takes milliseconds to confirm a reply, in which many games could be asked on. So a
reply is written at once, and a thread waits for the disk: once for all that was written while
it was busy. Money needs no such wait: it outlives the process as soon as it is written.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Self

from calbench.agents.records import Record, Recorded
from calbench.agents.store import ReplyStore
from calbench.errors import CalbenchError

Waiter = asyncio.Future[None]


class Recorder:
    """Writes the replies of a store for one event loop; also the ledger of its budget.

    No reply is handed out before it is on the disk, whoever recorded it. Money is written when
    the call returns, what attempts came to at the next occasion, in the order of the calls.
    """

    def __init__(self, store: ReplyStore) -> None:
        self._store = store
        self._settled: list[tuple[int, int]] = []
        self._waiting: SimpleQueue[Waiter | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._sync_all, name="recorder", daemon=True)
        self._synced_version: int | None = None

    def __enter__(self) -> Self:
        self._store.leave_log()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write_settled()
        finally:
            self._waiting.put(None)
            # Not awaited: no cancelling may keep from the disk what is paid for.
            self._thread.join()

    # --- the ledger --------------------------------------------------------------------

    def reserve(self, model: str, nano_usd: int) -> int:
        """Note money before it may be spent; return the number of the entry."""
        with self._writing(is_synced=False) as store:
            return store.reserve(model, nano_usd)

    def settle(self, number: int, nano_usd: int) -> None:
        """Note what a reservation came to: with the reply that follows, or by itself."""
        if not self._settled:
            asyncio.get_running_loop().call_soon(self._settle_soon)
        self._settled.append((number, nano_usd))

    def spent(self) -> int:
        """Return the nano-dollars spent; what was never settled counts in full."""
        return self._store.spent()

    def _settle_soon(self) -> None:
        with suppress(CalbenchError):  # whoever writes next will hear of it
            self._write_settled()

    def _write_settled(self) -> None:
        if self._settled:
            with self._writing(is_synced=False):
                pass

    @contextmanager
    def _writing(self, *, is_synced: bool) -> Iterator[ReplyStore]:
        """Run one transaction, together with what waits to be settled."""
        with self._store.writing(is_synced=is_synced):
            for number, nano_usd in self._settled:
                self._store.settle(number, nano_usd)
            yield self._store
        self._settled.clear()

    # --- replies -----------------------------------------------------------------------

    async def put(self, asked: Recorded, record: Record) -> Record:
        """Add a reply, and return the one that stands once it is on the disk.

        Raises:
            FileError: if the store is damaged.
            OutputError: if it cannot be written.
        """
        with self._writing(is_synced=not self._store.has_log) as store:
            store.add_parts(asked)
            is_new = store.add(record)
        await self._synced()
        return record if is_new else (self._store.get(record.key) or record)

    async def sync_others(self) -> None:
        """Wait until whatever can be read is on the disk: others may just have written it.

        Raises:
            OutputError: if the disk fails.
        """
        version = self._store.others_version()
        if version != self._synced_version:
            await self._synced()
            self._synced_version = version

    async def _synced(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.put(waiter)
        await waiter

    def _sync_all(self) -> None:
        """Wait for the disk whenever somebody asks to; runs on a thread."""
        for waiters in _together(self._waiting):
            failure: BaseException | None = None
            try:
                self._store.sync()
            except BaseException as error:  # noqa: BLE001 - the waiters must hear of it
                failure = error
            waiters[0].get_loop().call_soon_threadsafe(_tell, waiters, failure)


def _together(queue: "SimpleQueue[Waiter | None]") -> Iterator[list[Waiter]]:
    """Yield, again and again, all that a queue holds, until ``None`` ends it."""
    waiter = queue.get()
    while waiter is not None:
        waiters = [waiter]
        try:
            while (waiter := queue.get_nowait()) is not None:
                waiters.append(waiter)
        except Empty:
            yield waiters
            waiter = queue.get()
        else:
            yield waiters


def _tell(waiters: list[Waiter], failure: BaseException | None) -> None:
    for waiter in waiters:
        if waiter.done():  # cancelled meanwhile
            continue
        if failure is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(failure)
