import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.canonical import canonical_json, digest

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
