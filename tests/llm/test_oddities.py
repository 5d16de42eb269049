"""Odd replies and errors of providers, each once: as a body that is read, or through LiteLLM."""

import base64
import json
import math
from threading import current_thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.usage import Usage
from calbench.llm import transport
from calbench.llm.body import MASK, is_broken_off, masked, parsed, read_body, read_reply
from calbench.llm.completion import Completion, Provenance, TokenLogprob
from calbench.llm.faults import FAULTS, SIGNS, attempt_error, retry_after, setup_problem
from calbench.llm.litellm_transport import address_kind
from calbench.llm.model import Endpoint
from calbench.llm.transport import BROKEN, TIMEOUT, AttemptError, Exchange
from tests.effort import GUARD_S
from tests.llm.asking import ask_stub, attempt, request
from tests.llm.stub_server import Answer, chat, serving

KEY = "sk-canary/0123456789"
CANARY = "sk-canary-0123456789"


def said(content: Any) -> dict[str, Any]:
    return chat(content)


def chosen(*choices: Any) -> dict[str, Any]:
    return {**chat(), "choices": list(choices)}


def ended(reason: Any) -> dict[str, Any]:
    return chosen({"message": {"content": "fine"}, "finish_reason": reason})


def counted(usage: Any, **details: Any) -> dict[str, Any]:
    return {**chat(), "usage": {**usage, **details} if details else usage}


def tokens(sent: int, received: int, cached: int = 0) -> dict[str, Any]:
    usage = Usage(input_tokens=sent, cached_tokens=cached, output_tokens=received)
    return {"text": "fine", "usage": usage}


TEN = {"prompt_tokens": 10, "completion_tokens": 2}
TEXT_PART, THOUGHT = {"type": "text", "text": "fine"}, {"type": "thinking", "thinking": "hm"}

