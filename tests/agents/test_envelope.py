"""Replies are read strictly: what was written, or a reason, and never an exception."""

import json
import re
from dataclasses import asdict
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.agents.envelope import Read, parse_envelope
from calbench.agents.reflection import parse_reflection
from calbench.domain.actions import (
    Action,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    Reschedule,
    Schedule,
    Turn,
)
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import Text
from calbench.domain.replies import Problem, Unreadable
from calbench.llm.completion import GREATEST_INTEGER, Completion
from tests.agents.replies import (
    ACTIONS,
    DM,
    RESCHEDULE,
    SCHEDULE,
    completion,
    envelope,
    envelopes,
    replies,
)
from tests.effort import examples


def read(text: str) -> Read[Turn]:
    found = parse_envelope(completion(text))
    assert isinstance(found, Read), found
    return found


def unreadable(text: str | None, **fields: Any) -> Unreadable:
    found = parse_envelope(completion(text, **fields))
    assert isinstance(found, Unreadable), found
    return found


def test_every_action_is_read() -> None:
    found = read(envelope(*ACTIONS, thinking="Let us see."))
    assert found.recovered is None
    assert found.value == Turn(
        (
            DirectMessage(to=AgentId(2), content=Text(text="7 is easy")),
            ParticipantMessage(content=Text(text="7?")),
            BroadcastMessage(content=Text(text="7!")),
            Schedule(meeting_id=MeetingId(3), slot=Slot(7)),
            Reschedule(
                item_id=ErrandId(104), from_slot=Slot(7), to_slot=Slot(0), justification="room"
            ),
        ),
        "Let us see.",
    )


def test_end_of_reasoning_may_be_written_in_a_reply() -> None:
    text = envelope(SCHEDULE, thinking="after </think> comes the reply")
    assert read(f"<think>hm</think>{text}").value.thinking == "after </think> comes the reply"


GOOD = envelope(SCHEDULE)


@pytest.mark.parametrize(
    ("text", "recovered"),
    [
        (f"```json\n{GOOD}\n```", "fenced"),
        (f"```\n{GOOD}\n```", "fenced"),
        (f"```json\n{GOOD}", "fenced"),
        (f"Here you are:\n```json\n{GOOD}\n```", "prefixed+fenced"),
        (f"Sure {{slot 3}}: {GOOD}", "prefixed"),
        (f"{GOOD}\nDone.", "suffixed"),
        (f"{GOOD}\n```", "suffixed"),
        (f"So: {GOOD} Done.", "prefixed+suffixed"),
        (f"So:\n```json\n{GOOD}\n```\nDone.", "prefixed+fenced+suffixed"),
        (f'{{"note": 1}} {GOOD} {{}}', "prefixed+suffixed"),
        (f"<think>{envelope(DM)}</think>\n{GOOD}", "prefixed"),
        (f'<think>{{"a": </think> oh </think>{GOOD}', "prefixed"),
        (f"\ufeff{GOOD}", "prefixed"),
    ],
)
def test_object_is_recovered_and_what_was_cut_is_named(text: str, recovered: str) -> None:
    found = read(text)
    assert found.recovered == recovered
    assert found.value == read(GOOD).value


