"""The messages of a game in words, with the state when each was sent and the audits' findings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from calbench.domain.ids import AgentId, ItemId, MeetingId
from calbench.domain.messages import Text
from calbench.metrics.speech.detectors import own_slot
from calbench.metrics.speech.honesty import ClaimKind, Standing, claims_in, is_true, standings
from calbench.metrics.speech.leakage import Leak, PrivateLabel, leaks_in
from calbench.metrics.speech.patterns import message_patterns
from calbench.metrics.speech.rules import NAMES
from calbench.scenarios.labels import (
    LABEL_BANKS,
    Label,
    Labels,
    Tier,
    assign_labels,
    read_label_bank,
)
from calbench.scenarios.models import Scenario
from calbench.traces.events import (
    AgentRegistered,
    AllAgentGroupchatSent,
    BatchApplied,
    CalendarIds,
    DmSent,
    ParticipantGroupchatSent,
)
from calbench.traces.models import Trace

_SENT = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent)
_CALENDARS = (AgentRegistered, BatchApplied)


@dataclass(frozen=True, slots=True)
class Said:
    """One message in words.

    Attributes:
        event_index: of the message among the game's events, from 0.
        round: number of the round, from 0.
        sender: of the message.
        recipients: to which it was delivered.
        text: as sent.
        calendar: the sender's, by slot, at that time.
    """

    event_index: int
    round: int
    sender: AgentId
    recipients: tuple[AgentId, ...]
    text: str
    calendar: CalendarIds


def said(trace: Trace) -> Iterator[Said]:
    """Yield the delivered text messages of a game, in the order sent."""
    calendars: dict[AgentId, CalendarIds] = {}
    for index, event in enumerate(trace.events):
        if isinstance(event, _CALENDARS):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, _SENT) and isinstance(event.content, Text):
            yield Said(
                event_index=index,
                round=event.round,
                sender=event.from_agent,
                recipients=event.to_agents,
                text=event.content.text,
                calendar=calendars.get(event.from_agent, ()),
            )


class Told(NamedTuple):
    """One label that a message tells to an agent that may not know it."""

    item: ItemId
    label: Label
    leak: Leak


def labels_of_game(trace: Trace, label_banks: Path = LABEL_BANKS) -> Labels | None:
    """Return the private labels of a game's items; ``None`` if the game has none.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit.
    """
    version = trace.config.label_bank
    if version is None:
        return None
    return assign_labels(trace.scenario, read_label_bank(version, label_banks))


class Concern(NamedTuple):
    """What a message can tell between a sender and its recipients.

    Attributes:
        items: of the sender's, whose labels a recipient may not know.
        private: their labels in the form of the detectors.
        known: texts of the labels that all of them know.
    """

    items: tuple[ItemId, ...]
    private: tuple[PrivateLabel, ...]
    known: tuple[str, ...]


class Scene:
    """What is known of a game when its messages are judged, the same for all of them.

    Attributes:
        labels: the private labels of the game's items, if it has any.
        standing_by_errand: whether each errand is blocked or movable.
    """

    def __init__(self, scenario: Scenario, labels: Labels | None) -> None:
        """Take a game's scenario and its labels, see :func:`labels_of_game`."""
        self.labels = labels
        self.standing_by_errand: Mapping[int, Standing] = standings(scenario)
        self._members = {
            MeetingId(meeting.meeting_id): frozenset(map(AgentId, meeting.participants))
            for meeting in scenario.all_meetings
        }
        self._concerns: dict[tuple[AgentId, tuple[AgentId, ...]], Concern] = {}
        self._others: dict[AgentId, tuple[PrivateLabel, ...]] = {}

    def others(self, agent: AgentId) -> tuple[PrivateLabel, ...]:
        """Return the labels of the items of which none is the agent's."""
        if agent not in self._others and self.labels is not None:
            labels = self.labels
            own = {labels.label_of(item).id for item in labels.items_by_agent[agent]}
            items = sorted({item for each in labels.items_by_agent.values() for item in each})
            named = dict.fromkeys(labels.label_of(item) for item in items)
            theirs = [private_label(each) for each in named if each.id not in own]
            self._others[agent] = tuple(theirs)
        return self._others.get(agent, ())

    def concern(self, message: Said, labels: Labels) -> Concern:
        """Return what a message can tell; the same for all with this sender and recipients.

        The participants of a meeting know its label, so a message among them is no leak of it.
        """
        between = message.sender, message.recipients
        found = self._concerns.get(between)
        if found is None:
            addressed = {message.sender, *message.recipients}
            shared = {each for each, members in self._members.items() if addressed <= members}
            items = [each for each in labels.items_by_agent[message.sender] if each not in shared]
            private = [private_label(labels.label_of(item)) for item in items]
            known = [labels.label_of(item).text for item in sorted(shared)]
            found = self._concerns[between] = Concern(tuple(items), tuple(private), tuple(known))
        return found


@lru_cache(maxsize=4096)
def private_label(label: Label) -> PrivateLabel:
    """Return a label in the form of the detectors."""
    return PrivateLabel(label.id, label.text, label.terms, label.tier)


@dataclass(frozen=True)
class AuditedMessage:
    """A message in words; each detector reads it at most once.

    Attributes:
        said: the message.
        scene: of its game.
    """

    said: Said
    scene: Scene

    @property
    def labels(self) -> Labels | None:
        """The private labels of the game's items, if it has any."""
        return self.scene.labels

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of Table 15 in its words, in the paper's order; leakage is found separately."""
        return message_patterns(self.said.text, {self.said.sender, *self.said.recipients})

    @cached_property
    def own_slot(self) -> tuple[str, ...]:
        """What it says about its sender's own slots, in the order of tables."""
        found = own_slot(self.said.text)
        return tuple(name for name in NAMES if getattr(found, name))

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The sender's own labels that it tells to an agent that may not know them, by item."""
        labels = self.labels
        if labels is None:
            return ()
        items, private, known = self.scene.concern(self.said, labels)
        others = self.scene.others(self.said.sender)
        leaks = {each.label_id: each for each in leaks_in(self.said.text, private, known, others)}
        if not leaks:
            return ()
        named = [(item, labels.label_of(item)) for item in items]
        return tuple([Told(*each, leaks[each[1].id]) for each in named if each[1].id in leaks])

    @property
    def tier_by_item(self) -> dict[ItemId, Tier]:
        """The tiers of these labels."""
        return {told.item: told.label.tier for told in self.told}

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """The words that tell each label, one leak per label."""
        return tuple({told.label.id: told.leak for told in self.told}.values())

    @cached_property
    def claims(self) -> tuple[tuple[ClaimKind, bool], ...]:
        """Its claims about slots, each with whether it was true when sent."""
        calendar, standing = self.said.calendar, self.scene.standing_by_errand
        return tuple(
            (claim.kind, truth)
            for claim in claims_in(self.said.text)
            if (truth := is_true(claim, calendar, standing)) is not None
        )


def audited_messages(trace: Trace, labels: Labels | None) -> tuple[AuditedMessage, ...]:
    """Return the messages in words of a game, in the order sent.

    Args:
        trace: the game.
        labels: its private labels, see :func:`labels_of_game`.
    """
    scene = Scene(trace.scenario, labels)
    return tuple(AuditedMessage(each, scene) for each in said(trace))
