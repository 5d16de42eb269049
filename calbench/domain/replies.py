"""What an agent returns when it is asked: its turn, and how that was made."""

from typing import Literal, NamedTuple

from calbench.domain.actions import PASS, Turn
from calbench.domain.frequent import passing
from calbench.domain.usage import Usage
from calbench.files import shorten

Problem = Literal["not_json", "wrong_shape", "truncated", "refused", "empty", "context_exceeded"]
"""Why a model's reply could not be read."""


class Unreadable(NamedTuple):
    """Why and where exactly a reply could not be read (appendix A.5).

    >>> Unreadable("not_json", "it begins with 'Sure'")
    Unreadable(problem='not_json', detail="it begins with 'Sure'")

    Attributes:
        problem: its kind.
        detail: where and why, in a sentence.
    """

    problem: Problem
    detail: str


CERTAIN = 100
"""The chance of what is certain: chances are stated in whole percents [C]."""


class Beliefs(NamedTuple):
    """The answer to a reflection, by target agent: one entry for each slot (appendix F.3).

    >>> Beliefs(delta={"1": (0, 2, -1)}, occupied={"1": (10, 90, 20)}).occupied["1"][1]
    90

    Attributes:
        delta: by target and slot, from -3 to 3: how the belief moved that the slot is occupied.
        expected: the same as expected values under the token log-probabilities, where given.
        occupied: chances that the slots are occupied, in percent, where they were asked for.
    """

    delta: dict[str, tuple[int, ...]]
    expected: dict[str, tuple[float, ...]] | None = None
    occupied: dict[str, tuple[int, ...]] | None = None


@passing
class Reply:
    """A turn with its provenance; a pure policy's reply has none [C].

    >>> Reply(PASS, beliefs=Beliefs({"1": (0, 2, -1)})).turn
    Turn(actions=(), thinking=None)

    Attributes:
        turn: what the agent does; nothing if its reply could not be read.
        prompt: the exact message sent to a language agent.
        usage: tokens of its calls.
        reply_keys: keys of the recorded replies it was made from.
        unreadable: why the reply could not be read.
        recovered: what was removed to read it; absent if nothing was.
        beliefs: the answer to a reflection.
    """

    turn: Turn
    prompt: str | None = None
    usage: Usage | None = None
    reply_keys: tuple[str, ...] = ()
    unreadable: Unreadable | None = None
    recovered: str | None = None
    beliefs: Beliefs | None = None

    def __repr__(self) -> str:
        """Say it in one line; without the prompt, which is long."""
        return f"Reply(turn={shorten(repr(self.turn), 1000)}, usage={self.usage})"


PASSED = Reply(PASS)
"""The reply of a policy that has nothing to do."""
