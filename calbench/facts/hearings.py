"""Facts of hearings: which agent learnt which private label first from whom."""

from collections.abc import Iterator

from calbench.facts.columns import EVENT, ROUND, count, text, truth
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.speech import audited
from calbench.metrics.speech.hearings import Hearing, hearings

OWNER = count("owner", "", "agent of whose item the label is, from 0: who told it first")
SPEAKER = count("speaker", "", "agent that told it by this message, from 0")
SECOND_HAND = truth("is_second_hand", "the speaker is not the owner, but was told it", "C")


def _hearings(game: MeasuredGame) -> Iterator[Hearing]:
    found = audited(game)
    return iter(()) if found is None else hearings(found)


HEARINGS = Fact(
    "hearings",
    _hearings,
    (
        (EVENT, "said.event_index"),
        (ROUND, "said.round"),
        count("listener", "", "agent that learns it, from 0"),
        OWNER,
        (SPEAKER, "said.sender"),
        SECOND_HAND,
        count("item", "", "errand or meeting that it labels"),
        (text("tier", "of the label"), "label.tier"),
        text("words", "words that tell it", "C"),
    ),
)
"""Every private label that an agent of a scored game learns, with the message by which it does."""