@pytest.mark.parametrize(
    ("text", "problem", "detail"),
    [
        ("I pass.", "not_json", "no JSON object"),
        ("{'thinking': '', 'actions': []}", "not_json", "no JSON object"),
        (f"<think>{GOOD}", "not_json", "no JSON object"),
        (GOOD.replace('"hm"', "NaN"), "not_json", "NaN"),
        (GOOD.replace("7", "-Infinity"), "not_json", "-Infinity"),
        (GOOD.replace("hm", "a\nb"), "not_json", "control character"),
        (GOOD.replace("}]", "},]"), "not_json", "Expecting value|Illegal trailing comma"),
        (GOOD[:-1], "truncated", "Expecting"),
        (GOOD[:15], "truncated", "Unterminated string"),
        (f"Well: {GOOD[:-4]}", "truncated", "Expecting"),
        ("[]", "wrong_shape", "expected an object, got a list"),
        ('"[]"', "wrong_shape", "expected an object, got a string"),
        (json.dumps([DM]), "wrong_shape", "expected an object, got a list"),
        (f"No: {json.dumps(DM)}", "wrong_shape", "no object with the keys actions, thinking"),
        (GOOD + GOOD, "wrong_shape", "expected one reply, got 2"),
        (f"Draft {envelope(DM)}, final {GOOD}", "wrong_shape", "expected one reply, got 2"),
        ('{"thinking": ""}', "wrong_shape", "the key 'actions' is missing"),
        ('{"actions": []}', "wrong_shape", "the key 'thinking' is missing"),
        ('{"thinking": "", "actions": [], "mood": 1}', "wrong_shape", "reply: unknown key 'mood'"),
        ('{"thinking": "", "actions": [], "actions": []}', "wrong_shape", "'actions' stands twice"),
        (GOOD.replace('"slot": 7', '"slot": 7, "slot": 8'), "wrong_shape", "'slot' stands twice"),
        ('{"thinking": null, "actions": []}', "wrong_shape", "thinking: .* got null"),
        ('{"thinking": "", "actions": {}}', "wrong_shape", "actions: .* got an object"),
        (envelope(DM, "pass"), "wrong_shape", r"actions\[1\]: .* got a string"),
        (envelope({}), "wrong_shape", r"actions\[0\]\.type: .* got nothing"),
        (envelope({"type": ["dm"]}), "wrong_shape", r"actions\[0\]\.type: .* got a list"),
        (envelope({"type": "sealed"}), "wrong_shape", r"there is no action 'sealed'"),
        (envelope(DM | {"cc": 1}), "wrong_shape", r"actions\[0\]: unknown key 'cc'"),
        (envelope(DM | {"content": 5}), "wrong_shape", r"content: expected a string"),
        (envelope(RESCHEDULE | {"justification": " \n"}), "wrong_shape", "justification: is empty"),
        ("[" * 100_000, "not_json", ""),
        ('{"a":' * 100_000, "not_json", "nested too deeply"),
        (GOOD.replace("7", "9" * 10_000), "wrong_shape", "out of bounds"),
        (GOOD.replace("7", str(GREATEST_INTEGER + 1)), "wrong_shape", "out of bounds"),
        (GOOD.replace("7", "1e999"), "wrong_shape", "slot: expected an integer"),
        ("{" * 1_000_000, "not_json", ""),
        ('{"' * 500_000, "not_json", ""),
        ("\x00" * 1_000_000, "not_json", ""),
    ],
    ids=range(38),
)
def test_unreadable_reply_says_why(text: str, problem: Problem, detail: str) -> None:
    found = unreadable(text)
    assert found.problem == problem
    assert re.search(detail, found.detail), found.detail


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: str(action["type"]))
@pytest.mark.parametrize("odd", [True, 7.0, "7", None, [7]], ids=str)
def test_only_integers_are_integers(action: dict[str, Any], odd: object) -> None:
    for key, value in action.items():
        if isinstance(value, int):
            found = unreadable(envelope(DM, action | {key: odd}))
            assert found.problem == "wrong_shape"
            assert found.detail.startswith(f"actions[1].{key}: expected an integer, got ")


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: str(action["type"]))
def test_every_key_of_an_action_is_required(action: dict[str, Any]) -> None:
    for key in action:
        rest = {name: value for name, value in action.items() if name != key}
        found = unreadable(envelope(rest))
        assert found.problem == "wrong_shape"
        assert key in found.detail


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Completion(text=GOOD, finish_reason="length"), "truncated"),
        (Completion(text=None, finish_reason="length"), "truncated"),
        (Completion(text=GOOD, finish_reason="content_filter"), "refused"),
        (Completion(text=GOOD, finish_reason="stop", refusal="I can't."), "refused"),
        (Completion(text=None, finish_reason="context_exceeded"), "context_exceeded"),
        (Completion(text=None, finish_reason="stop"), "empty"),
        (Completion(text=" \n", finish_reason=None), "empty"),
    ],
)
def test_provider_says_what_is_wrong_first(given: Completion, problem: Problem) -> None:
    found = parse_envelope(given)
    assert isinstance(found, Unreadable)
    assert found.problem == problem


