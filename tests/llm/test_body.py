"""A reply of an odd form is read if it can be, kept as it came, and holds no key."""

import base64
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.usage import Usage
from calbench.llm.body import MASK, UNREADABLE, is_broken_off, masked, read_body, read_reply
from calbench.llm.completion import Completion, TokenLogprob
from tests.llm.stub_server import chat

KEY = "sk-canary/0123456789"


def body_with(**fields: Any) -> dict[str, Any]:
    return {**chat(), **fields}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("fine", "fine"),
        ("", None),
        (None, None),
        ([], None),
        (["fi", "ne"], "fine"),
        ([{"type": "text", "text": "fi"}, {"type": "text", "text": "ne"}], "fine"),
        ([[{"text": "fi"}], "ne"], '[[{"text": "fi"}], "ne"]'),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "fine"}], "fine"),
        ({"type": "text", "text": "fine"}, "fine"),
        ({"actions": []}, '{"actions": []}'),
        ({"text": "fine", "to": 2}, '{"text": "fine", "to": 2}'),
        (42, "42"),
        (True, "true"),
        ([1, 2], "[1, 2]"),
    ],
)
def test_content_of_any_form_is_read(content: Any, text: str | None) -> None:
    found = read_body(chat(content))

    assert found is not None
    assert found.text == text
    assert found.received is not None


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"message": {"content": "fine"}}, "fine"),
        ([{"text": "fine"}], "fine"),
        (["fine"], "fine"),
        ([{"message": "fine"}], "fine"),
        ([None, {"message": {"content": "fine"}}], "fine"),
        ([{"message": {"content": "fine"}}, 7], "fine"),
        ([{}], None),
        ([7], None),
    ],
)
def test_choices_of_any_form_are_read(choices: Any, text: str | None) -> None:
    found = read_body(body_with(choices=choices))
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    "body",
    [None, [], "fine", 7, {}, {"choices": []}, {"choices": None}, {"detail": "busy"},
     {**chat(), "error": {"message": "no"}}],
)  # fmt: skip
def test_what_is_no_reply_is_not_taken_for_one(body: Any) -> None:
    assert read_body(body) is None


def test_reply_of_another_format_is_kept() -> None:
    said = read_body({"content": [{"type": "text", "text": "fine"}], "usage": {"input_tokens": 3}})
    odd = read_body({"candidates": "fine"})

    assert said is not None
    assert said.text == "fine"
    assert odd is not None
    assert (odd.text, odd.received) == (None, '{"candidates": "fine"}')


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("stop", "stop"), (["length", 1], "length"), (7, "7"), (None, None), ({}, None), ([], None)],
)
def test_finish_reason_of_any_form_is_read(reason: Any, expected: str | None) -> None:
    body = chat()
    body["choices"][0]["finish_reason"] = reason
    found = read_reply(body)
    assert found is not None
    assert found.finish_reason == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10.0, "completion_tokens": 2.5}, (10, 3)),
        ({"prompt_tokens": "10", "completion_tokens": "2"}, (10, 2)),
        ({"input_tokens": 10, "output_tokens": 2}, (10, 2)),
        ({"prompt_tokens": math.nan, "completion_tokens": 2}, (UNREADABLE, 2)),
        ({"prompt_tokens": "ten", "completion_tokens": True}, (UNREADABLE, UNREADABLE)),
        ({"prompt_tokens": -4, "completion_tokens": math.inf}, (-4, UNREADABLE)),
        ({"prompt_tokens": [1], "completion_tokens": 2}, (UNREADABLE, 2)),
        ("many", (UNREADABLE, UNREADABLE)),
        ([1], (UNREADABLE, UNREADABLE)),
        ({"prompt_tokens": None, "completion_tokens": 2}, None),
        ({"prompt_tokens": 0, "completion_tokens": 2}, None),
        ({}, None),
        (None, None),
    ],
)
def test_usage_of_any_form_is_read(usage: Any, expected: tuple[int, int] | None) -> None:
    found = read_reply(body_with(usage=usage))

    assert found is not None
    counted = found.usage
    assert (counted and (counted.input_tokens, counted.output_tokens)) == expected


@pytest.mark.parametrize(
    "details", [None, "many", {"cached_tokens": "many"}, {"cached_tokens": -1}]
)
def test_odd_details_count_nothing_as_cached(details: Any) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": details}
    found = read_reply(body_with(usage=usage))
    assert found is not None
    assert found.usage == Usage(input_tokens=10, cached_tokens=0, output_tokens=2)


@pytest.mark.parametrize(("reasoning", "output"), [(5000, 5002), (2, 2), (None, 2), ("x", 2)])
def test_reasoning_beside_the_reply_is_counted(reasoning: Any, output: int) -> None:
    details = {"reasoning_tokens": reasoning}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "completion_tokens_details": details}
    found = read_reply(body_with(usage=usage))
    assert found is not None
    assert found.usage is not None
    assert found.usage.output_tokens == output


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def test_reply_nested_without_end_is_one_without_text() -> None:
    content: Any = "fine"
    for _ in range(5000):
        content = {"type": "text", "text": content}
    found = read_body(chat(content))
    assert found is not None
    assert (found.text, found.received) == (None, "")


@given(content=VALUES, reason=VALUES, usage=VALUES, choices=VALUES, logprobs=VALUES)
def test_no_value_breaks_the_reading(
    content: Any, reason: Any, usage: Any, choices: Any, logprobs: Any
) -> None:
    body = chat(content)
    body["choices"][0] |= {"finish_reason": reason, "logprobs": logprobs}
    assert read_body({**body, "usage": usage}) is not None
    read_body({**body, "choices": choices})


@pytest.mark.parametrize(
    "form", [KEY, "sk-canary%2F0123456789", base64.b64encode(KEY.encode()).decode().rstrip("=")]
)
def test_key_is_masked_wherever_a_reply_repeats_it(form: str) -> None:
    said = f"my key is {form}."
    token = TokenLogprob("a", -1.0, ((form, -2.0),))

    found = masked(
        Completion(text=said, finish_reason=form, refusal=said, received=said, logprobs=(token,)),
        {KEY},
    )

    clear = f"my key is {MASK}."
    assert found == Completion(text=clear, finish_reason=MASK, refusal=clear, received=clear)


def test_key_in_pieces_of_tokens_is_not_kept() -> None:
    halves = (TokenLogprob(KEY[:5], -1.0), TokenLogprob(KEY[5:], -1.0))
    found = masked(Completion(text="x", finish_reason="stop", logprobs=halves), {KEY})
    assert found.logprobs is None


def test_reply_without_a_key_is_left_as_it_is() -> None:
    said = Completion(text="x", finish_reason="stop", logprobs=(TokenLogprob("x", -1.0),))
    assert masked(said, {KEY}) == said


@pytest.mark.parametrize(
    ("told", "is_broken"),
    [
        ({"error": {}}, False),
        ({"error": None}, False),
        ({"error": {"code": 502}}, True),
        ({"finish_reason": "error"}, True),
        ({"finish_reason": "error", "error": {}}, True),
        ({}, False),
    ],
    ids=str,
)
def test_reply_is_broken_off_only_if_its_error_says_something(
    told: dict[str, Any], is_broken: bool
) -> None:
    body = chat()
    body["choices"][0] |= told
    assert is_broken_off(body) is is_broken
