"""The messages of a game in words, with the state when each was sent and the audits' findings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from calbench.domain.ids import AgentId, ItemId, MeetingId
from calbench.domain.messages import Text
from calbench.metrics.speech.detectors import own_slot
from calbench.metrics.speech.evidence import LabelIndex, PrivateLabel
from calbench.metrics.speech.honesty import ClaimKind, Standing, claims_in, is_true, standings
from calbench.metrics.speech.leakage import Leak, leaks_in
from calbench.metrics.speech.patterns import message_patterns
from calbench.scenarios.labels import (
    LABEL_BANKS,
    Label,
    LabelBank,
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


@dataclass(frozen=True, eq=False)
class Concern:
    """What a message can tell between a sender and its recipients; compared by identity.

    Attributes:
        named: the sender's items whose labels a recipient may not know, with these.
        private: these labels in the form of the detectors.
        known: texts of the labels that all of them know.
        others: labels of the items of which none is the sender's.
        index: of all labels of the game.
    """

    named: tuple[tuple[ItemId, Label], ...] = ()
    private: tuple[PrivateLabel, ...] = ()
    known: tuple[str, ...] = ()
    others: tuple[PrivateLabel, ...] = ()
    index: LabelIndex | None = None


class Scene:
    """What is known of a game when its messages are judged, the same for all of them.

    Attributes:
        labels: the private labels of the game's items, if it has any.
        standing_by_errand: whether each errand is blocked or movable.
    """

    def __init__(self, scenario: Scenario, labels: Labels | None) -> None:
        """Take a game's scenario and its labels, see :func:`scene_of`."""
        self.labels = labels
        self.standing_by_errand: Mapping[int, Standing] = standings(scenario)
        self._members = {
            MeetingId(meeting.meeting_id): frozenset(map(AgentId, meeting.participants))
            for meeting in scenario.all_meetings
        }
        by_item = {} if labels is None else labels.label_by_item
        self._all = list(dict.fromkeys(private_label(by_item[item]) for item in sorted(by_item)))
        self._index = LabelIndex(self._all)
        self._concerns: dict[tuple[AgentId, tuple[AgentId, ...]], Concern] = {}

    def concern(self, message: Said) -> Concern:
        """Return what a message can tell; the same for all with this sender and recipients.

        The participants of a meeting know its label, so a message among them is no leak of it.
        """
        between = message.sender, message.recipients
        if between not in self._concerns:
            labels = self.labels
            self._concerns[between] = Concern() if labels is None else self._told(labels, *between)
        return self._concerns[between]

    def _told(self, labels: Labels, sender: AgentId, recipients: tuple[AgentId, ...]) -> Concern:
        shared = {
            each for each, members in self._members.items() if {sender, *recipients} <= members
        }
        items = labels.items_by_agent[sender]
        named = [(each, labels.label_of(each)) for each in items if each not in shared]
        known = [labels.label_of(item).text for item in sorted(shared)]
        own = {labels.label_of(item).id for item in items}
        return Concern(
            tuple(named),
            tuple([private_label(label) for _, label in named]),
            tuple(known),
            tuple([each for each in self._all if each.label_id not in own]),
            self._index,
        )


@dataclass(frozen=True)
class _Labelled:
    """A scenario, known by its digest, and its bank of labels, if its games have one."""

    digest: str
    bank: LabelBank | None
    scenario: Scenario = field(compare=False)


@lru_cache(maxsize=8)  # several teams play on a scenario one after the other
def _scene(these: _Labelled) -> Scene:
    bank = these.bank
    return Scene(these.scenario, None if bank is None else assign_labels(these.scenario, bank))


def scene_of(trace: Trace, label_banks: Path = LABEL_BANKS) -> Scene:
    """Return what is known of a game, with the private labels of its items if it has any.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit.
    """
    version, scenario = trace.config.label_bank, trace.scenario
    bank = None if version is None else read_label_bank(version, label_banks)
    return _scene(_Labelled(scenario.play_digest, bank, scenario))


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
        return own_slot(self.said.text).names

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The sender's own labels that it tells to an agent that may not know them, by item."""
        return _told(self.said.text, self.scene.concern(self.said))

    @cached_property
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


@lru_cache(maxsize=4096)  # players repeat themselves, in games on one scenario too
def _told(text: str, concern: Concern) -> tuple[Told, ...]:
    touched = concern.index.touched(text) if concern.index and concern.private else set[str]()
    private, others = (
        [label for label in labels if label.label_id in touched]
        for labels in (concern.private, concern.others)
    )
    if not private:  # most messages
        return ()
    found = leaks_in(text, private, concern.known, others)
    leaks = {each.label_id: each for each in found}
    return tuple([Told(*each, leaks[each[1].id]) for each in concern.named if each[1].id in leaks])


def audited_messages(trace: Trace, scene: Scene) -> tuple[AuditedMessage, ...]:
    """Return the messages in words of a game, in the order sent.

    Args:
        trace: the game.
        scene: what is known of it, see :func:`scene_of`.
    """
    return tuple(AuditedMessage(each, scene) for each in said(trace))
