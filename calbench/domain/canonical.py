"""One way to write a value down, so that equal values have equal bytes."""

import hashlib
import json
from typing import Any

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
"""Made once: ``json.dumps`` would make one for every call, at twice the price."""


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spaces; refuses NaN and infinities."""
    return _ENCODER.encode(value)


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()
