"""Writing while requests continue: only the caller of a request waits for the disk.

The disk takes milliseconds to confirm a reply, in which many models could be asked. So a reply
is written at once, and one thread waits for the disk: once for all that was written while it
was busy. Money needs no such wait: what is written survives the end of the process.
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Self

from calbench.errors import CalbenchError
from calbench.llm.replies.games import BegunGame
from calbench.llm.replies.record import Record
from calbench.llm.replies.request import NamedRequest
from calbench.llm.replies.store import ReplyStore


class ReplyWriter:
    """Writes the replies of a store for one event loop; also the ledger of its budget.

    No reply is returned before it is on the disk, even if another process recorded it. A
    reservation is written when the call returns, a settlement with the next transaction, in the
    order of the calls.
    """

    def __init__(self, store: ReplyStore) -> None:
        self._store = store
        self._settled: list[tuple[int, int]] = []
        self._disk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reply-writer")
        self._next_sync: Future[None] | None = None
        self._on_disk: asyncio.Future[None]
        self._synced_version: int | None = None

    def __enter__(self) -> Self:
        self._store.leave_log()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write_settled()
        finally:
            # Waits for the disk, even if the run was cancelled: what was written is paid for.
            self._disk.shutdown()

    # --- the ledger --------------------------------------------------------------------

    def reserve(self, model: str, nano_usd: int) -> int:
        """Note money before it may be spent; return the number of the entry."""
        with self._writing(is_synced=False) as store:
            return store.reserve(model, nano_usd)

    def settle(self, number: int, nano_usd: int) -> None:
        """Note the cost of a reserved attempt: with the reply that follows, or alone."""
        if not self._settled:
            asyncio.get_running_loop().call_soon(self._settle_soon)
        self._settled.append((number, nano_usd))

    def spent(self) -> int:
        """Return the nano-dollars spent; what was never settled counts in full."""
        return self._store.spent()

    def learnt(self, model: str) -> tuple[int, int]:
        """Return what answered attempts of a model show; see the store."""
        return self._store.learnt(model)

    def _settle_soon(self) -> None:
        with suppress(CalbenchError):  # the next transaction will raise it again
            self._write_settled()

    def _write_settled(self) -> None:
        if self._settled:
            with self._writing(is_synced=False):
                pass

    @contextmanager
    def _writing(self, *, is_synced: bool) -> Iterator[ReplyStore]:
        """Run one transaction, together with the settlements not yet written."""
        with self._store.writing(is_synced=is_synced):
            for number, nano_usd in self._settled:
                self._store.settle(number, nano_usd)
            yield self._store
        self._settled.clear()

    # --- replies -----------------------------------------------------------------------

    def begin(self, game: BegunGame) -> None:
        """Note a game that begins; its first reply puts this on the disk, too."""
        with self._writing(is_synced=False) as store:
            store.begin(game)

    async def put(self, asked: NamedRequest, record: Record) -> Record:
        """Add a reply, and return the one that is kept once it is on the disk.

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
        """Wait until everything readable is on the disk: another process may just have written it.

        Raises:
            OutputError: if the disk fails.
        """
        version = self._store.others_version()
        if version != self._synced_version:
            await self._synced()
            self._synced_version = version

    async def _synced(self) -> None:
        """Wait for a sync that starts after this call; all that wait share the next one."""
        waiting = self._next_sync
        if waiting is None or waiting.running() or waiting.done():
            waiting = self._next_sync = self._disk.submit(self._store.sync)
            self._on_disk = asyncio.wrap_future(waiting)
        # Shielded: another caller may wait for the same sync.
        await asyncio.shield(self._on_disk)
