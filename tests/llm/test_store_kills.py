"""A process that dies at any moment loses no reply that it was handed."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from calbench.llm.replies.request import named
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import request

REPO = Path(__file__).resolve().parents[2]

WRITER = """
import asyncio, sys
from pathlib import Path
from calbench.llm.replies.writer import ReplyWriter
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import recorded
start = int(sys.argv[2])
async def write():
    with ReplyStore.open(Path(sys.argv[1])) as store, ReplyWriter(store) as recorder:
        for i in range(start, start + 1_000_000):
            entry = recorder.reserve("m", 3)
            await entry
            recorder.settle(entry, 1)
            await recorder.put(*recorded("thread", str(i), reply=f"reply {i}"))
            print(i, flush=True)  # from here on the reply may be used
asyncio.run(write())
"""


def killed_writer(path: Path, start: int, lifetime_s: float) -> int:
    """Let a process write until it is killed; return the first number it did not announce."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(start)],
        cwd=REPO,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        assert first == f"{start}\n"
        time.sleep(lifetime_s)
        writer.kill()
        rest = writer.stdout.read()
    assert writer.returncode == -signal.SIGKILL
    whole = [line for line in (first + rest).split("\n")[:-1] if line]
    return int(whole[-1]) + 1


@pytest.mark.heavy
@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_process_loses_no_reply_it_announced(tmp_path: Path, kills: int) -> None:
    path = tmp_path / "r.sqlite"
    chance = random.Random(kills)
    announced: list[int] = []
    start = 0
    for _ in range(kills):
        end = killed_writer(path, start, chance.uniform(0, 0.05))
        announced += range(start, end)
        start = end

        with ReplyStore.open(path) as store:
            store.check()
            assert store.orphan() is None
            assert store.spent() >= len(announced)

    with ReplyStore.open(path) as store:
        for i in announced:
            found = store.get(named(request("thread", str(i))).key)
            assert found is not None
            assert found.text == f"reply {i}"
        # At most one more a kill: written, but not announced any more.
        assert len(announced) <= store.stats().replies <= len(announced) + kills
