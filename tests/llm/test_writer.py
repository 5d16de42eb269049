"""Writing beside the event loop: whoever is told that something is written can rely on it."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from calbench.errors import OutputError
from calbench.llm.replies.database import LOG_BYTES
from calbench.llm.replies.record import Record
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from tests.llm.asking import record, recorded


def test_what_is_told_is_on_the_disk_and_found_by_another_connection(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    pairs = [recorded("thread", str(i), reply=f"reply {i}") for i in range(40)]

    async def run() -> None:
        with ReplyStore.open(path) as store, ReplyWriter(store) as recorder:

            async def put(number: int) -> None:
                entry = recorder.reserve("m", 5)
                await entry
                with ReplyStore.open(path) as other:
                    assert other.spent() >= 5
                recorder.settle(entry, 2)
                asked, answer = pairs[number]
                assert await recorder.put(asked, answer) == answer
                with ReplyStore.open(path) as other:
                    assert other.get(asked.key) == answer

            await asyncio.gather(*(put(i) for i in range(40)))

    asyncio.run(run())

    with ReplyStore.open(path) as store:
        assert all(store.check_key(each) is None for each in store.records())
        assert store.spent() == 80
        assert store.stats().replies == 40


def test_first_of_replies_handed_over_together_stands(tmp_path: Path) -> None:
    asked, first = recorded("Hi", reply="first")

    async def run() -> list[object]:
        with ReplyStore.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            answers = (first, record(asked, "second"), record(asked, "third"))
            return list(await asyncio.gather(*(recorder.put(asked, each) for each in answers)))

    assert asyncio.run(run()) == [first] * 3


def test_what_nobody_waits_for_any_more_is_written_all_the_same(tmp_path: Path) -> None:
    asked, answer = recorded("Hi")

    async def run() -> None:
        with ReplyStore.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            task = asyncio.create_task(recorder.put(asked, answer))
            await asyncio.sleep(0)
            task.cancel()

    asyncio.run(run())

    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert store.get(asked.key) == answer


def test_settlement_is_written_before_the_money_is_reserved_again(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        with ReplyStore.open(path) as store, ReplyWriter(store) as recorder:
            first = recorder.reserve("m", 8)
            recorder.settle(first, 1)
            await recorder.reserve("m", 9)
            await asyncio.sleep(0)
            with ReplyStore.open(path) as other:
                assert other.spent() == 10

    asyncio.run(run())


def test_settlement_without_a_reply_is_written_soon(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        with ReplyStore.open(path) as store, ReplyWriter(store) as recorder:
            entry = recorder.reserve("m", 8)
            await entry
            recorder.settle(entry, 1)
            await asyncio.sleep(0)
            with ReplyStore.open(path) as other:
                assert other.spent() == 1
            recorder.settle(recorder.reserve("m", 8), 1)  # and at the end without any delay

    asyncio.run(run())

    with ReplyStore.open(path) as store:
        assert store.spent() == 2


def test_settlement_that_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        with ReplyStore.open(path) as store, ReplyWriter(store) as recorder:
            entry = recorder.reserve("m", 8)
            await entry
            other = sqlite3.connect(path)
            other.execute("ALTER TABLE settlements RENAME TO hidden")
            recorder.settle(entry, 1)
            await asyncio.sleep(0)
            with pytest.raises(OutputError, match=r"r\.sqlite: the reply store cannot be used"):
                await recorder.put(*recorded("Hi"))
            other.execute("ALTER TABLE hidden RENAME TO settlements")
            other.close()
            await recorder.put(*recorded("Hi"))
            assert store.spent() == 1

    asyncio.run(run())


class Noting(ReplyStore):
    """Notes which of its transactions wait for the disk."""

    waits: list[bool]

    @contextmanager
    def writing(self, *, is_synced: bool = True) -> Iterator[sqlite3.Connection]:
        self.waits = [*getattr(self, "waits", []), is_synced]
        with super().writing(is_synced=is_synced) as connection:
            yield connection


@pytest.mark.parametrize("has_log", [True, False])
def test_only_replies_without_a_log_wait_for_the_disk_in_their_transaction(
    tmp_path: Path, has_log: bool
) -> None:
    async def run() -> list[bool]:
        with Noting.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            store.has_log = has_log
            store.waits = []
            entry = recorder.reserve("m", 8)
            await entry
            await recorder.put(*recorded("Hi"))
            recorder.settle(entry, 1)
        return store.waits

    assert asyncio.run(run()) == [False, not has_log, False]


def test_what_arrives_together_is_written_together(tmp_path: Path) -> None:
    async def run() -> None:
        with Noting.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            store.waits = []

            async def put(number: int) -> None:
                entry = recorder.reserve("m", 5)
                await entry
                recorder.settle(entry, 2)
                await recorder.put(*recorded(f"{number}"))

            await asyncio.gather(*(put(i) for i in range(40)))
            assert len(store.waits) == 2
            assert (store.count(), store.spent()) == (40, 80)

    asyncio.run(run())


def test_reply_that_cannot_be_written_costs_no_other(tmp_path: Path) -> None:
    odd, answer = recorded("odd")

    class Refusing(ReplyStore):
        def add(self, record: Record) -> bool:
            if record.key == odd.key:
                raise OutputError("too large")
            return super().add(record)

    async def run() -> list[Record | BaseException]:
        with Refusing.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            entry = recorder.reserve("m", 5)
            recorder.settle(entry, 2)
            pairs = [recorded("one"), (odd, answer), recorded("two")]
            puts = (recorder.put(*pair) for pair in pairs)
            found = await asyncio.gather(*puts, return_exceptions=True)
            await asyncio.sleep(0)
            assert (store.count(), store.spent(), entry.result()) == (2, 2, 1)
            return found

    one, refused, two = asyncio.run(run())
    assert isinstance(one, Record)
    assert isinstance(two, Record)
    assert isinstance(refused, OutputError)


def test_entry_that_is_cancelled_before_it_is_written_is_none(tmp_path: Path) -> None:
    async def run() -> None:
        with ReplyStore.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            entry = recorder.reserve("m", 5)
            entry.cancel()
            recorder.settle(entry, 0)
            assert await recorder.reserve("m", 7) == 1
            assert store.spent() == 7

    asyncio.run(run())


@pytest.mark.heavy
def test_large_log_is_moved_into_the_database(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    async def run() -> None:
        with ReplyStore.open(path) as store, ReplyWriter(store) as recorder:
            sizes = []
            for i in range(200):
                await recorder.put(*recorded(f"{i}" + "x" * 400_000))
                sizes.append((tmp_path / "r.sqlite-wal").stat().st_size)
            assert 0 < max(sizes) < LOG_BYTES * 1.1
            assert sizes.count(0) >= 2

    asyncio.run(run())


def test_replies_wait_for_the_log_to_be_on_the_disk(tmp_path: Path) -> None:
    class Failing(ReplyStore):
        def sync(self) -> None:
            raise OutputError("no disk")

    async def run() -> None:
        with Failing.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as recorder:
            await recorder.put(*recorded("Hi"))

    with pytest.raises(OutputError, match="no disk"):
        asyncio.run(run())
