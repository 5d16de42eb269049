"""Facts of messages in words: what each player of a game said, and every message that leaks."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

from calbench.facts.columns import PLAYER, ROUND, Column, count, text
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.speech.conversation import (
    Conversation,
    LeakingMessage,
    Speech,
    conversation,
    leaking_messages,
    speeches,
)
from calbench.metrics.speech.honesty import KINDS, ClaimKind
from calbench.metrics.speech.own_slot import NAMES
from calbench.metrics.speech.patterns import PATTERNS
from calbench.scenarios.labels import TIERS, Tier


@lru_cache(maxsize=1)
def audited(game: MeasuredGame) -> Conversation | None:
    """Return a game's conversation, read once for all facts."""
    return conversation(game.trace)


def _names(game: MeasuredGame) -> list[str]:
    return [player.name for player in game.players]


def _speeches(game: MeasuredGame) -> Iterator[Speech]:
    found = audited(game)
    return iter(()) if found is None else speeches(found, _names(game))


def _leaking(game: MeasuredGame) -> Iterator[LeakingMessage]:
    found = audited(game)
    return iter(()) if found is None else leaking_messages(found, _names(game))


def _of(counts: Callable[[Speech], Counter[str]], name: str) -> Find:
    return lambda speech: counts(speech)[name]


def _tiers(
    name: str, meaning: str, counts: Callable[[Speech], Counter[Tier]]
) -> tuple[tuple[Column, Find], ...]:
    """Return columns of labels by tier."""
    unit = "messages" if name == "leaking" else "labels"
    return tuple(
        (count(f"{name}_{tier}", unit, f"{meaning} of tier {tier}"), _of(counts, tier))  # type: ignore[arg-type]
        for tier in TIERS
    )


def _claims(kind: ClaimKind) -> tuple[tuple[Column, Find], ...]:
    return (
        (
            count(f"claims_{kind}", "claims", f"slots said to be {kind}"),
            lambda speech: speech.claims[kind, True] + speech.claims[kind, False],
        ),
        (
            count(f"true_{kind}", "claims", "of these, true of the calendar when sent"),
            lambda speech: speech.claims[kind, True],
        ),
    )


SPEECH = Fact(
    "speech",
    _speeches,
    (
        text("player", "player that sent or did it; empty: all players of the game together"),
        (
            count("messages", "messages", "in words; a group message counts once", "P"),
            lambda speech: len(speech.messages),
        ),
        *(
            (
                count(each.name, each.unit, f"how often found: {each.detector}", each.origin),
                _of(lambda speech: speech.patterns, each.name),
            )
            for each in PATTERNS
        ),
        *(
            (
                count(name, "messages", f"messages with the own-slot label {name}", "P"),
                _of(lambda speech: speech.own_slot, name),
            )
            for name in NAMES
        ),
        *_tiers("leaking", "messages that tell a label", lambda speech: speech.leaking),
        *_tiers("told", "distinct labels told", lambda speech: speech.told),
        *_tiers("held", "labels of the player's items", lambda speech: speech.held),
        *(field for kind in KINDS for field in _claims(kind)),
    ),
)
"""One row per player of every scored game in which an agent uses language, and before them one for
all players together: a pattern that several of them share counts once there, and once for each."""


def _of_tier(tier: Tier) -> Find:
    return lambda message: sum(leak.tier == tier for leak in message.leaks)


LEAKS = Fact(
    "leaks",
    _leaking,
    (
        (count("event_index", "", "event of the trace, from 0", ""), "said.event_index"),
        (ROUND, "said.round"),
        (count("sender", "", "agent that sent it, from 0"), "said.sender"),
        PLAYER,
        (
            count("labels_told", "labels", "private labels that it told"),
            lambda message: len(message.leaks),
        ),
        *((count(tier, "labels", f"of these, of tier {tier}"), _of_tier(tier)) for tier in TIERS),
        text("words", "words that told them, a slash between labels", "C"),
    ),
    is_large=True,
)
"""Every message of a scored game that tells private labels."""

AUDITS = (SPEECH, LEAKS)
"""Facts of the audits of language."""
