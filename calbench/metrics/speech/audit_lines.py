"""The input and output lines of the audit command: any messages, one JSON object each.

A line tells whose its labels are if it has a sender and recipients: the labels are of the sender,
of everybody else who lists them in the same conversation, and of their ``owners``. Two labels are
one if both id and words are the same.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, ValidationError
from pydantic_core import PydanticCustomError

from calbench.errors import FileError
from calbench.files import first_problem, printable, read_bytes, shorten, unique_keys
from calbench.metrics.speech.detectors import own_slot
from calbench.metrics.speech.evidence import PrivateLabel
from calbench.metrics.speech.leakage import Leak, leaks_in, passed_on_in
from calbench.metrics.speech.patterns import message_patterns
from calbench.metrics.speech.secondhand import Grapevine

MAX_LINE = 4_000_000
"""Greatest length of a line in bytes [C]."""

MAX_LABELS = 1000
"""Greatest number of labels of one message [C]."""

MAX_NAMES = 1000
"""Greatest number of recipients of one message, and of owners of one label [C]."""

Text = Annotated[str, Field(max_length=100_000)]


Name = StrictInt | Annotated[str, Field(max_length=1000)]
"""Of somebody who sends or receives messages; one name is written in one way; its length [C]."""


def _listed(names: object) -> object:
    """Take one name as a list of it."""
    return [names] if isinstance(names, int | str) else names


Names = Annotated[tuple[Name, ...], Field(max_length=MAX_NAMES), BeforeValidator(_listed)]


def _only_listed(names: object) -> object:
    """Refuse recipients that are no list: one text may hold several names."""
    if not isinstance(names, list | tuple):
        raise PydanticCustomError("recipients", "a list of agents' names or numbers")
    return names


Recipients = Annotated[tuple[Name, ...], Field(max_length=MAX_NAMES), BeforeValidator(_only_listed)]


class LabelLine(BaseModel):
    """One label of a message's sender.

    Without terms only its own words count. The tier is passed through as it is, because other
    studies have different tiers.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    label_id: Annotated[str, Field(max_length=1000)]
    private_label: Annotated[str, Field(max_length=1000)]
    terms: Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], Field(max_length=200)] = ()
    tier: Annotated[str, Field(max_length=100)]

    def private_label_of(self) -> PrivateLabel:
        """Return the label in the form of the detectors."""
        return PrivateLabel(self.label_id, self.private_label, self.terms, self.tier)


class MessageLine(BaseModel):
    """One message. ``known`` may hold labels that all recipients know."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: Text
    labels: Annotated[tuple[LabelLine, ...], Field(max_length=MAX_LABELS)] = ()
    known: Annotated[tuple[Text, ...], Field(max_length=MAX_LABELS)] = ()


class OwnedLabelLine(LabelLine):
    """The same of a line that tells whose it is: of the sender's, and of ``owners``."""

    owners: Names = ()


class AddressedLine(MessageLine):
    """One message with whom it was from and to, so that its labels have owners.

    Messages of one ``conversation`` are in the order sent; nobody hears those of another.
    """

    labels: Annotated[tuple[OwnedLabelLine, ...], Field(max_length=MAX_LABELS)] = ()
    sender: Name
    recipients: Recipients
    conversation: Name | None = None


class Placed(NamedTuple):
    """A line of a file, its place in words, and its number from 1."""

    line: bytes
    place: str
    number: int


def placed(path: Path) -> Iterator[Placed]:
    """Yield the lines of a file that are not empty, each with its place.

    Raises:
        FileError: it cannot be read.
    """
    shown = printable(str(path))
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if line.strip():
            yield Placed(line, f"{shown}, line {number}", number)


def written_line(value: dict[str, Any]) -> bytes:
    """Return an object as one line of ASCII."""
    return json.dumps(value).encode() + b"\n"


def read_line(line: bytes, place: str) -> tuple[dict[str, Any], MessageLine]:
    """Return the object of one line, and the message in it: with its sender, if it has recipients.

    Raises:
        FileError: names the place, the field and the problem.
    """
    if len(line) > MAX_LINE:
        raise FileError(f"{place}: longer than {MAX_LINE} bytes; write one message per line")
    try:
        given: Any = json.loads(line, parse_constant=_refuse, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        reason = shorten(printable(str(error)), 120)
        raise FileError(f"{place}: not JSON: {reason}; write one object per line") from error
    if not isinstance(given, dict):
        raise FileError(f"{place}: not a JSON object; write one object per line")
    is_addressed = given.get("recipients") is not None
    if is_addressed and given.get("sender") is None:
        raise FileError(
            f"{place}, field sender: missing, but there are recipients; say who sent it"
        )
    try:
        return given, (AddressedLine if is_addressed else MessageLine).model_validate(given)
    except ValidationError as error:
        raise FileError(f"{place}, field {first_problem(error)}") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def audit(message: MessageLine) -> dict[str, Any]:
    """Return what the audits of one message find: ``patterns``, ``own_slot`` and ``leaks``."""
    labels = [label.private_label_of() for label in message.labels]
    leaks = leaks_in(message.text, labels, message.known)
    patterns = list(message_patterns(message.text))
    return {
        "patterns": patterns + ["semantic_label_leakage"] * bool(leaks),
        "own_slot": own_slot(message.text)._asdict(),
        "leaks": [leak._asdict() for leak in leaks],
    }


class LabelKey(NamedTuple):
    """The identity of a label within a conversation."""

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
    """Return the identity of a label."""
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
        **leak._replace(label_id=key.label_id)._asdict(),
        "owners": list(found.owners[key]),
        "learners": list(path[-1].learners),
        "path": [{"sender": step.speaker, "line": step.place} for step in path],
    }
