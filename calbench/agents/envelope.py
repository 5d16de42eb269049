"""From a completion to the one JSON object in it, and to a turn, strictly.

Model output is hostile: every completion yields an object or a typed reason why not, never an
exception. What had to be removed around the object is named in one word.

The envelope of every turn is ``{"thinking": ..., "actions": [...]}`` (appendix A.5). One bad action
makes the whole reply unreadable: half of a batch is not what its author wanted. An unreadable reply
yields no action [C].
"""

import json
import re
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

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
from calbench.files import shorten
from calbench.llm.completion import GREATEST_INTEGER, Completion, well_formed

T = TypeVar("T")

_START = re.compile(r'\{\s*["}]')
"""How a JSON object begins; braces in prose rarely do."""

_LONG_NUMBER = re.compile(r"\d{16}")
"""What every integer beyond the greatest one contains."""

_FENCE = re.compile(r"```[A-Za-z]*$")


class Read(NamedTuple, Generic[T]):
    """What was read, and what was cut away for it: absent if the reply was clean.

    ``recovered`` joins, in this order and with ``+``: ``prefixed`` (text before it),
    ``fenced`` (a Markdown fence), ``suffixed`` (text after it). ``place`` is the character
    of the stripped text at which the object begins.
    """

    value: T
    recovered: str | None = None
    place: int = 0


class MisshapenError(Exception):
    """JSON of the wrong shape; the text says where and what."""


class _NotJsonError(Exception):
    """A number that JSON does not have."""


def read_object(completion: Completion, keys: frozenset[str]) -> Read[dict[str, Any]] | Unreadable:
    """Return the JSON object of a completion.

    Text around it is removed if exactly one object in the text has one of ``keys``; a leading
    ``<think>`` block is ignored. Duplicate keys, and integers
    beyond 2^53 - 1, are ``wrong_shape``.
    """
    fault = _fault(completion)
    if fault is not None:
        return fault
    text = well_formed(completion.text or "").strip()
    try:
        return _find(text, keys)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))
    except _NotJsonError as error:
        return Unreadable("not_json", str(error))
    except RecursionError:
        return Unreadable("not_json", "nested too deeply")
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(text)
        problem: Problem = "truncated" if is_cut else "not_json"
        return Unreadable(problem, f"{error.msg} at character {error.pos}")


def _fault(completion: Completion) -> Unreadable | None:
    """Return what the provider itself says is wrong with a completion."""
    if completion.finish_reason == "context_exceeded":
        return Unreadable("context_exceeded", "the conversation no longer fits the model")
    if completion.refusal or completion.finish_reason == "content_filter":
        return Unreadable("refused", "the model refused to answer")
    if completion.finish_reason == "length":
        return Unreadable("truncated", "the reply reached the limit of tokens")
    if not (completion.text or "").strip():
        return Unreadable("empty", "the reply is empty")
    return None


def _find(text: str, keys: frozenset[str]) -> Read[dict[str, Any]] | Unreadable:
    decoder = _CHECKING if _LONG_NUMBER.search(text) else _DECODER
    try:
        whole = decoder.decode(text)
    except json.JSONDecodeError:
        return _find_within(text, keys, decoder)
    if isinstance(whole, dict):
        return Read(whole)
    return Unreadable("wrong_shape", f"expected an object, got {kind_of(whole)}")


def _find_within(
    text: str, keys: frozenset[str], decoder: json.JSONDecoder
) -> Read[dict[str, Any]] | Unreadable:
    """Scan once from object to object; the first that breaks off ends the search.

    Looking into a broken object would take its inside for the reply.
    """
    found: list[tuple[dict[str, Any], int, int]] = []
    has_other = False
    place = _end_of_reasoning(text)
    while match := _START.search(text, place):
        value, place = decoder.raw_decode(text, match.start())
        if keys.isdisjoint(value):
            has_other = True
        else:
            found.append((value, match.start(), place))
    if len(found) > 1:
        return Unreadable("wrong_shape", f"expected one reply, got {len(found)}")
    if found:
        value, start, end = found[0]
        return Read(value, _cut_away(text[:start].rstrip(), text[end:].lstrip()), start)
    if has_other:
        return Unreadable("wrong_shape", f"no object with the keys {', '.join(sorted(keys))}")
    return Unreadable("not_json", "no JSON object in the reply")


def _end_of_reasoning(text: str) -> int:
    """Return where the reply begins behind a leading block of reasoning."""
    if not text.startswith("<think>"):
        return 0
    end = text.find("</think>")
    return len(text) if end < 0 else end


def _cut_away(before: str, after: str) -> str | None:
    words = []
    fence = _FENCE.search(before)
    if fence is not None:
        before = before[: fence.start()].rstrip()
        after = after.removeprefix("```").lstrip()
    if before:
        words.append("prefixed")
    if fence is not None:
        words.append("fenced")
    if after:
        words.append("suffixed")
    return "+".join(words) or None


