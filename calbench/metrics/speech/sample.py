"""Messages labelled by reading, on which the detectors are judged (G.5).

A sample is a file of one JSON object a line: a message with its sender's labels as the audit
command takes them, and what a reader found: ``leaks`` (label ids), ``proposal``,
``availability``, ``cost_or_constraint``. It is cut in two by the hash of the text, so that
detectors can be tuned on one half and judged on the other; messages written later are further
parts.
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
"""Detectors were tuned on the first. Errors in each of the others were read, and rules changed,
only after the part had been judged by rules that were older than it."""

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
        source: where it is from: written for the sample, played by whom, or a paper with its
            licence.
        text: of the message.
        labels: of its sender's items.
        known: texts of labels that everybody addressed knows.
        leaks: ids of the labels that it tells.
        proposal: whether it puts a slot forward.
        availability: whether it says if its sender could be there.
        cost_or_constraint: whether it says how hard that is, or what is in the way.
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
        """Which part of the sample it belongs to."""
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
