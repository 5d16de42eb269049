"""Completions made by hand or drawn: valid replies, and what can become of them."""

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from calbench.llm.completion import Completion


def completion(text: str | None, finish_reason: str | None = "stop", **fields: Any) -> Completion:
    return Completion(text=text, finish_reason=finish_reason, **fields)


def envelope(*actions: object, thinking: object = "hm") -> str:
    return json.dumps({"thinking": thinking, "actions": list(actions)})


SCHEDULE = {"type": "schedule", "meeting_id": 3, "slot": 7}
RESCHEDULE = {
    "type": "reschedule",
    "item_id": 104,
    "from_slot": 7,
    "to_slot": 0,
    "justification": "room",
}
DM = {"type": "dm", "to": 2, "content": "7 is easy"}
GROUP = {"type": "participant_groupchat", "content": "7?"}
ALL = {"type": "all_agent_groupchat", "content": "7!"}
ACTIONS = (DM, GROUP, ALL, SCHEDULE, RESCHEDULE)

texts = st.text(max_size=20)
integers = st.integers(-2, 20)
actions = st.one_of(
    st.fixed_dictionaries({"type": st.just("dm"), "to": integers, "content": texts}),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["participant_groupchat", "all_agent_groupchat"]),
            "content": texts,
        }
    ),
    st.fixed_dictionaries({"type": st.just("schedule"), "meeting_id": integers, "slot": integers}),
    st.fixed_dictionaries(
        {
            "type": st.just("reschedule"),
            "item_id": integers,
            "from_slot": integers,
            "to_slot": integers,
            "justification": texts.map(lambda text: f"x{text}"),
        }
    ),
)
envelopes = st.fixed_dictionaries({"thinking": texts, "actions": st.lists(actions, max_size=3)})


def about_others(numbers: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, list[int]]]:
    """Return lists of four of them, more or fewer now and then, about agents 0, 2 and 3."""
    own = st.lists(numbers, min_size=4, max_size=4) | st.lists(numbers, max_size=5)
    return st.fixed_dictionaries(dict.fromkeys(("0", "2", "3"), own))


answers = st.fixed_dictionaries(
    {"beliefs": about_others(st.integers(-3, 3) | st.integers(-4, 4))},
    optional={"occupied": about_others(st.integers(0, 100) | st.integers(-1, 101))},
)

ODD_VALUES: list[object] = [None, True, 1.5, -0.0, 10**30, "1", [], {}, {"a": {}}, "\ud800", "\n"]
ODD_TEXTS = (
    "null", "NaN", "-Infinity", "1e400", "-0", "1e2", "9007199254740993", "07", "+1", "'1'", "0x10",
    "\N{ARABIC-INDIC DIGIT ONE}", "[[]]", '"\\ud800"', '"\\u0000"', '"\u202e\u2028"',
    '{"a": {"a": 1}}', "", "1" * 5000,
)  # fmt: skip
AROUND = (
    *("Sure! ", "```json\n", "```", "\n```\n", "{slot 3} ", "{}", '{"a": 1}', '{"', "\u2028"),
    *("<think>", "</think>", "\ufeff", envelope(SCHEDULE), "[", "]", ", "),
)
LETTERS = '{}[]":,\\ 0-9eNInft\n\x00\x1b`\ud800\u2028\ufeff\U0001f600é'


@st.composite
def replies(draw: st.DrawFn) -> str:
    """Return a reply: a valid one, one that some hand has bent in every way that models find."""
    value = draw(envelopes | answers)
    how = draw(st.integers(0, 12))
    if how == 0:
        return draw(st.text(max_size=60))
    if how <= 3:
        _bend(draw, value)
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    if 7 <= how <= 9:
        around = st.sampled_from(AROUND)
        text = draw(around) + text + draw(around)
    if how == 10:
        text = _retyped(draw, text)
    if how == 11:
        left, right = draw(st.sampled_from([("[", "]"), ('{"a":', "}"), ('{"actions":', "}")]))
        depth = draw(st.sampled_from([1, 2, 50, 1000, 20000]))
        text = text.replace("[", left * depth + "[", 1) if draw(st.booleans()) else left * depth
        text += right * depth
    if how == 12:
        key = draw(st.sampled_from(["thinking", "actions", "type", "slot", "0", "\\u0061ctions"]))
        text = text.replace("{", f'{{"{key}": {draw(st.sampled_from(ODD_TEXTS)) or 1}, ')
    for _ in range(draw(st.integers(0, 2)) if how % 2 else 0):
        place = draw(st.integers(0, len(text)))
        cut = draw(st.sampled_from(["flip", "end", "start", "remove", "insert"]))
        letter = draw(st.sampled_from(LETTERS))
        text = {
            "flip": text[:place] + letter + text[place + 1 :],
            "end": text[:place],
            "start": text[place:],
            "remove": text[:place] + text[place + 1 :],
            "insert": text[:place] + letter + text[place:],
        }[cut]
    return text


def _retyped(draw: st.DrawFn, text: str) -> str:
    """Put an odd value where a value stands."""
    places = [place for place, letter in enumerate(text) if letter in ":[,"]
    start = draw(st.sampled_from(places)) + 1
    end = next((place for place in range(start, len(text)) if text[place] in ",]}"), len(text))
    return text[:start] + draw(st.sampled_from(ODD_TEXTS)) + text[end:]


def _bend(draw: st.DrawFn, value: dict[str, Any]) -> None:
    """Drop, add or swap one key of the reply or of one of its actions."""
    inside = value.get("actions", [])
    target = draw(st.sampled_from([value, *inside]))
    key = draw(st.sampled_from(sorted(target)))
    how = draw(st.sampled_from(["drop", "add", "swap"]))
    if how == "drop":
        del target[key]
    else:
        target[key if how == "swap" else "extra"] = draw(st.sampled_from(ODD_VALUES))


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
        return _matching(schema["pattern"])
    return st.text(max_size=min(schema.get("maxLength", 10), 10))


@cache
def _matching(pattern: str) -> st.SearchStrategy[str]:
    """Return texts of a pattern; made once, because that takes long."""
    return st.from_regex(pattern.replace("$", r"\Z"))
