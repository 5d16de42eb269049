"""Messages labelled by a reader, on which the detectors are evaluated (G.5).

There are two samples, each a file with one JSON object per line. *Others* were written and labelled
twice apart from this project: ``label_ids`` of a bank, and what the ``writer`` and a second
``reader`` found; half of them, by the hash of the id, was kept unread while detectors were made.
*Ours* have their sender's labels in the form of the audit command, and what one reader found. They
are divided by the hash of the text into one half for tuning detectors and one for evaluating them;
messages written later are further parts.
"""

from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.errors import FileError
from calbench.files import check_keys, first_problem, printable, read_bytes
from calbench.metrics.speech.audit_lines import LabelLine
from calbench.scenarios.labels import LABEL_BANK, LabelBank, read_label_bank

Part = Literal[
    "tuning", "held-out", "later", "fresh", "fresh 2", "fresh 3", "fresh 4", "fresh 5", "last"
]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""Of ours. Rules were tuned on the first. For each of the others, errors were read and rules
changed only after the part had been evaluated with the rules from before it existed."""

WRITTEN: Final[dict[str, Part]] = {
    "written later": "later",
    "written fresh": "fresh",
    "written fresh 2": "fresh 2",
    "written fresh 3": "fresh 3",
    "written fresh 4": "fresh 4",
    "written fresh 5": "fresh 5",
    "written last": "last",
}
"""Parts of ours by the source of their messages."""

Flag = Annotated[bool, Field(strict=True)]


class Found(BaseModel):
    """What one reader found in a message: the ids of the labels that it tells, and four flags."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    leaks: tuple[str, ...]
    proposal: Flag
    availability: Flag
    cost_or_constraint: Flag
    exact_cost: Flag


class TwiceLabelled(BaseModel):
    """One message of others, as its file has it.

    Attributes:
        id: unique in the file.
        text: of the message.
        label_ids: of its sender's items, in the first bank.
        writer: what its writer found, which counts as true.
        reader: what a second reader found, who did not see that.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    text: str
    label_ids: tuple[str, ...]
    writer: Found
    reader: Found


class LabelledMessage(BaseModel):
    """One message of a sample, and what a reader found in it.

    Attributes:
        source: written for the sample, the players of its game, or a paper with its licence; of
            others their id.
        text: of the message.
        labels: of its sender's items.
        known: texts of labels that all recipients know.
        leaks: ids of the labels that it tells.
        proposal: whether it proposes a slot.
        availability: whether it says if its sender can be there.
        cost_or_constraint: whether it says how hard that is, or what is there.
        exact_cost: whether it gives the sender's cost as a number; ``None`` in ours.
        second: what a second reader found; ``None`` in ours.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    text: str
    labels: tuple[LabelLine, ...]
    known: tuple[str, ...] = ()
    leaks: tuple[str, ...]
    proposal: Flag
    availability: Flag
    cost_or_constraint: Flag
    exact_cost: Flag | None = None
    second: Found | None = None

    @classmethod
    def of(cls, message: TwiceLabelled, bank: LabelBank) -> Self:
        """Return a message of others with the labels of its sender.

        Raises:
            KeyError: the bank has no such label.
        """
        by_id = {label.id: label for label in bank.labels}
        labels = [by_id[label_id] for label_id in message.label_ids]
        return cls(
            source=message.id,
            text=message.text,
            labels=tuple(
                LabelLine(
                    label_id=label.id, private_label=label.text, terms=label.terms, tier=label.tier
                )
                for label in labels
            ),
            **message.writer.model_dump(),
            second=message.reader,
        )

    @property
    def key(self) -> str:
        """What names the message: the id of others, the digest of the text of ours."""
        return self.source if self.second else sha256(self.text.encode()).hexdigest()[:12]

    @property
    def part(self) -> Part:
        """The part of our sample to which it belongs."""
        if self.source in WRITTEN:
            return WRITTEN[self.source]
        return PARTS[sha256(self.text.encode()).digest()[3] % 2 == 0]

    @property
    def is_kept(self) -> bool:
        """Whether a message of others was kept unread while detectors were made."""
        return sha256(self.source.encode()).digest()[0] % 2 == 1


Line = TypeVar("Line", bound=BaseModel)


def read_sample(path: Path) -> list[LabelledMessage]:
    """Read our sample.

    Raises:
        FileError: naming the file, the line and the field that does not fit.
    """
    return _read(path, LabelledMessage)


def read_others(path: Path, bank: LabelBank | None = None) -> list[LabelledMessage]:
    """Read the sample of others; their labels are those of a bank, by default of the first.

    Raises:
        FileError: naming the file, the line and the field that does not fit.
    """
    labels = read_label_bank(LABEL_BANK) if bank is None else bank
    messages = []
    for place, message in enumerate(_read(path, TwiceLabelled), 1):
        try:
            messages.append(LabelledMessage.of(message, labels))
        except KeyError as error:
            file = printable(str(path))
            unknown = f"field label_ids: the bank has no label {error}"
            raise FileError(f"{file}, line {place}, {unknown}") from error
    return messages


def _read(path: Path, model: type[Line]) -> list[Line]:
    lines, file = [], printable(str(path))
    for place, line in enumerate(read_bytes(path).splitlines(), 1):
        try:
            lines.append(model.model_validate_json(line))
        except ValidationError as error:
            raise FileError(f"{file}, line {place}: {first_problem(error)}") from error
        check_keys(f"{file}, line {place}", line)
    return lines