BODIES: dict[str, tuple[Any, dict[str, Any] | None]] = {
    # what is said
    "text": (said("fine"), {"text": "fine", "finish_reason": "stop"}),
    "empty text": (said(""), {"text": None}),
    "no text": (said(None), {"text": None}),
    "no parts": (said([]), {"text": None}),
    "texts": (said(["fi", "ne"]), {"text": "fine"}),
    "parts": (said([{"type": "text", "text": "fi"}, {"text": "ne"}]), {"text": "fine"}),
    "lists in lists": (said([[{"text": "fi"}], "ne"]), {"text": '[[{"text": "fi"}], "ne"]'}),
    "thought and text": (said([THOUGHT, TEXT_PART]), {"text": "fine"}),
    "one part": (said(TEXT_PART), {"text": "fine"}),
    "an object": (said({"actions": []}), {"text": '{"actions": []}'}),
    "an object with a text": (said({"text": "x", "to": 2}), {"text": '{"text": "x", "to": 2}'}),
    "a number": (said(42), {"text": "42"}),
    "a truth": (said(True), {"text": "true"}),
    "numbers": (said([1, 2]), {"text": "[1, 2]"}),
    # where it is said
    "older format": (chosen({"text": "fine"}), {"text": "fine"}),
    "bare text": (chosen("fine"), {"text": "fine"}),
    "bare message": (chosen({"message": "fine"}), {"text": "fine"}),
    "null first": (chosen(None, {"message": {"content": "fine"}}), {"text": "fine"}),
    "odd second": (chosen({"message": {"content": "fine"}}, 7), {"text": "fine"}),
    "empty choice": (chosen({}), {"text": None}),
    "index 0 last": (
        chosen({"index": 1, "text": "other"}, {"index": 0, "text": "fine"}), {"text": "fine"},
    ),
    "number as choice": (chosen(7), {"text": None}),
    "another format": (
        {"content": [TEXT_PART], "usage": {"input_tokens": 3, "output_tokens": 1}},
        {"text": "fine", "finish_reason": None},
    ),
    "yet another": ({"candidates": "fine"}, {"text": None, "received": '{"candidates": "fine"}'}),
    # what is no reply
    "null": (None, None),
    "a list": ([], None),
    "a text": ("fine", None),
    "nothing": ({}, None),
    "no choices": (chosen(), None),
    "null choices": ({"choices": None}, None),
    "busy": ({"detail": "busy"}, None),
    "an error alone": ({"content": "fine", "error": {"message": "no"}}, None),
    # why it ends
    "cut": (ended("length"), {"finish_reason": "length"}),
    "ends without a reason": (ended(None), {"finish_reason": None}),
    "reasons": (ended(["length", 1]), {"finish_reason": "length", "text": "fine"}),
    # what it took
    "fractions": (counted({"prompt_tokens": 10.0, "completion_tokens": 2.5}), tokens(10, 3)),
    "counts as text": (counted({"prompt_tokens": "10", "completion_tokens": "2"}), tokens(10, 2)),
    "other names": (counted({"input_tokens": 10, "output_tokens": 2}), tokens(10, 2)),
    "no number": (counted({"prompt_tokens": math.nan, "completion_tokens": 2}), tokens(-1, 2)),
    "words": (counted({"prompt_tokens": "ten", "completion_tokens": True}), tokens(-1, -1)),
    "negative": (counted({"prompt_tokens": -4, "completion_tokens": math.inf}), tokens(-4, -1)),
    "a list as count": (counted({"prompt_tokens": [1], "completion_tokens": 2}), tokens(-1, 2)),
    "word as counts": (counted("many"), tokens(-1, -1)),
    "list as counts": (counted([1]), tokens(-1, -1)),
    "half the counts": (counted({"prompt_tokens": None, "completion_tokens": 2}), {"usage": None}),
    "nothing sent": (counted({"prompt_tokens": 0, "completion_tokens": 2}), {"usage": None}),
    "no counts": (counted({}), {"usage": None}),
    "null counts": (counted(None), {"usage": None}),
    "cached": (counted(TEN, prompt_tokens_details={"cached_tokens": 4}), tokens(10, 2, 4)),
    "odd details": (counted(TEN, prompt_tokens_details="many"), tokens(10, 2)),
    "words as cached": (
        counted(TEN, prompt_tokens_details={"cached_tokens": "many"}), tokens(10, 2),
    ),
    "negative cached": (counted(TEN, prompt_tokens_details={"cached_tokens": -1}), tokens(10, 2)),
    "reasoning beside": (
        counted(TEN, completion_tokens_details={"reasoning_tokens": 5000}), tokens(10, 5002),
    ),
    "reasoning within": (
        counted(TEN, completion_tokens_details={"reasoning_tokens": 2}), tokens(10, 2),
    ),
    "odd reasoning": (
        counted(TEN, completion_tokens_details={"reasoning_tokens": "x"}), tokens(10, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_body_of_any_form_is_read_and_kept(body: Any, expected: dict[str, Any] | None) -> None:
    found = read_body(body)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.received is not None
        assert {name: getattr(found, name) for name in expected} == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(content=VALUES, reason=VALUES, usage=VALUES, choices=VALUES, logprobs=VALUES)
def test_no_value_breaks_the_reading(
    content: Any, reason: Any, usage: Any, choices: Any, logprobs: Any
) -> None:
    body = chat(content)
    body["choices"][0] |= {"finish_reason": reason, "logprobs": logprobs}
    assert read_body({**body, "usage": usage}) is not None
    read_reply({**body, "choices": choices})


def test_reply_nested_without_end_is_one_without_text() -> None:
    content: Any = "fine"
    for _ in range(5000):
        content = {"type": "text", "text": content}
    found = read_body(chat(content))
    assert found is not None
    assert (found.text, found.received) == (None, "")


@pytest.mark.parametrize(
    ("told", "is_broken"),
    [
        ({}, False),
        ({"error": {}}, False),
        ({"error": None}, False),
        ({"error": {"code": 502}}, True),
        ({"finish_reason": "error"}, True),
        ({"finish_reason": "error", "error": {}}, True),
    ],
    ids=str,
)
def test_reply_is_broken_off_only_if_its_error_says_something(
    told: dict[str, Any], is_broken: bool
) -> None:
    body = chat()
    body["choices"][0] |= told
    assert is_broken_off(body) is is_broken


@pytest.mark.parametrize(
    "form", [KEY, "sk-canary%2F0123456789", base64.b64encode(KEY.encode()).decode().rstrip("=")]
)
def test_key_is_masked_wherever_a_reply_repeats_it(form: str) -> None:
    words, clear = f"my key is {form}.", f"my key is {MASK}."
    token = TokenLogprob("a", -1.0, ((form, -2.0),))
    reply = Completion(
        text=words, finish_reason=form, refusal=words, received=words, logprobs=(token,)
    )
    expected = Completion(text=clear, finish_reason=MASK, refusal=clear, received=clear)
    assert masked(reply, {KEY}) == expected
    halves = (TokenLogprob(KEY[:5], -1.0), TokenLogprob(KEY[5:], -1.0))
    in_pieces = Completion(text="x", finish_reason="stop", logprobs=halves)
    assert masked(in_pieces, {KEY}).logprobs is None
    assert masked(in_pieces, {"another key"}) == in_pieces


# --- through LiteLLM

TOOL_CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
LOGPROBS = {
    "content": [
        {"token": "hi", "logprob": -0.1, "top_logprobs": [{"token": "ho", "logprob": -2.0}]}
    ]
}
NOTHING = Usage(input_tokens=0, cached_tokens=0, output_tokens=0)

ANSWERS: dict[str, tuple[Answer, dict[str, Any]]] = {
    "plain": (Answer(), {"text": "fine", "finish_reason": "stop", **tokens(10, 2, 4)}),
    "tool calls": (
        Answer(chat(None, tool_calls=[TOOL_CALL])),
        {"text": None, "finish_reason": "tool_calls"},
    ),
    "tool calls and text": (
        Answer(chat("Hm", finish_reason="tool_calls", tool_calls=[TOOL_CALL])),
        {"text": "Hm", "finish_reason": "tool_calls"},
    ),
    "refusal": (
        Answer(chat(None, refusal="I will not")),
        {"text": None, "refusal": "I will not", "finish_reason": "stop"},
    ),
    "filtered": (
        Answer(chat("", finish_reason="content_filter")),
        {"text": None, "finish_reason": "content_filter"},
    ),
    "cut at max_tokens": (
        Answer(chat("half", finish_reason="length")),
        {"text": "half", "finish_reason": "length"},
    ),
    "log-probabilities": (
        Answer(chat(logprobs=LOGPROBS)),
        {"logprobs": (("hi", -0.1, (("ho", -2.0),)),)},
    ),
    "no counts": (Answer(chat(usage=False)), {"text": "fine", "usage": None}),
    **{
        f"too long, {status}": (
            Answer({"error": {"message": FAULTS["signs"]["context"]["says"][place]}}, status),
            {"text": None, "finish_reason": "context_exceeded", "usage": NOTHING},
        )
        for place, status in enumerate((400, 400, 400, 413))
    },
}


FINE = json.dumps(chat())
LONG_LOGPROBS = {"content": LOGPROBS["content"] * 20_000}

ODD_BODIES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "thousands of digits": (
        FINE.replace('"completion_tokens": 2', f'"completion_tokens": {"9" * 5000}').encode(),
        {"text": "fine", **tokens(10, -1, 4)},
    ),
    "no UTF-8": (
        FINE.replace("fine", "f\udcffne").encode(errors="surrogateescape"),
        {**tokens(10, 2, 4), "text": "f\ufffdne"},
    ),
    "one event": (f"data: {FINE}\n\ndata: [DONE]\n\n".encode(), {"text": "fine"}),
    "one event, half of a stream": (
        f"event: message\r\ndata: {FINE.replace('message', 'delta')}\r\n\r\n".encode(),
        {"text": "fine", "finish_reason": "stop"},
    ),
    "index 0 last": (
        json.dumps({**chat(), "choices": [
            {**chat("other")["choices"][0], "index": 1}, *chat()["choices"],
        ]}).encode(),
        {"text": "fine"},
    ),
    "long": (
        json.dumps(chat(logprobs=LONG_LOGPROBS)).encode(),
        {"text": "fine", **tokens(10, 2, 4), "logprobs": (("hi", -0.1, (("ho", -2.0),)),) * 20_000},
    ),
}  # fmt: skip


def test_what_a_reply_says_of_itself_is_kept_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_KEY", CANARY)
    body = {**chat(), "id": f"id {CANARY}", "model": "other-1", "system_fingerprint": "fp_1"}
    answer = Answer(body, headers={"X-Request-Id": "r" * 500})
    with serving(answer) as server:
        said = attempt(
            request("Hi"), Endpoint(api_base=server.url, api_key_env="STAND_IN_KEY")
        ).provenance
    assert said is not None
    assert (said.id, said.model, said.fingerprint) == (f"id {MASK}", "other-1", "fp_1")
    assert (said.address, len(said.request_id or "")) == ("loopback", 200)
    assert (said.date or "").endswith(" GMT")
    assert said.is_other("openai/stub")


@pytest.mark.parametrize(
    ("said", "asked", "is_other"),
    [
        ("gpt-5.4-mini-2026-03-01", "openai/gpt-5.4-mini", False),
        ("GPT-5.4-mini", "openai/gpt-5.4-mini", False),
        ("models/a.gguf", "openai/a", False),
        (None, "openai/a", False),
        ("gpt-5.4-nano", "openai/gpt-5.4-mini", True),
        ("gpt-5.4-mini", "openai/gpt-5.4-mini-2026-03-01", False),
        ("gpt-5.4-mini", "openai/gpt-5.4", True),
        ("claude-sonnet-4.6-latest", "anthropic/claude-sonnet-4.6", False),
        ("qwen-1.5b", "qwen-1.5b.gguf", False),
        ("qwen-0.5b", "qwen-1.5b", True),
        ("c/b", "a/b", False),
    ],
)
def test_another_model_is_told_from_a_version_of_the_same(
    said: str | None, asked: str, is_other: bool
) -> None:
    assert Provenance(model=said, address="provider").is_other(asked) is is_other


@pytest.mark.parametrize(
    ("api_base", "kind"),
    [
        (None, "provider"),
        ("http://localhost:8000/v1", "loopback"),
        ("http://[::1]:8000", "loopback"),
        ("http://10.0.0.7/v1", "private"),
        ("http://gpu-box:8000/v1", "private"),
        ("https://api.example.com/v1", "public"),
        ("http://8.8.8.8/v1", "public"),
    ],
)
def test_kind_of_an_address_names_no_host(api_base: str | None, kind: str) -> None:
    assert address_kind(api_base) == kind


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize(("body", "expected"), ODD_BODIES.values(), ids=ODD_BODIES)
def test_paid_body_of_an_odd_shape_is_read(
    body: bytes, expected: dict[str, Any], kind: str
) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    with serving(Answer(raw=head.encode() + body)) as server:
        found = ask_stub(server)
    assert {name: getattr(found, name) for name in expected} == expected
    assert len(server.asked) == 1


def test_long_body_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def noted(raw: bytes) -> Any:
        threads.append(current_thread().name)
        return parsed(raw)

    monkeypatch.setattr(transport, "parsed", noted)
    with serving(Answer(chat("x" * 2**20))) as server:
        assert ask_stub(server).text == "x" * 2**20
    assert threads
    assert current_thread().name not in threads


@pytest.mark.parametrize(("answer", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_answer_is_read(answer: Answer, expected: dict[str, Any]) -> None:
    with serving(answer) as server:
        found = ask_stub(server)
    assert {name: getattr(found, name) for name in expected} == expected


PASSING = (408, 409, 429, 500, 502, 503, 504, 524, 529)

ERRORS: dict[str, tuple[Answer, int | None, bool, bool]] = {
    "bad JSON": (Answer('{"id": '), None, True, False),
    "HTML": (Answer("<html>gateway</html>", content_type="text/html"), None, True, False),
    "a list": (Answer([1, 2]), None, True, False),
    "no choices": (Answer({"id": "x", "choices": []}), 200, True, False),
    "null choices": (Answer({"id": "x", "choices": None}), None, True, False),
    "cut": (Answer(cut=True), None, True, False),
    "dropped": (Answer(drop=True), None, True, False),
    "reset": (Answer(reset=True), None, True, False),
    "too slow": (Answer(delay_s=GUARD_S), None, True, False),
    "an error beside choices": (
        Answer({**chat(), "error": {"message": CANARY, "code": 502}}), 200, True, False,
    ),
    "error with status 200": (Answer({"error": {"message": "no", "code": 429}}), 429, True, True),
    "no credit": (
        Answer({"error": {"message": "no", "code": "insufficient_quota"}}, 429), 429, False, True,
    ),
    **{
        str(status): (
            Answer({"error": {"message": CANARY}}, status), status, status in PASSING,
            status not in {408, 500, 502, 503, 504, 524, 529},
        )
        for status in (400, 401, 402, 403, 404, 422, *PASSING)
    },
}  # fmt: skip
"""By name: the answer; status, whether another attempt may succeed, and whether it is free."""


@pytest.mark.parametrize("name", ERRORS)
def test_error_is_typed_and_asked_once(name: str) -> None:
    answer, status, is_retryable, is_free = ERRORS[name]
    with serving(answer) as server, pytest.raises(AttemptError) as caught:
        ask_stub(server, timeout_s=0.3 if name == "too slow" else 60.0)

    error = caught.value
    assert (error.is_retryable, error.is_free) == (is_retryable, is_free)
    assert error.status in {status, 400 if status == 422 else status}
    assert error.error in {BROKEN, TIMEOUT} or error.status is not None
    assert len(server.asked) == 1  # LiteLLM itself never asks twice
    assert CANARY not in str(error)


@pytest.mark.parametrize(
    ("body", "header", "expected"),
    [
        ({}, "7", 7.0),
        ({}, "1.5", 1.5),
        ({}, "-1", None),
        ({}, "nan", None),
        ({}, "9" * 400, None),
        ({}, "soon", None),
        ({"details": [{"retryDelay": "7s"}]}, None, 7.0),
    ],
)
def test_wait_that_the_provider_asks_for_is_read(
    body: dict[str, Any], header: str | None, expected: float | None
) -> None:
    headers = {} if header is None else {"Retry-After": header}
    busy = Answer({"error": {"message": "slow down", **body}}, 429, headers)
    with serving(busy) as server, pytest.raises(AttemptError) as caught:
        ask_stub(server)
    assert caught.value.retry_after_s == expected


NOON = "Thu, 26 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("Thu, 26 Nov 2026 12:01:00 GMT", 60.0),
        ("Thu, 26 Nov 2026 12:01:00 -0000", 60.0),
        ("Thu, 26 Nov 2026 11:59:00 GMT", 0.0),
        ("Thu, 99 Nov 2026 12:01:00 GMT", None),
    ],
)
def test_date_to_wait_for_is_read_against_the_clock_of_the_provider(
    then: str, expected: float | None
) -> None:
    assert retry_after({"retry-after": then, "date": NOON}) == expected


@pytest.mark.parametrize("name", SIGNS)
def test_sign_fits_what_says_it_and_nothing_else(name: str) -> None:
    sign = FAULTS["signs"][name]
    assert all(SIGNS[name].search(text) for text in sign["says"])
    assert not any(SIGNS[name].search(text) for text in sign["says_not"])


@pytest.mark.parametrize("name", ["__cause__", "__context__"])
def test_causes_that_close_to_a_ring_come_to_an_end(name: str) -> None:
    errors = [ValueError(str(number)) for number in range(3)]
    for error, behind in zip(errors, [*errors[1:], errors[0]], strict=True):
        setattr(error, name, behind)
    assert setup_problem(errors[0]) is None
    assert attempt_error(errors[0], Exchange(1)).error == BROKEN
