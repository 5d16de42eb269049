"""What an agent hands back when it is asked: its turn, and how it came about."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pydantic import ConfigDict

from calbench.domain.actions import Turn
from calbench.domain.messages import STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of the model calls behind one turn."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class Reply(NamedTuple):
    """A turn with its provenance; a pure policy's reply has none.

    Attributes:
        turn: what the agent does.
        prompt: the exact message a language agent was sent.
        usage: tokens of its calls.
        reply_keys: keys of the recorded replies it was made from.
    """

    turn: Turn
    prompt: str | None = None
    usage: Usage | None = None
    reply_keys: tuple[str, ...] = ()