def test_details_repeat_no_more_than_a_short_key() -> None:
    found = unreadable(json.dumps({"thinking": "", "actions": [], "secret\n" * 99: 1}))
    assert len(found.detail) < 80
    assert found.detail.isprintable()


def test_lone_surrogates_are_replaced_in_every_text() -> None:
    odd = r"a\ud800b"
    text = envelope(DM | {"content": "CONTENT"}, RESCHEDULE | {"justification": "CONTENT"})
    for surrogate in (odd, odd.encode().decode("unicode_escape")):
        turn = read(text.replace("CONTENT", surrogate).replace("hm", surrogate)).value
        assert turn.thinking == "a\ufffdb"
        dm, reschedule = turn.actions
        assert isinstance(dm, DirectMessage)
        assert dm.content == Text(text="a\ufffdb")
        assert isinstance(reschedule, Reschedule)
        assert reschedule.justification == "a\ufffdb"


def as_json(action: Action) -> dict[str, Any]:
    """Return an action as it must have been written."""
    fields = asdict(action)
    if "content" in fields:
        fields["content"] = fields["content"]["text"]
    return fields


def objects(text: str) -> list[Any]:
    """Return whatever JSON object begins anywhere in a text, found without our reader."""
    decoder = json.JSONDecoder()
    found = []
    for place, letter in enumerate(text):
        if letter == "{":
            try:
                found.append(decoder.raw_decode(text, place)[0])
            except (ValueError, RecursionError):
                continue
    return found


def clean(value: object) -> object:
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, dict):
        return {key: clean(inner) for key, inner in value.items()}
    return [clean(inner) for inner in value] if isinstance(value, list) else value


AGENTS = tuple(AgentId(agent) for agent in range(4))
REASONS = (*("stop",) * 9, None, "length", "content_filter", "context_exceeded")
LONGEST_DETAIL = 300


@given(replies(), st.sampled_from(REASONS))
@settings(max_examples=examples(400, nightly=200_000), deadline=None)
def test_no_reply_gives_an_exception_or_an_unwritten_action(text: str, reason: str | None) -> None:
    said = completion(text, reason)
    readings = [parse_reflection(said, AGENTS, AgentId(1), 4, edition) for edition in (1, 2, 3)]
    for beliefs in readings:
        if isinstance(beliefs, Read):
            delta, chances = beliefs.value.delta, beliefs.value.occupied or {}
            assert delta.keys() | chances.keys() <= {"0", "2", "3"}
            for within, lists in ((range(-3, 4), delta), (range(101), chances)):
                assert {len(listed) for listed in lists.values()} <= {4}
                assert all(type(n) is int and n in within for row in lists.values() for n in row)
    turn = parse_envelope(said)
    for found in (turn, *readings):
        if isinstance(found, Unreadable):
            assert found.problem in get_args(Problem)
            assert found.detail.isprintable()
            assert 0 < len(found.detail) <= LONGEST_DETAIL
    if isinstance(turn, Read):
        actions = [as_json(action) for action in turn.value.actions]
        written = {"thinking": turn.value.thinking, "actions": actions}
        json.dumps(written, ensure_ascii=False).encode()  # whatever was read is written as UTF-8
        assert written in [clean(value) for value in objects(text)]


@given(envelopes, st.booleans())
def test_valid_reply_is_read_as_it_was_written(value: dict[str, Any], is_ascii: bool) -> None:
    found = read(json.dumps(value, ensure_ascii=is_ascii))
    assert found.recovered is None
    assert found.value.thinking == value["thinking"]
    assert [as_json(action) for action in found.value.actions] == value["actions"]
