"""What LiteLLM sends to each provider, and what is read from its answers: dry, on the loopback."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from calbench.config.groups import known_names
from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, Request
from calbench.llm.litellm_transport import (
    TOP_LOGPROBS,
    ask_litellm,
    close_litellm,
    load_litellm,
    prepare_litellm,
)
from calbench.llm.model import ModelConfig
from calbench.llm.transport import BROKEN, AttemptError
from tests.llm.asking import request
from tests.llm.dialects.contents import Gemini
from tests.llm.dialects.dialect import FAULTS, KEY, Fault, Said
from tests.llm.dialects.routes import ROUTES, with_keys
from tests.llm.dialects.server import speaking
from tests.llm.stub_server import Answer

OWN = {"local", "smollm2"}
"""Model files of servers of one's own."""

BELIEFS = '{"beliefs": {"1": [2]}}'
COUNTS = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)
"""Of what is said where nothing else is."""

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "integer", "enum": [0, 1]}},
    "required": ["ok"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """LiteLLM imports for seconds, which belong to no test's time."""
    load_litellm()
    asyncio.run(prepare_litellm())


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with_keys(monkeypatch)


def asked_of(config: ModelConfig, **fields: Any) -> Request:
    """A request with what a game's would have: all fields of its model, and a schema."""
    thread = request("Say JSON", "Hi", "Again").messages
    whole = Request(spec=config.spec, messages=thread, reply_schema=SCHEMA)
    return replace(whole, **fields)


def ask(config: ModelConfig, asked: Request) -> Completion:
    async def run() -> Completion:
        try:
            await prepare_litellm()
            return await ask_litellm(asked, config)
        finally:
            await close_litellm()

    return asyncio.run(run())


def test_every_hosted_model_has_a_route() -> None:
    assert set(known_names("model")) - OWN <= set(ROUTES)


@pytest.mark.parametrize("name", ROUTES)
def test_request_is_as_documented_and_the_reply_is_read_with_its_counts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model()
    asked = asked_of(config, logprobs=config.logprobs)
    with speaking(route.dialect, monkeypatch, lambda _: Said(text=BELIEFS)) as server:
        found = ask(config, asked)

    assert not server.refusals
    (prompt,) = server.prompts
    assert prompt.thread == asked.messages
    assert prompt.max_tokens == config.max_tokens
    assert prompt.alternatives == (TOP_LOGPROBS if config.logprobs else 0)
    assert (prompt.schema, prompt.tool, prompt.is_json) == (None, None, False)
    # LiteLLM writes out Google's own default for models of the third generation.
    assert prompt.sampling == ({"temperature": 1.0} if "gemini" in name else {})

    assert (found.text, found.finish_reason, found.refusal) == (BELIEFS, "stop", None)
    assert found.usage == COUNTS
    assert (found.logprobs is not None) == config.logprobs
    for token in found.logprobs or ():
        if token.token == "2":  # noqa: S105 - no password
            assert dict(token.top) == pytest.approx({"2": -0.287682, "0": -1.386294}, abs=1e-6)
    assert "".join(text for text, *_ in found.logprobs or ()) in {BELIEFS, ""}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("response_format", ["json_schema", "json_object"])
def test_json_is_asked_for_where_the_provider_documents_it(
    name: str, response_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model(f"model.response_format={response_format}")
    if (name, response_format) == ("deepseek", "json_schema"):
        with speaking(route.dialect, monkeypatch) as server, pytest.raises(AttemptError):
            ask(config, asked_of(config))
        assert server.refusals == ["response_format: json_schema"]  # the preflight says so
        return
    with speaking(route.dialect, monkeypatch, lambda _: Said(text='{"ok": 1}')) as server:
        found = ask(config, asked_of(config))

    assert not server.refusals
    assert json.loads(found.text or "") == {"ok": 1}
    assert found.finish_reason == "stop"
    (prompt,) = server.prompts
    assert prompt.thread == asked_of(config).messages
    is_held = response_format == "json_schema"
    assert prompt.schema == (SCHEMA if is_held else None)
    assert is_held or prompt.is_json == ("claude" not in config.name)  # which has no such mode


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said(text="half a re", end="cut"), ("half a re", "length")),
        (Said(text="", end="filtered"), (None, "content_filter")),
    ],
    ids=["cut", "filtered"],
)
def test_reply_that_is_cut_or_stopped_is_told_apart(
    name: str, said: Said, expected: tuple[str | None, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model()
    with speaking(route.dialect, monkeypatch, lambda _: said):
        found = ask(config, asked_of(config))

    assert (found.text, found.finish_reason) == expected
    assert found.usage == COUNTS


@pytest.mark.parametrize("name", ["gemini-3-flash", "gemini"])
def test_prompt_that_safety_blocks_is_a_reply_without_text(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    assert isinstance(route.dialect, Gemini)
    config = route.model()
    with speaking(route.dialect, monkeypatch, first=(Answer(route.dialect.blocked()),)):
        found = ask(config, asked_of(config))

    assert (found.text, found.finish_reason) == (None, "content_filter")


PASSING = {"pace", "broken", "busy"}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_typed(name: str, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    route = ROUTES[name]
    config = route.model()
    answer = route.dialect.fault(fault)
    with (
        speaking(route.dialect, monkeypatch, first=(answer,)) as server,
        pytest.raises(AttemptError) as caught,
    ):
        ask(config, asked_of(config))

    error = caught.value
    assert (error.status, error.is_free) == (answer.status, True)
    assert error.is_retryable == (fault in PASSING)
    assert error.retry_after_s == (7.0 if fault == "pace" else None)
    assert len(server.asked) == 1
    assert KEY not in str(error)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize(
    "answer",
    [Answer(cut=True), Answer(drop=True), Answer(reset=True)],
    ids=["cut", "drop", "reset"],
)
def test_answer_that_breaks_off_counts_as_paid_and_is_asked_once(
    name: str, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = ROUTES[name]
    config = route.model()
    with (
        speaking(route.dialect, monkeypatch, first=(answer,)) as server,
        pytest.raises(AttemptError) as caught,
    ):
        ask(config, asked_of(config))

    assert (caught.value.error, caught.value.status) == (BROKEN, None)
    assert (caught.value.is_retryable, caught.value.is_free) == (True, False)
    assert len(server.asked) == 1