def kind_of(value: object) -> str:
    """Name the kind of a JSON value, for messages."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a number with a fraction"}
    others = {str: "a string", list: "a list", dict: "an object"}
    return (names | others)[type(value)]


def name_of(key: str) -> str:
    """Return a key a model wrote, short and on one line, for messages."""
    return shorten(ascii(key), 40)


def check_keys(where: str, value: dict[str, Any], wanted: tuple[str, ...]) -> None:
    """Raise :class:`MisshapenError` if an object has not exactly these keys."""
    for key in wanted:
        if key not in value:
            raise MisshapenError(f"{where}: the key {name_of(key)} is missing")
    for key in value:
        if key not in wanted:
            raise MisshapenError(f"{where}: unknown key {name_of(key)}")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise MisshapenError(f"the key {name_of(twice)} stands twice in one object")
    return value


def _integer(digits: str) -> int:
    # Python refuses to convert very many digits, and so would the writer of a trace.
    if len(digits) > 17 or abs(int(digits)) > GREATEST_INTEGER:
        raise MisshapenError(f"an integer of {len(digits)} characters is out of bounds")
    return int(digits)


def _constant(name: str) -> float:
    raise _NotJsonError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)

_CHECKING = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_integer, parse_constant=_constant)
"""Looks at every integer, of which a reflection has hundreds; few replies need it."""


KEYS = ("thinking", "actions")

FIELDS: dict[str, dict[str, type[int] | type[str]]] = {
    "dm": {"to": int, "content": str},
    "participant_groupchat": {"content": str},
    "all_agent_groupchat": {"content": str},
    "schedule": {"meeting_id": int, "slot": int},
    "reschedule": {"item_id": int, "from_slot": int, "to_slot": int, "justification": str},
}
"""The keys of each type of action beside ``type``, and what they hold (appendix A.2)."""


def parse_envelope(completion: Completion) -> Read[Turn] | Unreadable:
    """Return the turn of a completion, or why there is none.

    The details of an unreadable reply name the place (``actions[1].slot``) and never repeat
    more of the model's text than a shortened key. Texts lose lone surrogates to U+FFFD.
    """
    return _parsed(completion.text, completion.finish_reason, completion.refusal)


@lru_cache(maxsize=256)
def _parsed(
    text: str | None, finish_reason: str | None, refusal: str | None
) -> Read[Turn] | Unreadable:
    """Read a reply; many say only that there is nothing to add."""
    completion = Completion(text=text, finish_reason=finish_reason, refusal=refusal)
    found = read_object(completion, frozenset(KEYS))
    if isinstance(found, Unreadable):
        return found
    try:
        return Read(_turn(found.value), found.recovered, found.place)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))


def _turn(envelope: dict[str, Any]) -> Turn:
    check_keys("reply", envelope, KEYS)
    thinking, actions = envelope["thinking"], envelope["actions"]
    if not isinstance(thinking, str):
        raise MisshapenError(f"thinking: expected a string, got {kind_of(thinking)}")
    if not isinstance(actions, list):
        raise MisshapenError(f"actions: expected a list, got {kind_of(actions)}")
    built = tuple([_action(f"actions[{index}]", entry) for index, entry in enumerate(actions)])
    return Turn(built, well_formed(thinking))


def _action(where: str, entry: object) -> Action:
    if not isinstance(entry, dict):
        raise MisshapenError(f"{where}: expected an object, got {kind_of(entry)}")
    kind = entry.get("type")
    if not isinstance(kind, str):
        got = kind_of(kind) if "type" in entry else "nothing"
        raise MisshapenError(f"{where}.type: expected a string, got {got}")
    fields = FIELDS.get(kind)
    if fields is None:
        raise MisshapenError(f"{where}.type: there is no action {name_of(kind)}")
    check_keys(where, entry, ("type", *fields))
    for key, wanted in fields.items():
        value = entry[key]
        if type(value) is not wanted:  # a boolean is no integer here
            expected = "an integer" if wanted is int else "a string"
            raise MisshapenError(f"{where}.{key}: expected {expected}, got {kind_of(value)}")
    return _build(where, kind, entry)


def _build(where: str, kind: str, entry: dict[str, Any]) -> Action:
    if kind == "schedule":
        return Schedule(meeting_id=MeetingId(entry["meeting_id"]), slot=Slot(entry["slot"]))
    if kind == "reschedule":
        justification = well_formed(entry["justification"])
        if not justification.strip():
            raise MisshapenError(f"{where}.justification: is empty")
        return Reschedule(
            # The number may be a meeting's: the game looks at what is in the slot.
            item_id=ErrandId(entry["item_id"]),
            from_slot=Slot(entry["from_slot"]),
            to_slot=Slot(entry["to_slot"]),
            justification=justification,
        )
    content = Text(text=well_formed(entry["content"]))
    if kind == "dm":
        return DirectMessage(to=AgentId(entry["to"]), content=content)
    if kind == "participant_groupchat":
        return ParticipantMessage(content=content)
    return BroadcastMessage(content=content)
