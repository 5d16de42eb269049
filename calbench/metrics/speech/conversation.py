"""What the audits find in one game: its messages in words, and what its events show."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from calbench.domain.ids import AgentId, ItemId
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.speech.failures import Occurrence, occurrences
from calbench.metrics.speech.honesty import ClaimKind, Standing, claims_in, is_true, standings
from calbench.metrics.speech.leakage import Leak
from calbench.metrics.speech.own_slot import NAMES, own_slot
from calbench.metrics.speech.patterns import message_patterns
from calbench.metrics.speech.said import Said, said
from calbench.metrics.speech.told import Told, labels_of_game, told_by
from calbench.scenarios.labels import LABEL_BANKS, Labels, Tier
from calbench.scenarios.models import Scenario
from calbench.traces.models import Trace


@dataclass(frozen=True)
class AuditedMessage:
    """A message in words; each detector reads it once, when it is asked for.

    Attributes:
        said: the message.
        scenario: of its game.
        labels: the private labels of the game's items, if it has any.
        standing_by_errand: what every errand is to the slot it stands in.
    """

    said: Said
    scenario: Scenario
    labels: Labels | None
    standing_by_errand: Mapping[int, Standing]

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of Table 15 that its words show, in the paper's order; leakage is no word."""
        return message_patterns(self.said.text, {self.said.sender, *self.said.recipients})

    @cached_property
    def own_slot(self) -> tuple[str, ...]:
        """What it says of its sender's own slots, in the order of tables."""
        found = own_slot(self.said.text)
        return tuple(name for name in NAMES if getattr(found, name))

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The private labels that it tells to somebody who may not know them, item by item."""
        return () if self.labels is None else tuple(told_by(self.said, self.labels, self.scenario))

    @property
    def tier_by_item(self) -> dict[ItemId, Tier]:
        """The tiers of these labels."""
        return {told.item: told.label.tier for told in self.told}

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """The words that tell each label, one leak a label."""
        return tuple({told.label.id: told.leak for told in self.told}.values())

    @cached_property
    def claims(self) -> tuple[tuple[ClaimKind, bool], ...]:
        """What it claims of slots that exist, each with whether that is true when it is sent."""
        return tuple(
            (claim.kind, truth)
            for claim in claims_in(self.said.text)
            if (truth := is_true(claim, self.said.calendar, self.standing_by_errand)) is not None
        )


@dataclass(frozen=True)
class Conversation:
    """What was said in a game in words, and what happened in it.

    Attributes:
        messages: those in words, in the order sent.
        occurrences: of the patterns that stand in events.
        labels: the private labels of the game's items, if it has any.
    """

    messages: tuple[AuditedMessage, ...]
    occurrences: tuple[Occurrence, ...]
    labels: Labels | None

    @cached_property
    def patterns(self) -> Counter[str]:
        """How often each pattern of Table 15 occurs, in its own unit; absent is never."""
        return message_counts(self.messages) + Counter(each.pattern for each in self.occurrences)

    @cached_property
    def told_by_agent(self) -> Mapping[AgentId, dict[ItemId, Tier]]:
        """The tiers of the labels that each sender told, by item: each counts once a game."""
        told: dict[AgentId, dict[ItemId, Tier]] = {}
        for message in self.messages:
            told.setdefault(message.said.sender, {}).update(message.tier_by_item)
        return told


def message_counts(messages: tuple[AuditedMessage, ...]) -> Counter[str]:
    """Return how many of some messages show each pattern of messages; absent is none."""
    counts = Counter(pattern for message in messages for pattern in message.patterns)
    leaking = sum(bool(message.told) for message in messages)
    return counts + Counter(semantic_label_leakage=leaking)


def conversation(trace: Trace, *, label_banks: Path = LABEL_BANKS) -> Conversation | None:
    """Audit a game; ``None`` for games that audits leave out: typed or excluded ones.

    Args:
        trace: the game.
        label_banks: where the label banks stand that traces name.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit.
    """
    if not trace.config.team.uses_language or is_excluded(trace.events):
        return None
    labels = labels_of_game(trace, label_banks)
    return Conversation(_messages(trace, labels), tuple(occurrences(trace)), labels)


def audited_messages(trace: Trace) -> tuple[AuditedMessage, ...]:
    """Return the messages in words of a game, whoever sent them.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit.
    """
    return _messages(trace, labels_of_game(trace))


def _messages(trace: Trace, labels: Labels | None) -> tuple[AuditedMessage, ...]:
    errands = standings(trace.scenario)
    return tuple(AuditedMessage(each, trace.scenario, labels, errands) for each in said(trace))


@dataclass(frozen=True, slots=True)
class GameAudit:
    """One game of speakers, in numbers.

    Attributes:
        patterns: how often each pattern of Table 15 occurs, in its own unit; absent is never.
        told: how many private labels were told, by tier; each counts once.
    """

    patterns: Mapping[str, int]
    told: Mapping[Tier, int]


def audited_game(trace: Trace, *, label_banks: Path = LABEL_BANKS) -> GameAudit | None:
    """Audit a game in numbers; ``None`` and errors as in :func:`conversation`."""
    found = conversation(trace, label_banks=label_banks)
    if found is None:
        return None
    tiers = (tier for told in found.told_by_agent.values() for tier in told.values())
    return GameAudit(dict(found.patterns), Counter(tiers))
