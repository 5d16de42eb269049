"""Second-hand leaks in lines of the audit command: :mod:`calbench.metrics.speech.secondhand`.

A line tells whose its labels are if it has a sender and recipients: the labels are of the sender,
of everybody else who lists them in the same conversation, and of their ``owners``. Two labels are
one if both id and words are the same.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from calbench.metrics.speech.audit_lines import (
    AddressedLine,
    LabelLine,
    MessageLine,
    Name,
    OwnedLabelLine,
)
from calbench.metrics.speech.leakage import Leak, PrivateLabel, leaks_in, passed_on_in
from calbench.metrics.speech.secondhand.grapevine import Grapevine


class LabelKey(NamedTuple):
    """What a label is known by in a conversation."""

    label_id: str
    text: str


class _Conversation:
    """The labels of one conversation, in the order listed, and who was told them."""

    def __init__(self) -> None:
        self.labels: dict[LabelKey, PrivateLabel] = {}
        self.owners: dict[LabelKey, dict[Name, None]] = {}
        self.held: dict[Name, dict[LabelKey, None]] = {}
        self.vine = Grapevine[Name, LabelKey](self.owners.__getitem__)

    def hold(self, sender: Name, label: OwnedLabelLine) -> None:
        """Note whose a label is."""
        key = key_of(label)
        self.labels.setdefault(key, _private(label))
        for owner in (sender, *label.owners):
            self.owners.setdefault(key, {})[owner] = None
            self.held.setdefault(owner, {})[key] = None


def _private(label: LabelLine) -> PrivateLabel:
    """Return a label as detectors take it, whose id names one label of all."""
    key = key_of(label)  # with the words: labels of different owners may share an id
    return PrivateLabel("\n".join(key), label.private_label, label.terms, label.tier)


def key_of(label: LabelLine) -> LabelKey:
    """Return what a label is known by."""
    return LabelKey(label.label_id, label.private_label)


class Hearsay:
    """Finds the labels that messages pass on, line by line."""

    def __init__(self, messages: Iterable[MessageLine]) -> None:
        """Take all messages first: who lists a label later may know it now."""
        self._by_name: dict[Name | None, _Conversation] = {}
        for message in messages:
            if isinstance(message, AddressedLine):
                found = self._by_name.setdefault(message.conversation, _Conversation())
                for label in message.labels:
                    found.hold(message.sender, label)

    def audit(self, message: MessageLine, number: int) -> dict[str, Any]:
        """Return what a message passes on, as key ``second_hand``.

        Args:
            message: the next one of the file.
            number: of its line.

        Returns:
            Nothing if the line does not tell who sent it and to whom.
        """
        if not isinstance(message, AddressedLine):
            return {}
        found = self._by_name[message.conversation]
        passed = self._passed(found, message)
        own = [_private(label) for label in message.labels]
        told = {leak.label_id for leak in leaks_in(message.text, own, message.known)}
        for label, private in zip(message.labels, own, strict=True):
            if private.label_id in told:
                found.vine.tell(key_of(label), message.sender, number, message.recipients)
        return {
            "second_hand": [
                _shown(found, key, leak, message, number) for key, leak in passed.items()
            ]
        }

    def _passed(self, found: _Conversation, message: AddressedLine) -> dict[LabelKey, Leak]:
        """Return the labels that a message tells to somebody to whom they are news."""
        sender = message.sender
        news = found.vine.news(sender, message.recipients)
        if not news:
            return {}
        heard = {found.labels[key].label_id: key for key in found.vine.heard(sender)}
        leaks = passed_on_in(
            message.text,
            [found.labels[key] for key in heard.values()],
            [found.labels[key] for key in found.held.get(sender, ())],
            message.known,
        )
        keys = {heard[leak.label_id]: leak for leak in leaks}
        return {key: leak for key, leak in keys.items() if key in news}


def _shown(
    found: _Conversation, key: LabelKey, leak: Leak, message: AddressedLine, number: int
) -> dict[str, Any]:
    """Note that a label was passed on, and return it as the output has it."""
    path = found.vine.tell(key, message.sender, number, message.recipients)
    return {
        "label_id": key.label_id,
        "span": leak.span,
        "tier": leak.tier,
        "start": leak.start,
        "end": leak.end,
        "owners": list(found.owners[key]),
        "learners": list(path[-1].learners),
        "path": [{"sender": step.speaker, "line": step.place} for step in path],
    }
