"""Tokens of model calls."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of the model calls behind one turn (appendix C).

    >>> Usage(input_tokens=812, cached_tokens=640, output_tokens=35).is_estimated
    False

    Attributes:
        input_tokens: sent, in tokens.
        cached_tokens: of these, read from a cache.
        output_tokens: received, in tokens.
        is_estimated: whether they follow from the lengths of the texts, since nobody said them.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    is_estimated: bool = False
