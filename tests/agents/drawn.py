"""Replies that a schema allows, drawn by the schema itself: of the few words that ours use."""

from typing import Any

from hypothesis import strategies as st


def allowed_by(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a schema allows."""
    if "anyOf" in schema:
        return st.one_of([allowed_by(each) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        fields = {key: allowed_by(each) for key, each in schema["properties"].items()}
        return st.fixed_dictionaries(fields)
    return _list(schema) if schema["type"] == "array" else _plain(schema)


def _list(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*map(allowed_by, schema["prefixItems"])).map(list)
    least, most = schema.get("minItems", 0), schema["maxItems"]
    return st.lists(allowed_by(schema["items"]), min_size=least, max_size=most)


def _plain(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if schema["type"] == "integer":
        return st.integers(-(2**53) + 1, 2**53 - 1)
    if "pattern" in schema:
        return st.from_regex(schema["pattern"].replace("$", r"\Z"))
    return st.text(max_size=10)
