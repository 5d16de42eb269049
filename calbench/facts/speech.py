"""Facts of messages in words: what each player of a game said, and every message that leaks."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from calbench.facts.columns import PLAYER, ROUND, Column, count, listed, text
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.speech.conversation import (
    Conversation,
    LeakingMessage,
    SecondHandLeak,
    Speech,
    conversation,
    leaking_messages,
    second_hand_leaks,
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


def _second_hand(game: MeasuredGame) -> Iterator[SecondHandLeak]:
    found = audited(game)
    return iter(()) if found is None else second_hand_leaks(found, _names(game))


def _of(counts: Callable[[Speech], Counter[Any]], name: str) -> Find:
    return lambda speech: counts(speech)[name]


def _tiers(
    name: str,
    meaning: str,
    counts: Callable[[Speech], Counter[Any]],
    unit: str = "labels",
    whole: str = "",
) -> tuple[tuple[Column, Find], ...]:
    """Return columns by tier, before them one of all if tiers do not add up to it."""
    of_all = (count(f"{name}_all", unit, f"{whole} of any tier"), _of(counts, "all"))
    return (
        *([of_all] if whole else []),
        *(
            (count(f"{name}_{tier}", unit, f"{meaning} of tier {tier}"), _of(counts, tier))
            for tier in TIERS
        ),
    )


_PASSING = "messages that pass on a label of another"
_DISCLOSING = "messages that tell or pass on a label"


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
        *_tiers("leaking", "messages that tell a label", lambda speech: speech.leaking, "messages"),
        *_tiers("told", "distinct labels told", lambda speech: speech.told),
        *_tiers("held", "labels of the player's items", lambda speech: speech.held),
        *(field for kind in KINDS for field in _claims(kind)),
        *_tiers("passing", _PASSING, lambda speech: speech.passing, "messages", _PASSING),
        *_tiers(
            "disclosing", _DISCLOSING, lambda speech: speech.disclosing, "messages", _DISCLOSING
        ),
        *_tiers("passed", "distinct labels of others passed on", lambda speech: speech.others),
        *_tiers(
            "out", "labels of the player's items learnt by others", lambda speech: speech.reach.out
        ),
        *_tiers(
            "passed_by_others",
            "labels of the player's items that others passed on",
            lambda speech: speech.reach.passed_on,
        ),
        *_tiers(
            "learnt",
            "first-hand learners of labels of the player's items, each label apart, labels",
            lambda speech: speech.reach.learnt,
            "agents",
        ),
        *_tiers(
            "learnt_on",
            "second-hand learners of labels of the player's items, each label apart, labels",
            lambda speech: speech.reach.learnt_on,
            "agents",
        ),
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
        (
            count(
                "labels_passed_on",
                "labels",
                "private labels of others that it passed on to an agent to which they were news",
            ),
            lambda message: len(message.passed_on),
        ),
        (
            count(
                "labels_disclosed", "labels", "total of both: its sender's own told, others' passed"
            ),
            lambda message: len(message.leaks) + len(message.passed_on),
        ),
        text("passed_on_words", "words that passed them on, a slash between labels"),
    ),
    is_large=True,
)
"""Every message of a scored game that tells its sender's private labels, or passes on others'."""


def _step(find: Callable[[SecondHandLeak], Sequence[object]]) -> Find:
    return lambda leak: " ".join(map(str, find(leak)))


SECOND_HAND = Fact(
    "second_hand",
    _second_hand,
    (
        (count("event_index", "", "event of the trace, from 0", ""), "said.event_index"),
        (count("item", "", "errand or meeting that it labels"), "passed_on.item"),
        (ROUND, "said.round"),
        (count("sender", "", "agent that passed it on, from 0"), "said.sender"),
        PLAYER,
        (text("label", "label that was passed on"), "passed_on.label.text"),
        (text("tier", "of the label"), "passed_on.label.tier"),
        (
            listed("owners", "agents whose item it is: of a meeting, its participants"),
            _step(lambda leak: leak.passed_on.owners),
        ),
        (listed("owner_players", "their players"), _step(lambda leak: leak.owner_players)),
        (
            listed("recipients", "agents the message was delivered to"),
            _step(lambda leak: leak.said.recipients),
        ),
        (
            listed("learners", "of these, agents that learnt the label by it"),
            _step(lambda leak: leak.passed_on.learners),
        ),
        (
            count("steps", "messages", "length of the path: 2 if an owner told the sender"),
            lambda leak: len(leak.passed_on.path),
        ),
        (
            listed("path", "agents that told it, an owner first, its sender last"),
            _step(lambda leak: [step.speaker for step in leak.passed_on.path]),
        ),
        (
            listed("path_events", "events of their messages, in the same order"),
            _step(lambda leak: [step.place for step in leak.passed_on.path]),
        ),
        (
            listed("first_learners", "agents that learnt it by the first of these"),
            _step(lambda leak: leak.passed_on.path[0].learners),
        ),
        text("words", "words that told it", "C"),
    ),
    is_large=True,
)
"""Every label that a message of a scored game passes on, see
:mod:`calbench.metrics.speech.secondhand`."""

AUDITS = (SPEECH, LEAKS, SECOND_HAND)
"""Facts of the audits of language."""
