"""Tokens of model calls."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of the model calls behind one turn.

    ``is_estimated`` marks counts that the provider did not give and that were taken from
    the lengths of the texts.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    is_estimated: bool = False
