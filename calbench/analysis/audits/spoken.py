"""Facts of messages in words: what the detectors of the audits find in each."""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.analysis.audits.games import AuditedMessage, audited_messages
from calbench.analysis.audits.own_slot import NAMES as OWN_SLOT
from calbench.analysis.audits.speech import audited
from calbench.facts.columns import EVENT, count, listed, text
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.messages import IN_WORDS
from calbench.scenarios.labels import TIERS


class Spoken(NamedTuple):
    """One message; labels are absent in a game that has none."""

    event_index: int
    patterns: str | None
    own_slot: str | None
    labels_told: int | None
    leak_tier: str | None


def _spoken(game: MeasuredGame) -> Iterator[Spoken]:
    if game.is_scored:
        found = audited(game)
        messages = audited_messages(game.trace) if found is None else found.messages
        yield from map(_found, messages)


def _found(message: AuditedMessage) -> Spoken:
    tiers = message.tier_by_item.values()
    return Spoken(
        message.said.event_index,
        " ".join(message.patterns) or None,
        " ".join(message.own_slot) or None,
        None if message.labels is None else len(tiers),
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
