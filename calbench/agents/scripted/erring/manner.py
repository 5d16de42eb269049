"""How a style departs from a talk that is to the point: by seeded chance, in a stream of its own.

The wordings have the stream ``words``; every draw here has ``errs`` and its purpose in its names,
so what one manner draws moves nothing else, and a speaker without a manner draws nothing.
"""

from dataclasses import dataclass

from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.view import View
from calbench.domain.randomness import Stream, stream
from calbench.llm.completion import Completion

GAMES = 504
"""Games of the paper's behaviour audit (Table 14) [P]."""

MODELS = 7
"""Model families in it; each has an equal share of its games and messages here [C]."""

MESSAGES = 36_858
"""Messages of it (Table 14) [P]."""

ROUNDS, SEATS = 5, 3
"""Rounds of a game, participants of a meeting (section 3) [P]."""


def share_of_messages(count: int) -> float:
    """Return the share of a family's messages that shows a pattern of Table 15, by its count."""
    return count * MODELS / MESSAGES


def share_of_rounds(count: int) -> float:
    """Return the share of a family's rounds that shows a pattern of Table 15, by its count."""
    return count * MODELS / (GAMES * ROUNDS)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a speaker is asked; the same moment always draws the same.

    Attributes:
        seed: of the speaker.
        round_index: from 0.
        kind: of the question.
        turn_index: sweep of the talk; -1 outside of it.
    """

    seed: int
    round_index: int
    kind: str
    turn_index: int

    def of_round(self, purpose: str) -> Stream:
        """Open the stream of a purpose that is drawn once a round."""
        return stream(self.seed, "errs", purpose, self.round_index)

    def of_turn(self, purpose: str) -> Stream:
        """Open the stream of a purpose that is drawn in every turn."""
        return stream(self.seed, "errs", purpose, self.round_index, self.kind, self.turn_index)


def happens(chance: Stream, share: float) -> bool:
    """Whether something that happens in this share of cases happens now."""
    return chance.below(1_000_000) < round(share * 1_000_000)


@dataclass(frozen=True, slots=True)
class Manner:
    """What a style does beside its talk; this one does nothing."""

    def seen(self, view: View, moment: Moment) -> View:
        """Return what the speaker takes for true in this round."""
        del moment
        return view

    def remembered(self, view: View, moment: Moment) -> View:
        """Return what it remembers when it writes into its calendar."""
        del moment
        return view

    def voiced(self, voice: Voice, moment: Moment) -> Voice:
        """Return the voice in which it says this turn's sentences."""
        del moment
        return voice

    def gives_reasons(self, moment: Moment) -> bool:
        """Whether it mentions private labels in this turn, though its style does not always."""
        del moment
        return False

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Add to what is to be said, after everything that the talk needs."""

    def written(self, text: str, moment: Moment) -> Completion:
        """Return a reply as it leaves the speaker."""
        del moment
        return Completion(text=text, finish_reason="stop")
