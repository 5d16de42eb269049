"""Facts of what was said in words: by each player of a game, and message by message what leaked."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from calbench.domain.ids import AgentId
from calbench.facts.columns import PLAYER, ROUND, Column, count, text
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.speech.conversation import (
    AuditedMessage,
    Conversation,
    conversation,
    message_counts,
)
from calbench.metrics.speech.honesty import KINDS, ClaimKind
from calbench.metrics.speech.leakage import Leak
from calbench.metrics.speech.own_slot import NAMES
from calbench.metrics.speech.patterns import PATTERNS
from calbench.metrics.speech.said import Said
from calbench.scenarios.labels import TIERS, Labels, Tier


@lru_cache(maxsize=1)
def audited(game: MeasuredGame) -> Conversation | None:
    """Return a game's conversation, read once for all facts."""
    return conversation(game.trace)


@dataclass(frozen=True)
class Speech:
    """What one player said and did in a game, or all of them together.

    Attributes:
        player: its name; ``None`` for all together.
        messages: in words.
        patterns: how often each pattern occurs, in its own unit.
        told: labels told by tier; each label of an agent once.
        held: labels of the player's items by tier.
    """

    player: str | None
    messages: tuple[AuditedMessage, ...]
    patterns: Counter[str]
    told: Counter[Tier]
    held: Counter[Tier]

    @cached_property
    def own_slot(self) -> Counter[str]:
        """How many messages say what of their sender's own slots."""
        return Counter(name for message in self.messages for name in message.own_slot)

    @cached_property
    def leaking(self) -> Counter[Tier]:
        """How many messages tell a label of each tier."""
        return Counter(
            tier for message in self.messages for tier in set(message.tier_by_item.values())
        )

    @cached_property
    def claims(self) -> Counter[tuple[ClaimKind, bool]]:
        """How often what was claimed of a slot, truly or falsely."""
        return Counter(claim for message in self.messages for claim in message.claims)


def _speeches(game: MeasuredGame) -> Iterator[Speech]:
    """Yield what all players together said and did, then each of them."""
    found = audited(game)
    if found is None:
        return
    yield _speech(None, range(len(game.players)), found)
    agents_by_player: dict[str, list[int]] = {}
    for agent, player in enumerate(game.players):
        agents_by_player.setdefault(player.name, []).append(agent)
    for name, agents in agents_by_player.items():
        yield _speech(name, agents, found)


def _speech(player: str | None, agents: Iterable[int], found: Conversation) -> Speech:
    own = frozenset(map(AgentId, agents))
    messages = tuple(each for each in found.messages if each.said.sender in own)
    happened = Counter(
        each.pattern
        for each in found.occurrences
        if player is None or not own.isdisjoint(each.agents)
    )
    told = (found.told_by_agent.get(agent, {}).values() for agent in own)
    return Speech(
        player,
        messages,
        message_counts(messages) + happened,
        Counter(tier for tiers in told for tier in tiers),
        Counter() if found.labels is None else _held(found.labels, own),
    )


def _held(labels: Labels, agents: Iterable[AgentId]) -> Counter[Tier]:
    items = (item for agent in agents for item in labels.items_by_agent[agent])
    return Counter(labels.label_of(item).tier for item in items)


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
            count(f"claims_{kind}", "claims", f"slots that were said to be {kind}"),
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
        text("player", "who sent or did it; empty: all players of the game together"),
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
"""A row a player of every scored game in which somebody uses language, and before them one of all
players together: a pattern that several of them share counts once there, and once for each."""

BETWEEN = " / "
"""Between the words that tell one label and the next."""


@dataclass(frozen=True, slots=True)
class _Leaking:
    """A message that tells private labels: who sent it, and the words that tell each label."""

    said: Said
    player: str
    leaks: tuple[Leak, ...]

    @property
    def words(self) -> str:
        """On one line."""
        return BETWEEN.join(" ".join(leak.span.split()) for leak in self.leaks)


def _leaking(game: MeasuredGame) -> Iterator[_Leaking]:
    found = audited(game)
    for message in () if found is None else found.messages:
        if message.told:
            yield _Leaking(message.said, game.players[message.said.sender].name, message.leaks)


def _of_tier(tier: Tier) -> Find:
    return lambda message: sum(leak.tier == tier for leak in message.leaks)


LEAKS = Fact(
    "leaks",
    _leaking,
    (
        (Column("event_index", "integer", "", "event of the trace, from 0"), "said.event_index"),
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
"""A row a message of a scored game that tells private labels."""

AUDITS = (SPEECH, LEAKS)
"""What the audits of language find."""
