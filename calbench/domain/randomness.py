"""Random numbers: one named stream per purpose.

The same names give the same numbers on every platform and Python version: the seed is a
SHA-256 of the names, and only ``random.Random.random`` is used, the only method whose
sequence Python guarantees.
"""

import hashlib
import json
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """A stream of uniform draws."""

    __slots__ = ("_draw",)

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed).random

    def below(self, bound: int) -> int:
        """Draw an integer from ``0..bound-1``."""
        return int(self._draw() * bound)

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
    digest = hashlib.sha256(json.dumps(names, separators=(",", ":")).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def stream(seed: int, *names: int | str) -> Stream:
    """Open the stream of one purpose, e.g. ``stream(seed, "errands", agent_id)``."""
    return Stream(derived_seed(seed, *names))
