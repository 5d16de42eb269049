"""Experiments that feed pages of their own, and what others published beside them."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calbench.report.results import ExperimentResults, Row, read_table

REPRODUCTION = "reproduction"
CAP4 = "reproduction-cap4"
FRONTIER = "frontier"
SCALE = "scale"

LANGUAGE = "language"
SMOLLM2 = "smollm2"

CHANNELS: Mapping[str, str] = {
    LANGUAGE: "private messages",
    "language-participants": "to all participants",
    "language-everyone": "to all agents",
}
"""Experiments with scripted speakers, by how their speakers can talk."""

SPECIAL = frozenset({REPRODUCTION, CAP4, FRONTIER, SCALE, SMOLLM2, *CHANNELS})
"""Experiments of which the site shows tables on pages of their own."""

TITLES: Mapping[str, str] = {**CHANNELS, SMOLLM2: "SmolLM2"}
"""What tables call an experiment that they do not call by its name."""


def titled(results: ExperimentResults) -> str:
    """Return what a caption calls an experiment."""
    title = TITLES.get(results.name, results.name)
    return title[:1].upper() + title[1:]


GAMES_SHOWN: Mapping[str, int | None] = {LANGUAGE: 15, SMOLLM2: None}
"""Of which of them the trace browser has games: of how many scenarios a setting, or of all [C].

Language games are large: about 55 kB of page data, prompts included.
"""


@dataclass(frozen=True)
class SpecialResults:
    """What the special pages are made from; a page whose experiment is absent is left out.

    Attributes:
        experiments: those of :data:`SPECIAL` that there are.
        published: folder with the numbers that this pipeline does not make.
    """

    experiments: Sequence[ExperimentResults]
    published: Path

    def named(self, name: str) -> ExperimentResults | None:
        """Return an experiment, or ``None`` if it is absent."""
        return next((each for each in self.experiments if each.name == name), None)

    def of_channels(self) -> tuple[ExperimentResults, ...]:
        """Return the experiments of :data:`CHANNELS` that there are, in its order."""
        return tuple(found for name in CHANNELS if (found := self.named(name)) is not None)

    def published_rows(self, name: str) -> list[Row]:
        """Read a table of published numbers.

        Raises:
            FileError: it cannot be read, or a row does not fit its header.
        """
        return read_table(self.published / name)


NONE_SPECIAL = SpecialResults((), Path())
"""A site without special pages."""


def write_table(path: Path, rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> None:
    """Write numbers that a page works out, so that each one it shows stands in a table."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
