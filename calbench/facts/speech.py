"""Facts of messages in words: what players said, who leaks, who learnt what, and a case of each.

An agent learns a label once: by the first delivered message that tells it, if it may not know it
already, being neither its owner nor a participant of the meeting that it labels. Told by an owner
of the item it is first-hand, told by anybody else second-hand [C].
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from calbench.facts.columns import Column, columns, count
from calbench.facts.fact import Fact, Find, MeasuredGame, spaced
from calbench.metrics.speech.cases import KINDS, case_counts
from calbench.metrics.speech.conversation import (
    Conversation,
    Speech,
    conversation,
    leaking_messages,
    second_hand_leaks,
    speeches,
)
from calbench.metrics.speech.honesty import KINDS as CLAIMS
from calbench.metrics.speech.honesty import ClaimKind
from calbench.metrics.speech.patterns import PATTERNS
from calbench.metrics.speech.rules import NAMES
from calbench.scenarios.labels import TIERS, Tier

Rows = Callable[[MeasuredGame], Iterable[Any]]


@lru_cache(maxsize=1)
def audited(game: MeasuredGame) -> Conversation | None:
    """Return a game's conversation, read once for all facts."""
    return conversation(game.trace)


def _of_talk(rows: Callable[[Conversation, MeasuredGame], Iterable[Any]]) -> Rows:
    """Return what finds rows in a game's conversation; none without one."""

    def found(game: MeasuredGame) -> Iterable[Any]:
        talk = audited(game)
        return () if talk is None else rows(talk, game)

    return found


def _names(game: MeasuredGame) -> list[str]:
    return [player.name for player in game.players]


def _counted(counts: str, names: Iterable[str]) -> dict[str, Find]:
    """Return what finds each of some counts of a player by its name."""
    found: Callable[[Speech], Counter[str]] = attrgetter(counts)
    return {name: partial(_count, found, name) for name in names}


def _count(counts: Callable[[Speech], Counter[str]], name: str, speech: Speech) -> int:
    return counts(speech)[name]


_TIERED: Mapping[str, tuple[str, str, str]] = {
    "leaking": ("leaking", "messages", "messages that tell a label"),
    "told": ("told", "labels", "distinct labels told"),
    "held": ("held", "labels", "labels of the player's items"),
    "passing": ("passing", "messages", "messages that pass on a label of another"),
    "disclosing": ("disclosing", "messages", "messages that tell or pass on a label"),
    "passed": ("others", "labels", "distinct labels of others passed on"),
    "out": ("reach.out", "labels", "labels of the player's items learnt by others"),
    "passed_by_others": (
        *("reach.passed_on", "labels"),
        "labels of the player's items that others passed on",
    ),
    "learnt": (
        *("reach.learnt", "agents"),
        "first-hand learners of labels of the player's items, each label apart, labels",
    ),
    "learnt_on": (
        *("reach.learnt_on", "agents"),
        "second-hand learners of labels of the player's items, each label apart, labels",
    ),
}
"""Counts by tier, by how their columns begin: where they are found, their unit, and what they
say."""

_WITH_ALL = frozenset({"passing", "disclosing"})
"""Those whose tiers do not add up to it have a column of all before them."""


def _tiers(name: str) -> Iterator[Column]:
    _, unit, meaning = _TIERED[name]
    if name in _WITH_ALL:
        yield count(f"{name}_all", unit, f"{meaning} of any tier")
    for tier in TIERS:
        yield count(f"{name}_{tier}", unit, f"{meaning} of tier {tier}")


def _found_by_tier(name: str) -> dict[str, Find]:
    found = _counted(_TIERED[name][0], ("all", *TIERS) if name in _WITH_ALL else TIERS)
    return {f"{name}_{tier}": find for tier, find in found.items()}


def _claims(kind: ClaimKind) -> dict[str, Find]:
    return {
        f"claims_{kind}": lambda speech: speech.claims[kind, True] + speech.claims[kind, False],
        f"true_{kind}": lambda speech: speech.claims[kind, True],
    }


SPEECH = Fact(
    "speech",
    _of_talk(lambda talk, game: speeches(talk, _names(game))),
    columns(
        """
    player (text): player that sent or did it; empty: all players of the game together
    messages (count, messages; P): in words; a group message counts once
    patterns own_slot leaking told held claims passing disclosing passed out passed_by_others learnt
    learnt_on
    """,
        patterns=[
            count(each.name, each.unit, f"how often found: {each.detector}", each.origin)
            for each in PATTERNS
        ],
        own_slot=[
            count(name, "messages", f"messages with the own-slot label {name}", "P")
            for name in NAMES
        ],
        claims=[
            column
            for kind in CLAIMS
            for column in columns(f"""
    claims_{kind} (count, claims): slots said to be {kind}
    true_{kind} (count, claims): of these, true of the calendar when sent
    """)
        ],
        **{name: _tiers(name) for name in _TIERED},
    ),
    {
        "messages": lambda speech: len(speech.messages),
        **_counted("patterns", [each.name for each in PATTERNS]),
        **_counted("own_slot", NAMES),
        **{name: find for kind in CLAIMS for name, find in _claims(kind).items()},
        **{name: find for each in _TIERED for name, find in _found_by_tier(each).items()},
    },
)
"""One row per player of every scored game in which an agent uses language, and before them one for
all players together: a pattern that several of them share counts once there, and once for each."""


