"""A process that dies at any moment loses no reply that it was handed."""

import base64
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from calbench.llm.replies.request import named
from calbench.llm.replies.store import ReplyStore
from tests.cli.runs import SMALL, environment, python
from tests.llm.asking import request
from tests.llm.stub_server import Answer, chat, serving

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


pytestmark = pytest.mark.heavy

KEY = "sk-canary/0123456789"
FORMS = (KEY, "canary", quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()[:20])
PASS = json.dumps({"thinking": "", "actions": []})


def odd(**fields: Any) -> Answer:
    return Answer({**chat(PASS), **fields})


def odd_choice(**fields: Any) -> Answer:
    body = chat(PASS)
    body["choices"][0] |= fields
    return Answer(body)


ANSWERS = (
    Answer(chat(PASS)),
    Answer(chat([{"type": "text", "text": PASS}, {"type": KEY, "text": KEY}])),
    Answer(chat({"thinking": KEY, "actions": []})),
    Answer(chat(json.dumps({"thinking": f"{KEY} {FORMS[2]}", "actions": []}))),
    Answer(chat(None, reasoning_content=KEY, tool_calls=[{"id": KEY}])),
    Answer(chat(None, refusal=KEY)),
    odd(usage=KEY), odd(usage={"prompt_tokens": KEY, "completion_tokens": [KEY]}),
    odd(model=[KEY]), odd(model=KEY), odd(id={"a": KEY}), odd(created=KEY, system=[KEY]),
    odd_choice(finish_reason=[KEY]), odd_choice(finish_reason=KEY), odd_choice(logprobs=KEY),
    odd_choice(index=KEY, more=KEY), odd(choices=[*chat(PASS)["choices"], {"odd": KEY}]),
    Answer({"error": {"message": KEY}}, 500, {"x-key": KEY, "retry-after": "0"}),
    Answer(chat(PASS), headers={"x-key": KEY, "set-cookie": f"k={FORMS[2]}"}),
    Answer({"error": {"message": f"at ?key={FORMS[2]}"}}, 429, {"retry-after": "0"}),
    Answer(f"<html>{KEY}", content_type="text/html"),
)  # fmt: skip
LAST = (
    Answer(chat(), 307, {"location": f"http://127.0.0.1:9/{KEY}"}),
    Answer({"error": {"message": KEY, "code": KEY}}, 401),
)


def test_key_reaches_no_stream_and_no_file_of_a_run(tmp_path: Path) -> None:
    answers = [*ANSWERS * 2, *LAST]
    with serving(*answers) as server:
        ended = python(
            "-X", "dev", "-W", "default", "-m", "calbench", *SMALL,
            "teams=[my-model]", "model.name=stub", f"model.api_base={server.url}",
            "model.api_key_env=STUB_KEY", "model.max_attempts=3", "preflight=false",
            "games_at_once=1", f"out={tmp_path / 'run'}",
            env=environment(STUB_KEY=KEY),
        )  # fmt: skip

    said = [ended.out, ended.err]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    said += [str(path.read_bytes()) for path in files]
    assert ended.status == 3, ended.err
    assert "Not shown, since they may quote requests and replies" in ended.err
    assert len(server.asked) > len(ANSWERS)
    assert set(server.authorizations) == {f"Bearer {KEY}"}
    assert any(path.suffix == ".json" for path in files)
    with ReplyStore.open(tmp_path / "run" / "replies.sqlite") as store:
        texts = [record.text for record in store.records() if record.text]
    assert any("[key] [key]" in text for text in texts)
    for form in FORMS:
        assert not any(form in each for each in said), form
    assert "Traceback" not in ended.err
