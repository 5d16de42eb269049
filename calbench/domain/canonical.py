"""A canonical form of values: equal values have equal bytes."""

import hashlib
import json
from typing import Any, TypeVar

T = TypeVar("T")

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
"""Made once; ``json.dumps`` would make one for every call and take twice as long."""


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spaces; rejects NaN and infinities."""
    return _ENCODER.encode(value)


def plain(value: T) -> T:
    """Return a value that JSON can hold.

    Raises:
        ValueError: it contains a number that is not finite.
    """
    canonical_json(value)
    return value


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of a text such as canonical JSON, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def first_difference(found: bytes, expected: bytes) -> str:
    """Return where bytes differ first from others, and how, on one line of printable ASCII."""
    same, behind = 0, min(len(found), len(expected)) + 1
    while same < behind - 1:  # whole slices are compared: a document may have a million bytes
        middle = (same + behind) // 2
        if found[same:middle] == expected[same:middle]:
            same = middle
        else:
            behind = middle
    one, other = (ascii(data[same : same + 30])[1:] for data in (found, expected))
    return f"at byte {same} is {one}, not {other}"
