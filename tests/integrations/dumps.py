"""What an agent can reach from what it is handed: for comparing it with what it may know."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

ATOMS = (str, bytes, int, float, bool, type(None))


def reached(given: object) -> list[Any]:
    """Return every plain value that can be reached, by items and by attributes, in order."""
    return list(_walk(given, set()))


def _walk(given: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(given, ATOMS):
        yield given
    elif id(given) not in seen:
        seen.add(id(given))
        for each in _parts(given):
            yield from _walk(each, seen)
        for name in _names(given):
            yield from _walk(getattr(given, name), seen)


def _parts(given: Any) -> Iterator[Any]:
    """Yield the items of a container; of an array also what it is a view of."""
    if isinstance(given, np.ndarray):
        yield from (given.tolist(), given.base)
    elif isinstance(given, Mapping):
        for key in given:
            yield from (key, given[key])
    elif isinstance(given, (list, tuple)):
        yield from given
    elif isinstance(given, (set, frozenset)):
        yield from sorted(given)


def _names(given: Any) -> Iterator[str]:
    """Yield what an object holds: its dictionary, slots of its classes, what closures keep."""
    yield from sorted(getattr(given, "__dict__", ()))
    for each in type(given).__mro__:
        slots = each.__dict__.get("__slots__", ())
        yield from ((slots,) if isinstance(slots, str) else slots)
