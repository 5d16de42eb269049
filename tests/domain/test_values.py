"""Canonical JSON, and values that are made every turn."""

import json
import pickle
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from calbench.domain.actions import DirectMessage, Schedule
from calbench.domain.canonical import canonical_json, digest
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Propose

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def test_canonical_json_sorts_keys_and_leaves_no_spaces() -> None:
    value = {"b": [1, None, True], "a": {"d": "x y", "c": 2}}
    assert canonical_json(value) == '{"a":{"c":2,"d":"x y"},"b":[1,null,true]}'


def test_canonical_json_keeps_text_as_it_is() -> None:
    assert canonical_json("é\u2028\u202e") == '"é\u2028\u202e"'


@given(value=st.dictionaries(st.text(), values, max_size=5))
def test_canonical_json_is_the_same_whatever_the_order_of_keys(value: dict[str, Any]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_json(turned) == canonical_json(value)


@given(value=values)
def test_canonical_json_says_the_whole_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


def test_canonical_json_tells_a_number_from_a_truth_value() -> None:
    assert len({canonical_json(value) for value in (1, True, "1", "true")}) == 4


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")]])
def test_canonical_json_is_refused_when_a_number_is_not_finite(value: Any) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        canonical_json(value)


def test_digest_is_the_sha256_of_the_canonical_bytes() -> None:
    expected = "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772"
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1}) == expected


def test_digest_takes_lone_surrogates() -> None:
    assert digest("\ud800") != digest("\udfff")


def test_frequent_values_are_the_same_in_order_and_by_name() -> None:
    named = DirectMessage(to=AgentId(1), content=Propose(slot=Slot(3)))
    assert DirectMessage(AgentId(1), Propose(Slot(3))) == named
    assert repr(named) == "DirectMessage(type='dm', to=1, content=Propose(kind='propose', slot=3))"


def test_equal_frequent_values_are_one_in_a_set() -> None:
    assert (
        len({Schedule(MeetingId(1), Slot(2)), Schedule(meeting_id=MeetingId(1), slot=Slot(2))}) == 1
    )


def test_tag_of_a_frequent_value_is_never_taken_in_order() -> None:
    with pytest.raises(TypeError):
        Propose(Slot(3), "propose")  # type: ignore[call-arg]


def test_frequent_values_survive_the_way_to_another_process() -> None:
    action = DirectMessage(AgentId(1), Propose(Slot(3)))
    assert pickle.loads(pickle.dumps(action)) == action  # noqa: S301


def test_a_frequent_value_that_was_read_has_its_fields_in_the_order_of_one_that_was_made() -> None:
    made = DirectMessage(AgentId(1), Propose(Slot(3)))
    read = TypeAdapter(DirectMessage).validate_json(orjson.dumps(made))
    assert read == made
    assert orjson.dumps(read) == orjson.dumps(made)
    assert list(vars(read)) == ["type", "to", "content"]
