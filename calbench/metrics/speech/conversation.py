"""What the audits find in the messages and events of one game, in total and by player."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from calbench.domain.ids import AgentId, ItemId
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.speech.honesty import ClaimKind
from calbench.metrics.speech.leakage import Leak
from calbench.metrics.speech.messages import AuditedMessage, Said, audited_messages, scene_of
from calbench.metrics.speech.patterns import Occurrence, occurrences
from calbench.metrics.speech.secondhand import PassedOn, Reach, Spread, reach, spread
from calbench.scenarios.labels import LABEL_BANKS, Labels, Tier
from calbench.traces.models import Trace


@dataclass(frozen=True)
class Conversation:
    """The messages of a game in words, and the patterns in its events.

    Attributes:
        messages: in words, in the order sent.
        occurrences: of the patterns that are found in events.
        labels: the private labels of the game's items, if it has any.
    """

    messages: tuple[AuditedMessage, ...]
    occurrences: tuple[Occurrence, ...]
    labels: Labels | None

    @cached_property
    def told_by_agent(self) -> Mapping[AgentId, dict[ItemId, Tier]]:
        """The tiers of the labels that each sender told, by item: each counts once per game."""
        told: dict[AgentId, dict[ItemId, Tier]] = {}
        for message in self.messages:
            told.setdefault(message.said.sender, {}).update(message.tier_by_item)
        return told

    @cached_property
    def spread(self) -> Spread:
        """How labels got about, from those whose items they label and from others."""
        return spread(self.messages, self.labels)

    def passed_on(self, message: AuditedMessage) -> tuple[PassedOn, ...]:
        """Return the labels of others that a message passes on."""
        return self.spread.by_event.get(message.said.event_index, ())


def conversation(trace: Trace, *, label_banks: Path = LABEL_BANKS) -> Conversation | None:
    """Audit a game; ``None`` for games without language and for excluded games.

    Args:
        trace: the game.
        label_banks: folder of the label banks.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit.
    """
    if not trace.config.team.uses_language or is_excluded(trace.events):
        return None
    scene = scene_of(trace, label_banks)
    return Conversation(audited_messages(trace, scene), tuple(occurrences(trace)), scene.labels)


@dataclass(frozen=True)
class Speech:
    """What one player, or all players together, said and did in a game.

    Attributes:
        player: its name; ``None`` for all together.
        messages: in words.
        patterns: how often each pattern occurs, in its own unit.
        told: number of labels told, by tier; each label of an agent counts once.
        held: number of labels of the player's items, by tier.
        passed: its messages that pass labels of others on, with these.
        others: number of labels of others passed on, by tier; each counts once for an agent.
        reach: how far the labels of the player's items got.
    """

    player: str | None
    messages: tuple[AuditedMessage, ...]
    patterns: Counter[str]
    told: Counter[Tier]
    held: Counter[Tier]
    passed: tuple[tuple[AuditedMessage, tuple[PassedOn, ...]], ...]
    others: Counter[Tier]
    reach: Reach

    @cached_property
    def own_slot(self) -> Counter[str]:
        """Number of messages with each own-slot label."""
        return Counter(name for message in self.messages for name in message.own_slot)

    @cached_property
    def leaking(self) -> Counter[Tier]:
        """Number of messages that tell a label of each tier."""
        return Counter(
            tier for message in self.messages for tier in set(message.tier_by_item.values())
        )

    @cached_property
    def passing(self) -> Counter[str]:
        """Number of messages that pass on a label of each tier, and of any."""
        return Counter(
            tier
            for _, labels in self.passed
            for tier in ("all", *{each.label.tier for each in labels})
        )

    @cached_property
    def disclosing(self) -> Counter[str]:
        """Number of messages that tell or pass on a label of each tier, and of any."""
        passed = {message.said.event_index: labels for message, labels in self.passed}
        found: Counter[str] = Counter()
        for message in self.messages:
            labels = passed.get(message.said.event_index, ())
            tiers = {*message.tier_by_item.values(), *(each.label.tier for each in labels)}
            found.update(["all", *tiers] if tiers else ())
        return found

    @cached_property
    def claims(self) -> Counter[tuple[ClaimKind, bool]]:
        """Number of claims of each kind, by whether they were true."""
        return Counter(claim for message in self.messages for claim in message.claims)


def speeches(found: Conversation, names: Sequence[str]) -> Iterator[Speech]:
    """Yield the speech of all players together, then of each player.

    Args:
        found: the conversation of one game.
        names: of the players, by agent.
    """
    yield _speech(None, range(len(names)), found)
    agents_by_player: dict[str, list[int]] = {}
    for agent, name in enumerate(names):
        agents_by_player.setdefault(name, []).append(agent)
    for name, agents in agents_by_player.items():
        yield _speech(name, agents, found)


def _speech(player: str | None, agents: Iterable[int], found: Conversation) -> Speech:
    own = frozenset(map(AgentId, agents))
    messages = tuple(each for each in found.messages if each.said.sender in own)
    shown = Counter(pattern for message in messages for pattern in message.patterns)
    shown.update(
        each.pattern
        for each in found.occurrences
        if player is None or not own.isdisjoint(each.agents)
    )
    shown["semantic_label_leakage"] = sum(bool(message.told) for message in messages)
    told = (found.told_by_agent.get(agent, {}).values() for agent in own)
    passed = tuple((each, labels) for each in messages if (labels := found.passed_on(each)))
    others = {
        (each.said.sender, one.item): one.label.tier for each, labels in passed for one in labels
    }
    return Speech(
        player,
        messages,
        shown,
        Counter(tier for tiers in told for tier in tiers),
        _held(found.labels, own),
        passed,
        Counter(others.values()),
        reach(found.spread, found.labels, own),
    )


def _held(labels: Labels | None, agents: Iterable[AgentId]) -> Counter[Tier]:
    if labels is None:
        return Counter()
    items = (item for agent in agents for item in labels.items_by_agent[agent])
    return Counter(labels.label_of(item).tier for item in items)


BETWEEN = " / "
"""Separates the words of different labels."""


def _in_one_line(leaks: Iterable[Leak]) -> str:
    return BETWEEN.join(" ".join(leak.span.split()) for leak in leaks)


class LeakingMessage(NamedTuple):
    """A message that gives private labels away.

    Attributes:
        said: the message.
        player: its sender.
        leaks: the words that tell each label of the sender's own.
        passed_on: the labels of others that it passes on.
    """

    said: Said
    player: str
    leaks: tuple[Leak, ...]
    passed_on: tuple[PassedOn, ...]

    @property
    def words(self) -> str | None:
        """The words that tell the sender's own labels, on one line; ``None`` if there are none."""
        return _in_one_line(self.leaks) or None

    @property
    def passed_on_words(self) -> str | None:
        """The words that pass on labels of others, on one line; ``None`` if there are none."""
        return _in_one_line({each.label.id: each.leak for each in self.passed_on}.values()) or None


def leaking_messages(found: Conversation, names: Sequence[str]) -> Iterator[LeakingMessage]:
    """Yield the messages that tell private labels or pass them on, in the order sent."""
    for message in found.messages:
        passed = found.passed_on(message)
        if message.told or passed:
            yield LeakingMessage(message.said, names[message.said.sender], message.leaks, passed)


class SecondHandLeak(NamedTuple):
    """A label that a message passes on: the message, its sender, and the owners' players."""

    said: Said
    player: str
    owner_players: tuple[str, ...]
    passed_on: PassedOn

    @property
    def words(self) -> str:
        """The words that tell it, on one line."""
        return _in_one_line([self.passed_on.leak])


def second_hand_leaks(found: Conversation, names: Sequence[str]) -> Iterator[SecondHandLeak]:
    """Yield the labels that messages pass on, in the order sent, then by item."""
    for message in found.messages:
        for each in found.passed_on(message):
            owners = tuple(sorted({names[owner] for owner in each.owners}))
            yield SecondHandLeak(message.said, names[message.said.sender], owners, each)
