"""Facts of messages in words: what the detectors of the audits find in each."""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.analysis.audits.own_slot import NAMES as OWN_SLOT
from calbench.analysis.audits.own_slot import own_slot
from calbench.analysis.audits.patterns import message_patterns
from calbench.analysis.audits.said import Said, said
from calbench.analysis.audits.told import labels_of_game, told_labels
from calbench.facts.columns import EVENT, count, listed, text
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.messages import IN_WORDS
from calbench.scenarios.labels import TIERS, Labels
from calbench.scenarios.models import Scenario


class Spoken(NamedTuple):
    """One message; labels are absent in a game that has none."""

    event_index: int
    patterns: str | None
    own_slot: str | None
    labels_told: int | None
    leak_tier: str | None


def _spoken(game: MeasuredGame) -> Iterator[Spoken]:
    if game.is_scored:
        labels = labels_of_game(game.trace)
        for message in said(game.trace):
            yield _found(message, labels, game.trace.scenario)


def _found(message: Said, labels: Labels | None, scenario: Scenario) -> Spoken:
    patterns = message_patterns(message.text, {message.sender, *message.recipients})
    own = own_slot(message.text)
    tiers = [] if labels is None else told_labels(message, labels, scenario).values()
    return Spoken(
        message.event_index,
        " ".join(patterns) or None,
        " ".join(name for name in OWN_SLOT if getattr(own, name)) or None,
        None if labels is None else len(tiers),
        max(tiers, key=TIERS.index, default=None),
    )


SPOKEN = Fact(
    "spoken",
    _spoken,
    (
        EVENT,
        listed("patterns", f"behaviour patterns {IN_WORDS}, or none", "P"),
        listed("own_slot", f"of {', '.join(OWN_SLOT)}: those {IN_WORDS}, or none", "P"),
        count("labels_told", "labels", f"private labels {IN_WORDS}", "P"),
        text("leak_tier", "most private tier of these labels", "P"),
    ),
    is_large=True,
)
"""Every message in words of a scored game."""
