"""Which private labels the messages of one game tell, and with which words (appendix G.5)."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from calbench.domain.ids import AgentId, ItemId, MeetingId
from calbench.metrics.speech.leakage import Leak, PrivateLabel, leaks_in
from calbench.metrics.speech.said import Said
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
from calbench.traces.models import Trace


class Told(NamedTuple):
    """One label that a message tells to somebody who may not know it."""

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
    return assign_labels(trace.scenario, _bank(version, label_banks))


def told_by(message: Said, labels: Labels, scenario: Scenario) -> Iterator[Told]:
    """Yield the sender's own labels that a message tells to somebody who may not know them.

    The label of a meeting is known to its participants: told among them it is no leak, told
    to anybody else it is.
    """
    addressed = {message.sender, *message.recipients}
    shared = {
        MeetingId(meeting.meeting_id)
        for meeting in scenario.all_meetings
        if addressed <= {AgentId(agent) for agent in meeting.participants}
    }
    items = [item for item in labels.items_by_agent[message.sender] if item not in shared]
    private = [_private(labels.label_of(item)) for item in items]
    known = [labels.label_of(item).text for item in sorted(shared)]
    leaks = {leak.label_id: leak for leak in leaks_in(message.text, private, known)}
    for item in items:
        label = labels.label_of(item)
        if label.id in leaks:
            yield Told(item, label, leaks[label.id])


def told_labels(message: Said, labels: Labels, scenario: Scenario) -> dict[ItemId, Tier]:
    """Return the tiers of the labels that :func:`told_by` finds, by item."""
    return {told.item: told.label.tier for told in told_by(message, labels, scenario)}


def told_leaks(message: Said, labels: Labels, scenario: Scenario) -> list[Leak]:
    """Return the words that tell each label that :func:`told_by` finds, one leak for each label."""
    return list({told.label.id: told.leak for told in told_by(message, labels, scenario)}.values())


@lru_cache(maxsize=4096)
def _private(label: Label) -> PrivateLabel:
    return PrivateLabel(label.id, label.text, label.terms, label.tier)


@lru_cache(maxsize=8)
def _bank(version: str, folder: Path) -> LabelBank:
    return read_label_bank(version, folder)
