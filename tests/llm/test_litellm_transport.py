"""Attempts through the real LiteLLM, against a provider on the loopback."""

import asyncio
import base64
import json
import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from calbench.config.composition import compose
from calbench.config.groups import known_names
from calbench.errors import ConfigError, UnavailableError
from calbench.llm.client import Source, open_completer
from calbench.llm.litellm_transport import TOP_LOGPROBS, ask_litellm, close_litellm, load_litellm
from calbench.llm.model import PROVIDERS, Endpoint
from calbench.llm.replies.shards import merge_into, open_replies
from calbench.llm.replies.store import ReplyStore
from calbench.llm.transport import AttemptError
from tests.cli.runs import REPO, SMALL, environment, python
from tests.llm.asking import SITE, FakeTime, ask_stub, attempt, endpoint, model, request
from tests.llm.stub_server import Answer, Asked, StubServer, chat, served, serving

CANARY = "sk-canary-0123456789"


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """LiteLLM imports more at its first call: seconds that belong to no test's time."""
    with serving() as server:
        ask_stub(server, timeout_s=60.0)


def test_request_says_what_was_asked_and_no_more() -> None:
    schema = {"type": "object"}
    with serving() as server:
        ask_stub(server)
        ask_stub(
            server,
            request(
                "Hi",
                sampling={
                    "max_tokens": 7,
                    "temperature": 0.5,
                    "top_p": 0.9,
                    "seed": 3,
                    "reasoning_effort": "low",
                },
                response_format="json_object",
                reply_schema=schema,
                logprobs=True,
                replicate=2,
            ),
        )
        ask_stub(server, request("Hi", response_format="json_object"))
        ask_stub(server, request("Hi", response_format="json_schema", reply_schema=schema))

    messages = [
        {"role": "system", "content": "You keep a calendar."},
        {"role": "user", "content": "Hi"},
    ]
    assert server.asked[0] == {"model": "stub", "messages": messages, "max_tokens": 100}
    assert server.asked[1] == {
        "model": "stub",
        "messages": messages,
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3 + 2,  # a further replicate is not to repeat the first
        "reasoning_effort": "low",
        "response_format": {"type": "json_object", "schema": schema},
        "logprobs": True,
        "top_logprobs": TOP_LOGPROBS,
    }
    assert server.asked[2]["response_format"] == {"type": "json_object"}
    assert server.asked[3]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema},
    }


def test_refused_connection_is_a_fault_that_passes() -> None:
    with serving() as server:
        pass

    with pytest.raises(AttemptError) as caught:
        ask_stub(server)

    assert caught.value.is_retryable
    assert (caught.value.error, caught.value.is_free) == ("ConnectionRefused", True)


PROXIED = """
from tests.llm.asking import ask_stub
from tests.llm.stub_server import serving

with serving() as server:
    print(ask_stub(server).text)
"""
"""Asks a server of this machine, in a process whose environment names a proxy."""


@pytest.mark.heavy
def test_server_of_this_machine_is_never_asked_through_a_proxy() -> None:
    with serving() as proxy:
        address = proxy.url.removesuffix("/v1")
        names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY")
        env = environment(PYTHONPATH=str(REPO), **dict.fromkeys(names, address))
        env = {name: value for name, value in env.items() if name.lower() != "no_proxy"}
        ended = python("-c", PROXIED, env=env)
        assert (ended.status, ended.out) == (0, "fine\n"), ended.err
        assert proxy.asked == []


def test_cookies_are_not_sent_back() -> None:
    class Baker(StubServer):
        def answer_to(self, asked: Asked) -> Answer:
            cookies.append(asked.headers.get("cookie"))
            return super().answer_to(asked)

    cookies: list[str | None] = []

    async def run() -> None:
        try:
            for number in range(3):
                await ask_litellm(request(f"{number}"), endpoint(api_base=server.url))
        finally:
            await close_litellm()

    server = Baker(Answer(headers={"set-cookie": "session=1; Path=/"}))
    with served(server):
        asyncio.run(run())
    assert cookies == [None] * 3


def test_missing_key_is_a_fault_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    for name in ("openai/none", "anthropic/none"):
        with pytest.raises(ConfigError, match="no key of its provider is in the environment"):
            attempt(request("Hi", model=name), Endpoint(timeout_s=60.0))


HAS_GOOGLE = find_spec("google") is not None and find_spec("google.auth") is not None


@pytest.mark.skipif(HAS_GOOGLE, reason="Google's package would be asked")
@pytest.mark.parametrize(
    "name", ["vertex_ai/claude-sonnet-4-6", "vertex_ai/gemini-3-flash-preview"]
)
def test_missing_package_of_a_provider_stops_the_run_and_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match="pip install google-auth"):
        attempt(request("Hi", model=name), Endpoint(timeout_s=60.0))


@pytest.mark.parametrize("choice", known_names("model"))
def test_litellm_knows_the_provider_of_every_model(choice: str) -> None:
    named = ["model.name=my-own"] if choice == "local" else []
    (config,) = compose([f"model={choice}", *named]).models.values()

    name, provider, *_ = load_litellm().get_llm_provider(config.spec.model)

    assert f"{provider}/{name}" == config.spec.model
    assert provider in PROVIDERS


def test_server_of_ones_own_never_receives_the_key_of_a_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    with serving() as server:
        ask_stub(server)

    assert len(server.authorizations) == 1
    assert CANARY not in str(server.authorizations)


def test_key_reaches_the_provider_and_nothing_else(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("STUB_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"bad key {CANARY} at http://127.0.0.1/?key={CANARY}"}}
    failures: list[str] = []

    async def run(server: StubServer) -> None:
        config = model(api_base=server.url, api_key_env="STUB_KEY", max_attempts=2)
        source = Source(
            mode="record", store=tmp_path / "r.sqlite", surroundings=FakeTime().surroundings()
        )
        async with open_completer({"stub": config}, source) as completer:
            await completer.complete(request("one"), SITE)
            for text in ("two", "three"):
                try:
                    await completer.complete(request(text), SITE)
                except UnavailableError as error:
                    chain: BaseException | None = error
                    while chain is not None:
                        failures.append(repr(chain) + str(vars(chain)))
                        chain = chain.__cause__ or chain.__context__

    answers = [Answer(echo, 500), Answer(), Answer(echo, 401), Answer(echo, 500)]
    with serving(*answers) as server:
        asyncio.run(run(server))

    with open_replies(tmp_path / "r.sqlite") as store:
        merge_into(tmp_path / "shards", store)
    assert server.authorizations == [f"Bearer {CANARY}"] * 5
    assert len(failures) >= 2
    assert any("check the key" in failure for failure in failures)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 4
    kept = (*failures, *capfd.readouterr(), *map(str, files))
    assert not any("canary" in said or "127.0.0.1" in said for said in kept)
    assert "canary" not in caplog.text


def test_one_process_may_ask_in_one_event_loop_after_the_other() -> None:
    with serving() as server:
        assert [ask_stub(server).text for _ in range(3)] == ["fine"] * 3


KEY = "sk-finch/0123456789"
FORMS = (KEY, "sk-finch", quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()[:20])
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


@pytest.mark.heavy
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
