"""What a request is called, and how two of them differ."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.llm.replies.record import difference_from, named
from tests.llm.asking import model, record, request

TEXTS = st.lists(st.text(max_size=8), max_size=4)


def test_key_is_that_of_its_canonical_json() -> None:
    asked = named(request("Hi"))

    # printf of the canonical JSON, through sha256sum
    assert asked.key == "f34cf00ff3480215101462f84d9fd840fa6343bda055cd5f8ce035b81b2135b3"


@given(
    texts=st.lists(st.text(max_size=8) | st.just('"messages":["'), max_size=4),
    model=st.sampled_from(["openai/stub", 'x/"messages":[]']),
    schema=st.none() | st.just({"messages": [], "logprobs": {"messages": []}}),
    logprobs=st.booleans(),
)
def test_key_is_that_of_the_whole_request_written_out(
    texts: list[str], model: str, schema: dict[str, Any] | None, logprobs: bool
) -> None:
    asked = request(
        *texts, model=model, logprobs=logprobs, reply_schema=schema, response_format="json_schema"
    )
    whole = {
        "model": model,
        "messages": [list(message) for message in asked.messages],
        "sampling": {"max_tokens": 100},
        "response_format": "json_schema",
        "schema": schema,
        "logprobs": logprobs,
        "replicate": 0,
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert named(asked).key == expected
    assert named(asked).key == expected  # messages remember what they are called


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai/other"},
        {"sampling": {"max_tokens": 101}},
        {"sampling": {"max_tokens": 100, "temperature": 0.0}},
        {"sampling": {"max_tokens": 100, "seed": 0}},
        {"response_format": "json_object"},
        {"logprobs": True},
        {"replicate": 1},
    ],
)
def test_key_changes_with_whatever_may_change_the_reply(change: dict[str, Any]) -> None:
    assert named(request("Hi", **change)).key != named(request("Hi")).key


def test_key_knows_the_schema_only_where_the_model_is_told_it() -> None:
    schema = {"type": "object"}

    assert named(request("Hi", reply_schema=schema)).key == named(request("Hi")).key
    told = named(request("Hi", reply_schema=schema, response_format="json_schema"))
    assert told.key != named(request("Hi", response_format="json_schema")).key


def test_key_is_the_same_wherever_the_model_is_reached() -> None:
    here = model(api_base="http://localhost:1/v1").spec
    there = model(api_base="https://example.org/v1", api_key_env="KEY").spec

    asked = request("Hi")
    keys = {named(type(asked)(spec=spec, messages=asked.messages)).key for spec in (here, there)}
    assert len(keys) == 1


@given(TEXTS, TEXTS)
def test_two_requests_have_one_key_only_if_they_are_equal(one: list[str], two: list[str]) -> None:
    first, second = named(request(*one)), named(request(*two))

    assert (first.key == second.key) == (one == two)
    assert (first.thread == second.thread) == (one == two)


@given(TEXTS, TEXTS)
def test_threads_share_as_many_links_as_they_share_messages(one: list[str], two: list[str]) -> None:
    common = 0
    while common < min(len(one), len(two)) and one[common] == two[common]:
        common += 1

    first, second = named(request(*one)).links, named(request(*two)).links

    assert len({*first} & {*second}) == 1 + common


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"texts": ("Hi", "Ho")}, "message 2: recorded no message there, asked assistant 'Ho'"),
        ({"texts": ()}, "message 1: recorded user 'Hi', asked no message there"),
        ({"texts": ("Ha",)}, "message 1: recorded user '...i', asked user '...a'"),
        ({"model": "openai/b"}, "model: recorded 'openai/stub', asked 'openai/b'"),
        ({"replicate": 2}, "replicate: recorded 0, asked 2"),
        ({"logprobs": True}, "logprobs: recorded False, asked True"),
        (
            {"sampling": {"max_tokens": 100, "temperature": 1.0}},
            "sampling.temperature: recorded None, asked 1.0",
        ),
    ],
)
def test_difference_from_is_named(change: dict[str, Any], expected: str) -> None:
    recorded = named(request("Hi"))
    texts = change.pop("texts", ("Hi",))

    difference = difference_from(
        record(recorded), recorded.request.messages, named(request(*texts, **change))
    )

    assert difference == expected


def test_difference_never_moves_the_cursor_of_a_terminal() -> None:
    recorded = named(request("Hi"))

    line = difference_from(record(recorded), recorded.request.messages, named(request("\x1b[2J\n")))

    assert line.isprintable()
