"""Random numbers: one named stream per purpose.

The same names give the same numbers on every platform and Python version: the seed is a
SHA-256 of the names, and only ``random.Random.random`` is used, the only method whose
sequence Python guarantees.
"""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


_ENCODER = json.JSONEncoder()
"""Made once; ``json.dumps`` would make one for every seed."""


class Stream:
    """A stream of uniform draws; it is seeded by its first one, and most of a speaker's have none.

    Args:
        names: of its purpose, see :func:`derived_seed`.
    """

    __slots__ = ("_draw", "_names")

    def __init__(self, *names: int | str) -> None:
        self._names = names
        self._draw: Callable[[], float] | None = None

    def below(self, bound: int) -> int:
        """Draw an integer from ``0..bound-1``."""
        draw = self._draw
        if draw is None:
            draw = self._draw = random.Random(derived_seed(*self._names)).random
        return int(draw() * bound)

    def choice(self, items: Sequence[T]) -> T:
        """Draw one item."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Draw ``count`` distinct items, in random order."""
        return self.shuffled(items)[:count]


def derived_seed(*names: int | str) -> int:
    """Return a 63-bit seed that depends on every name and their order."""
    # As JSON, an item at a time: encoding a list takes five times as long.
    text = ",".join([str(name) if type(name) is int else _ENCODER.encode(name) for name in names])
    digest = hashlib.sha256(f"[{text}]".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def stream(seed: int, *names: int | str) -> Stream:
    """Open the stream of one purpose, e.g. ``stream(seed, "errands", agent_id)``."""
    return Stream(seed, *names)
