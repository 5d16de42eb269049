"""Messages labelled by a reader, on which the detectors are evaluated (G.5).

A sample is a file with one JSON object per line: a message with its sender's labels in the form of
the audit command, and what a reader found: ``leaks`` (label ids), ``proposal``, ``availability``,
``cost_or_constraint``. It is divided by the hash of the text into one half for tuning detectors and
one for evaluating them; messages written later are further parts.
"""

from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.errors import FileError
from calbench.files import first_problem, printable, read_bytes
from calbench.metrics.speech.audit_lines import LabelLine

Part = Literal[
    "tuning", "held-out", "later", "fresh", "fresh 2", "fresh 3", "fresh 4", "fresh 5", "last"
]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""Detectors were tuned on the first. For each of the others, errors were read and rules changed
only after the part had been evaluated with the rules from before it existed."""

WRITTEN: Final[dict[str, Part]] = {
    "written later": "later",
    "written fresh": "fresh",
    "written fresh 2": "fresh 2",
    "written fresh 3": "fresh 3",
    "written fresh 4": "fresh 4",
    "written fresh 5": "fresh 5",
    "written last": "last",
}
"""Parts by the source of their messages."""


class LabelledMessage(BaseModel):
    """One message of a sample, and what a reader found in it.

    Attributes:
        source: written for the sample, the players of its game, or a paper with its licence.
        text: of the message.
        labels: of its sender's items.
        known: texts of labels that all recipients know.
        leaks: ids of the labels that it tells.
        proposal: whether it proposes a slot.
        availability: whether it says if its sender can be there.
        cost_or_constraint: whether it says how hard that is, or what is there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    text: str
    labels: tuple[LabelLine, ...]
    known: tuple[str, ...] = ()
    leaks: tuple[str, ...]
    proposal: Annotated[bool, Field(strict=True)]
    availability: Annotated[bool, Field(strict=True)]
    cost_or_constraint: Annotated[bool, Field(strict=True)]

    @property
    def part(self) -> Part:
        """The part of the sample to which it belongs."""
        if self.source in WRITTEN:
            return WRITTEN[self.source]
        return PARTS[sha256(self.text.encode()).digest()[3] % 2 == 0]


def read_sample(path: Path) -> list[LabelledMessage]:
    """Read a labelled sample.

    Raises:
        FileError: naming the file, the line and the field that does not fit.
    """
    messages = []
    for place, line in enumerate(read_bytes(path).splitlines(), 1):
        try:
            messages.append(LabelledMessage.model_validate_json(line))
        except ValidationError as error:
            file = printable(str(path))
            raise FileError(f"{file}, line {place}: {first_problem(error)}") from error
    return messages
