"""Records replies and tells which may be used: ``python -m tests.llm.disk_recorder STORE COUNT``.

A third argument, ``careless``, makes it wait for no disk: a test of the test.
"""

import asyncio
import os
import sys
from pathlib import Path

from calbench.cli.main import status_of
from calbench.llm.replies import database
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from tests.llm.asking import recorded


def tell(word: str, number: int) -> None:
    os.write(sys.stdout.fileno(), f"{word} {number}\n".encode())


async def record(path: Path, count: int, *, is_careless: bool = False) -> None:
    with ReplyStore.open(path) as store, ReplyWriter(store) as writer:
        store.check()

        async def ask(number: int) -> None:
            asked, answer = recorded("thread", f"{number}: " + "slot " * 200, reply=f"no {number}")
            if store.find(asked) is None:
                entry = writer.reserve("m", 3)
                await entry
                tell("sent", number)
                await asyncio.sleep(0)
                writer.settle(entry, 2)
                await writer.put(asked, answer)
            else:
                await writer.sync_others()
            tell("used", number)

        if is_careless:
            store.sync = lambda: None  # type: ignore[method-assign]
        failed: list[BaseException] = []
        for start in range(0, count, 4):  # games go on while others fail
            group = (ask(start + i) for i in range(4))
            ended = await asyncio.gather(*group, return_exceptions=True)
            failed += [error for error in ended if error is not None]
        if failed:
            raise failed[0]


def main() -> int:
    path, count, *rest = sys.argv[1:]
    database.LOG_BYTES = 600_000  # so that the log is moved several times
    asyncio.run(record(Path(path), int(count), is_careless=bool(rest)))
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))
