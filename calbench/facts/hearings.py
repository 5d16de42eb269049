"""Facts of hearings: which agent learnt which private label first from whom [C].

An agent learns a label once: by the first delivered message that tells it, if it may not know it
already, being neither its owner nor a participant of the meeting that it labels. Told by an owner
of the item it is first-hand, told by anybody else second-hand.
"""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.domain.ids import AgentId, ItemId
from calbench.facts.columns import columns, count, truth
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.speech import audited
from calbench.metrics.speech.conversation import Conversation
from calbench.metrics.speech.leakage import Leak
from calbench.metrics.speech.messages import Said
from calbench.metrics.speech.secondhand.spread import owners_of
from calbench.scenarios.labels import Label


class Hearing(NamedTuple):
    """An agent learns a label.

    Attributes:
        said: the message by which it does.
        listener: who learns it.
        owner: the agent of whose item the label is: who told it first.
        item: the errand or meeting that it labels.
        label: the label.
        leak: the words that tell it.
    """

    said: Said
    listener: AgentId
    owner: AgentId
    item: ItemId
    label: Label
    leak: Leak

    @property
    def is_second_hand(self) -> bool:
        """Whether somebody else than an owner told it."""
        return self.said.sender != self.owner

    @property
    def words(self) -> str:
        """The words that tell it, on one line."""
        return " ".join(self.leak.span.split())


def hearings(found: Conversation) -> Iterator[Hearing]:
    """Yield what each agent learns of the labels of others, in the order sent."""
    if found.labels is None:
        return
    owners = owners_of(found.labels)
    known: dict[AgentId, set[ItemId]] = {}  # by listener
    for message in found.messages:
        sender = message.said.sender
        told = {each.item: (sender, each.label, each.leak) for each in message.told}
        told |= {
            each.item: (each.path[0].speaker, each.label, each.leak)
            for each in found.passed_on(message)
        }
        for item, (owner, label, leak) in told.items():
            for listener in message.said.recipients:
                mine = known.setdefault(listener, set())
                if listener not in owners[item] and item not in mine:
                    mine.add(item)
                    yield Hearing(message.said, listener, owner, item, label, leak)


OWNER = count("owner", "", "agent of whose item the label is, from 0: who told it first")
SPEAKER = count("speaker", "", "agent that told it by this message, from 0")
SECOND_HAND = truth("is_second_hand", "the speaker is not the owner, but was told it", "C")


def _hearings(game: MeasuredGame) -> Iterator[Hearing]:
    found = audited(game)
    return iter(()) if found is None else hearings(found)


HEARINGS = Fact(
    "hearings",
    _hearings,
    columns(
        """
    event_index round
    listener (count): agent that learns it, from 0
    owner speaker is_second_hand
    item (count): errand or meeting that it labels
    tier (text): of the label
    words (text; C): words that tell it
    """,
        of=[OWNER, SPEAKER, SECOND_HAND],
    ),
    {
        "event_index": "said.event_index",
        "round": "said.round",
        "speaker": "said.sender",
        "tier": "label.tier",
    },
)
"""Every private label that an agent of a scored game learns, with the message by which it does."""