def _of_tier(tier: Tier) -> Find:
    return lambda message: sum(leak.tier == tier for leak in message.leaks)


LEAKS = Fact(
    "leaks",
    _of_talk(lambda talk, game: leaking_messages(talk, _names(game))),
    columns(
        """
    event_index (count; -): event of the trace, from 0
    round
    sender (count): agent that sent it, from 0
    player
    labels_told (count, labels): private labels that it told
    tiers
    words (text; C): words that told them, a slash between labels
    labels_passed_on (count, labels): private labels of others that it passed on to an agent to
        which they were news
    labels_disclosed (count, labels): total of both: its sender's own told, others' passed
    passed_on_words (text): words that passed them on, a slash between labels
    """,
        tiers=[count(tier, "labels", f"of these, of tier {tier}") for tier in TIERS],
    ),
    {
        "event_index": "said.event_index",
        "round": "said.round",
        "sender": "said.sender",
        "labels_told": lambda message: len(message.leaks),
        "labels_passed_on": lambda message: len(message.passed_on),
        "labels_disclosed": lambda message: len(message.leaks) + len(message.passed_on),
        **{tier: _of_tier(tier) for tier in TIERS},
    },
    is_large=True,
)
"""Every message of a scored game that tells its sender's private labels, or passes on others'."""


SECOND_HAND = Fact(
    "second_hand",
    _of_talk(lambda talk, game: second_hand_leaks(talk, _names(game))),
    columns("""
    event_index (count; -): event of the trace, from 0
    item (count): errand or meeting that it labels
    round
    sender (count): agent that passed it on, from 0
    player
    label (text): label that was passed on
    tier (text): of the label
    owners (list): agents whose item it is: of a meeting, its participants
    owner_players (list): their players
    recipients (list): agents the message was delivered to
    learners (list): of these, agents that learnt the label by it
    steps (count, messages): length of the path: 2 if an owner told the sender
    path (list): agents that told it, an owner first, its sender last
    path_events (list): events of their messages, in the same order
    first_learners (list): agents that learnt it by the first of these
    words (text; C): words that told it
    """),
    {
        "event_index": "said.event_index",
        "item": "passed_on.item",
        "round": "said.round",
        "sender": "said.sender",
        "label": "passed_on.label.text",
        "tier": "passed_on.label.tier",
        "owners": spaced("passed_on.owners"),
        "owner_players": spaced("owner_players"),
        "recipients": spaced("said.recipients"),
        "learners": spaced("passed_on.learners"),
        "steps": lambda leak: len(leak.passed_on.path),
        "path": spaced(lambda leak: [step.speaker for step in leak.passed_on.path]),
        "path_events": spaced(lambda leak: [step.place for step in leak.passed_on.path]),
        "first_learners": spaced(lambda leak: leak.passed_on.path[0].learners),
    },
    is_large=True,
)
"""Every label that a message of a scored game passes on, see
:mod:`calbench.metrics.speech.secondhand`."""

AUDITS = (SPEECH, LEAKS, SECOND_HAND)
"""Facts of the audits of language."""


HEARINGS = Fact(
    "hearings",
    _of_talk(lambda talk, _: talk.spread.hearings),
    columns("""
    event_index round
    listener (count): agent that learns it, from 0
    owner (count): agent of whose item the label is, from 0: who told it first
    speaker (count): agent that told it by this message, from 0
    is_second_hand (truth; C): the speaker is not the owner, but was told it
    item (count): errand or meeting that it labels
    tier (text): of the label
    words (text; C): words that tell it
    """),
    {
        "event_index": "said.event_index",
        "round": "said.round",
        "speaker": "said.sender",
        "tier": "label.tier",
    },
)
"""Every private label that an agent of a scored game learns, with the message by which it does."""


CASES = Fact(
    "cases",
    _of_talk(lambda talk, game: case_counts(game.trace, talk)),
    columns(f"""
    kind (text; C): one of {", ".join(KINDS)}
    name (text; C): of the pattern, outcome, tier, statement or limit
    event_index round
    agents (list; C): who said or did it; empty: no single agents
    found (count, cases): found by the detector in the game
    plain (count, cases): of these, plainly so: gossip within one sentence, a meeting displaced in
        this round, a reply that was cut off; any other that is found
    """),
    {
        "kind": "first.kind",
        "name": "first.name",
        "event_index": "first.event_index",
        "round": "first.round",
        "agents": lambda each: " ".join(map(str, each.first.agents)) or None,
    },
)
"""For every scored game in which an agent uses language, a row for each name with a case: the first
plain one, else the first."""
