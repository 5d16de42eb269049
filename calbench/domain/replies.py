"""What an agent hands back when it is asked: its turn, and how it came about."""

from typing import Literal, NamedTuple

from calbench.domain.actions import Turn
from calbench.domain.frequent import frequent, recorded


@recorded
class Usage:
    """Tokens of the model calls behind one turn.

    ``is_estimated`` marks counts that the provider did not give and that were taken from
    the lengths of the texts.
    """

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    is_estimated: bool = False


Problem = Literal["not_json", "wrong_shape", "truncated", "refused", "empty", "context_exceeded"]
"""Why a model's reply could not be read."""


class Unreadable(NamedTuple):
    """A reply that could not be read, and where exactly it went wrong."""

    problem: Problem
    detail: str


class Beliefs(NamedTuple):
    """The answer to a reflection, by target agent: one entry for each slot.

    ``delta`` holds integers in -3..3, positive for more willing to believe occupied;
    ``expected`` their expected values under the token log-probabilities, where given.
    """

    delta: dict[str, tuple[int, ...]]
    expected: dict[str, tuple[float, ...]] | None = None


@frequent
class Reply:
    """A turn with its provenance; a pure policy's reply has none.

    Attributes:
        turn: what the agent does; nothing if its reply could not be read.
        prompt: the exact message a language agent was sent.
        usage: tokens of its calls.
        reply_keys: keys of the recorded replies it was made from.
        unreadable: why the reply could not be read.
        recovered: what had to be cut away to read it; absent if it was clean.
        beliefs: the answer to a reflection.
    """

    turn: Turn
    prompt: str | None = None
    usage: Usage | None = None
    reply_keys: tuple[str, ...] = ()
    unreadable: Unreadable | None = None
    recovered: str | None = None
    beliefs: Beliefs | None = None
