"""Malformed replies, made from good ones by a seeded hand in every way that models find."""

import json
import random
from collections.abc import Callable
from typing import Any

from tests.agents.replies import ACTIONS, AROUND, envelope

ODD: tuple[str, ...] = (
    "null",
    "true",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e400",
    "-1e400",
    "0.0",
    "-0",
    "1e2",
    "9007199254740993",
    "1" * 5000,
    "-" + "9" * 400,
    '"3"',
    '"\\ud800"',
    '"\\u0000"',
    '"\u202e\u2028"',
    "[]",
    "{}",
    "[[]]",
    '{"a": {"a": 1}}',
    "",
    "07",
    "+1",
    "'1'",
    "0x10",
    "\u0661",
)
LETTERS = '{}[]":,\\ 0-9eNInft\n\x00\x1b`\ud800\u2028\ufeff\U0001f600é'


def good(chance: random.Random) -> str:
    """Return a reply that can be read: an envelope, or the answer to a reflection."""
    if chance.random() < 0.5:
        actions = chance.sample(ACTIONS, chance.randrange(len(ACTIONS) + 1))
        return envelope(*actions, thinking="x" * chance.randrange(30))
    lists = {str(agent): [chance.randint(-3, 3) for _ in range(4)] for agent in (0, 2, 3)}
    return json.dumps({"beliefs": lists})


def _truncated(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _retyped(text: str, chance: random.Random) -> str:
    """Put an odd value where a value stands."""
    places = [place for place, letter in enumerate(text) if letter in ":[,"] or [-1]
    start = chance.choice(places) + 1
    end = next((place for place in range(start, len(text)) if text[place] in ",]}"), len(text))
    return text[:start] + chance.choice(ODD) + text[end:]


def _nested(text: str, chance: random.Random) -> str:
    depth = chance.choice((1, 2, 50, 1000, 20000))
    left, right = chance.choice((("[", "]"), ('{"a":', "}"), ('{"actions":', "}")))
    whole = left * depth + text + right * depth
    return whole if chance.random() < 0.5 else text.replace("[", left * depth + "[", 1)


def _doubled_key(text: str, chance: random.Random) -> str:
    key = chance.choice(("thinking", "actions", "type", "slot", "beliefs", "0", "\\u0061ctions"))
    place = text.find("{", chance.randrange(len(text)))
    place = text.find("{") if place < 0 else place
    return f'{text[: place + 1]}"{key}": {chance.choice(ODD) or 1}, {text[place + 1 :]}'


def _around(text: str, chance: random.Random) -> str:
    return chance.choice(AROUND) + text + chance.choice(AROUND)


def _several(text: str, chance: random.Random) -> str:
    parts = [text, *(good(chance) for _ in range(chance.randint(1, 3)))]
    joined = chance.choice(("", "\n", " and ", ", ")).join(parts)
    return f"[{joined}]" if chance.random() < 0.3 else joined


def _keys(text: str, chance: random.Random) -> str:
    """Drop, rename or add a key somewhere."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):  # it was bent before
        return text + "}"
    while isinstance(value, list) and value:
        value = chance.choice(value)
    if not isinstance(value, dict) or not value:
        return text
    target = value
    held = [one for each in value.values() for one in (each if isinstance(each, list) else [each])]
    inner = [each for each in held if isinstance(each, dict)]
    if inner and chance.random() < 0.7:
        target = chance.choice(inner)
    if target:
        kept = target.pop(chance.choice(sorted(target)))
        if chance.random() < 0.6:
            target[chance.choice(("Thinking", "action", "slot ", "", "é", "to"))] = kept
    return json.dumps(value)


def _letters(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        kept = place if chance.random() < 0.5 else place + 1
        text = text[:place] + chance.choice(LETTERS) + text[kept:]
    return text


WAYS: tuple[Callable[[str, random.Random], str], ...] = (
    _truncated,
    _retyped,
    _nested,
    _doubled_key,
    _around,
    _several,
    _keys,
    _letters,
)


def mutant(chance: random.Random) -> str:
    """Return a reply that was bent once to three times; a few can still be read."""
    text = good(chance)
    for _ in range(chance.choice((1, 1, 2, 3))):
        if len(text) > 200_000 or not text:
            break
        text = chance.choice(WAYS)(text, chance)
    return text
