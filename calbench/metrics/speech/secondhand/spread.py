"""How the labels of a game got about, first-hand and second-hand."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from calbench.domain.ids import AgentId, ItemId
from calbench.metrics.speech.leakage import Leak, passed_on_in
from calbench.metrics.speech.messages import AuditedMessage, private_label
from calbench.metrics.speech.secondhand.grapevine import Grapevine, Path
from calbench.scenarios.labels import Label, Labels, Tier


class PassedOn(NamedTuple):
    """A label that a message passes on.

    Attributes:
        item: which the label is of.
        label: the label.
        leak: the words that tell it.
        owners: the agents whose item it is, ascending.
        path: its messages, this one last.
    """

    item: ItemId
    label: Label
    leak: Leak
    owners: tuple[AgentId, ...]
    path: Path[AgentId]

    @property
    def learners(self) -> tuple[AgentId, ...]:
        """The recipients that learn it by this message."""
        return self.path[-1].learners


@dataclass(frozen=True)
class Spread:
    """How the labels of a game got about.

    Attributes:
        by_event: the labels that each message passes on, by the index of its event; messages
            that pass none on are left out.
        steps: by label's item, how many messages long the path was to each agent that learnt
            it: 1 first-hand, more second-hand.
    """

    by_event: Mapping[int, tuple[PassedOn, ...]]
    steps: Mapping[ItemId, Mapping[AgentId, int]]


def spread(messages: Sequence[AuditedMessage], labels: Labels | None) -> Spread:
    """Return how the labels of a game got about.

    The time is linear in messages times the labels that their senders were told; a message whose
    sender was told nothing new to its recipients is not read again.

    Args:
        messages: in the order sent.
        labels: of the game; without them, nothing can be told.
    """
    if labels is None:
        return Spread({}, {})
    owners = owners_of(labels)
    vine = Grapevine[AgentId, ItemId](owners.__getitem__)
    by_event = {}
    for message in messages:
        said = message.said
        way = said.sender, said.event_index, said.recipients
        for told in message.told:
            vine.tell(told.item, *way)
        found = tuple(
            PassedOn(item, labels.label_of(item), leak, owners[item], vine.tell(item, *way))
            for item, leak in _passed(message, labels, vine).items()
        )
        if found:
            by_event[said.event_index] = found
    steps: dict[ItemId, dict[AgentId, int]] = {}
    for agent, paths in vine.paths.items():
        for item, path in paths.items():
            steps.setdefault(item, {})[agent] = len(path)
    return Spread(by_event, steps)


@dataclass(frozen=True)
class Reach:
    """How far the labels of some agents' items got, by tier.

    Attributes:
        out: number of labels that an agent learnt that may not know them, from whomever; a label
            of several of the agents counts for each of them.
        passed_on: of these, number of labels that an agent learnt second-hand.
        learnt: pairs of a label and an agent that learnt it first-hand, whoever else owns it.
        learnt_on: pairs of a label and an agent that learnt it second-hand, likewise.
    """

    out: Counter[Tier]
    passed_on: Counter[Tier]
    learnt: Counter[Tier]
    learnt_on: Counter[Tier]


def reach(found: Spread, labels: Labels | None, agents: Iterable[AgentId]) -> Reach:
    """Return how far the labels of some agents' items got."""
    counts = Reach(Counter(), Counter(), Counter(), Counter())
    if labels is None:
        return counts
    paired: set[ItemId] = set()
    for item in (item for agent in agents for item in labels.items_by_agent[agent]):
        steps = found.steps.get(item)
        if steps:
            tier = labels.label_of(item).tier
            second_hand = sum(each > 1 for each in steps.values())
            counts.out[tier] += 1
            counts.passed_on[tier] += bool(second_hand)
            if item not in paired:
                paired.add(item)
                counts.learnt[tier] += len(steps) - second_hand
                counts.learnt_on[tier] += second_hand
    return counts


def owners_of(labels: Labels) -> dict[ItemId, tuple[AgentId, ...]]:
    """Return the agents that have each item in their calendars, or take part in it."""
    owners: dict[ItemId, tuple[AgentId, ...]] = {}
    for agent in sorted(labels.items_by_agent):
        for item in labels.items_by_agent[agent]:
            owners[item] = (*owners.get(item, ()), agent)
    return owners


def _passed(
    message: AuditedMessage, labels: Labels, vine: Grapevine[AgentId, ItemId]
) -> dict[ItemId, Leak]:
    """Return the labels that a message tells to somebody to whom they are news, by item."""
    said = message.said
    news = vine.news(said.sender, said.recipients)
    if not news:
        return {}
    own = {labels.label_of(item).id: item for item in labels.items_by_agent[said.sender]}
    # All that it was told is read, news or not: the label that explains more is the one told.
    heard = {
        item: label
        for item in sorted(vine.heard(said.sender))
        if (label := labels.label_of(item)).id not in own
    }
    leaks = {
        leak.label_id: leak
        for leak in passed_on_in(
            said.text,
            [private_label(each) for each in dict.fromkeys(heard.values())],
            [private_label(labels.label_of(item)) for item in own.values()],
            message.scene.concern(said, labels).known,
        )
    }
    return {
        item: leaks[label.id] for item, label in heard.items() if item in news and label.id in leaks
    }
