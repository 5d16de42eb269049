"""What an attempt sends and receives, through the real LiteLLM."""

import gzip
import json
import socket
import subprocess
import sys
import zlib
from typing import Any

import pytest

from calbench.llm import transport
from calbench.llm.completion import Completion
from calbench.llm.model import Endpoint
from calbench.llm.transport import REDIRECTED, TIMEOUT, TOO_LONG, AttemptError
from tests.llm.asking import attempt, request
from tests.llm.stub_server import Answer, chat, serving

KEY = "sk-canary-0123456789"
PLENTY_S = 60.0
"""Seconds that no test waits for, however slow the machine is."""


def ask(url: str, model: str = "openai/stub", timeout_s: float = PLENTY_S) -> Completion:
    where = Endpoint(api_base=url, api_key_env="STUB_KEY", timeout_s=timeout_s)
    return attempt(request("Hi", model=model), where)


def failure(url: str, **keys: Any) -> AttemptError:
    with pytest.raises(AttemptError) as caught:
        ask(url, **keys)
    assert caught.value.__context__ is None  # nothing of the provider's is behind it
    return caught.value


def head(**headers: Any) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(
        ["HTTP/1.1 200 OK", "content-type: application/json", *lines, "", ""]
    ).encode()


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)


@pytest.mark.heavy
@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("model", ["openai/stub", "anthropic/stub"])
def test_redirect_is_told_and_never_followed(status: int, model: str) -> None:
    with serving() as elsewhere, serving() as server:
        server.answers = [Answer(status=status, headers={"location": f"{elsewhere.url}/x?{KEY}"})]
        error = failure(server.url, model=model)

    assert (error.error, error.status, error.is_retryable) == (REDIRECTED, status, False)
    assert len(server.asked) == 1
    assert not elsewhere.asked


def test_whole_reply_counts_though_the_connection_breaks_off() -> None:
    body = json.dumps(chat()).encode()
    with serving(Answer(raw=head(content_length=len(body) + 50) + body)) as server:
        assert ask(server.url).text == "fine"
    assert len(server.asked) == 1


def test_part_of_a_reply_is_none() -> None:
    body = json.dumps(chat()).encode()
    with serving(Answer(raw=head(content_length=len(body)) + body[:-9])) as server:
        error = failure(server.url)
    assert (error.status, error.is_free) == (None, False)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "identity"])
def test_compressed_reply_is_read(coding: str) -> None:
    body = json.dumps(chat()).encode()
    packed = {"gzip": gzip.compress(body), "deflate": zlib.compress(body)}.get(coding, body)
    raw = head(content_length=len(packed), content_encoding=coding) + packed
    with serving(Answer(raw=raw)) as server:
        assert ask(server.url).text == "fine"


MANY = bytes(10_000_000)
BOMBS = {
    "gzip": gzip.compress(MANY),
    "gzip, gzip": gzip.compress(gzip.compress(MANY)),
    "br": b"anything",
    "identity": MANY,
}


@pytest.mark.parametrize("coding", BOMBS)
def test_reply_without_end_is_given_up(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = BOMBS[coding]
    monkeypatch.setattr(transport, "MOST_BYTES", 1_000_000)
    raw = head(content_length=len(packed), content_encoding=coding) + packed
    with serving(Answer(raw=raw)) as server:
        error = failure(server.url)

    assert (error.error, error.is_retryable, error.is_free) == (TOO_LONG, False, False)


@pytest.mark.skipif(sys.platform != "linux", reason="its queue of connections is Linux's")
def test_connection_that_is_never_made_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CONNECTING", 0.005)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        error = failure(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        for each in waiting:
            each.close()

    assert (error.error, error.is_free) == (TIMEOUT, True)


@pytest.mark.heavy
def test_reply_that_does_not_come_may_have_been_paid() -> None:
    with serving(Answer(delay_s=1.5)) as server:
        error = failure(server.url, timeout_s=1.0)
    assert (error.error, error.is_free) == (TIMEOUT, False)


def test_key_out_of_the_providers_own_variable_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(Answer(chat(KEY))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert attempt(request("Hi"), Endpoint(timeout_s=PLENTY_S)).text == "[key]"


@pytest.mark.heavy
def test_first_attempt_loads_nothing_and_sends_one_request() -> None:
    code = """
import asyncio, sys
from calbench.llm.litellm_transport import ask_litellm, close_litellm, prepare_litellm
from calbench.llm.model import Endpoint
from tests.llm.asking import attempt, request
from tests.llm.stub_server import serving
async def run(url):
    await prepare_litellm()
    before = set(sys.modules)
    await ask_litellm(request("Hi"), Endpoint(api_base=url))
    print(len(set(sys.modules) - before))
    await close_litellm()
with serving() as server:
    asyncio.run(run(server.url))
print(len(server.asked))
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    new, asked = map(int, said.stdout.split())
    assert new < 10
    assert asked == 1
    assert said.stderr == ""
