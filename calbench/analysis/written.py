"""What the tables of a folder were made from: if that is the same, they need not be made again."""

from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from calbench.analysis.settings import Settings
from calbench.code import code_digest
from calbench.domain.canonical import digest
from calbench.errors import FileError
from calbench.files import read_bytes, write_atomically

NOTE = "tables.json"
"""Notes the tables, among the kept facts."""


class Written(BaseModel):
    """Contents of :data:`NOTE`.

    Attributes:
        made_from: SHA-256 of what the tables were made from.
        files: SHA-256 of each file of the tables, by its path below their folder.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    made_from: str
    files: dict[str, str]


def sources_digest(facts: str, settings: Settings) -> str:
    """Return the SHA-256 of what tables are made from: facts, settings and our code.

    Args:
        facts: the digest of kept facts.
        settings: of the metrics and estimates, and prices.
    """
    return digest(
        {
            "facts": facts,
            "code": code_digest(),
            "measure": settings.measure.model_dump(mode="json"),
            "analysis": settings.analysis.model_dump(mode="json"),
            "prices": {
                name: price.model_dump(mode="json") for name, price in settings.prices.items()
            },
        }
    )


def is_written(folder: Path, kept: Path, made_from: str) -> bool:
    """Whether the files of a folder are the tables that would be written now, to the byte.

    Args:
        folder: of the tables.
        kept: the folder of their facts, in it.
        made_from: from :func:`sources_digest`.
    """
    try:
        note = Written.model_validate_json(read_bytes(kept / NOTE))
    except (FileError, ValidationError):
        return False
    return note.made_from == made_from and note.files == _digests(folder, kept)


def note_written(folder: Path, kept: Path, made_from: str) -> None:
    """Note the tables of a folder, all of which were just written.

    Arguments as in :func:`is_written`.

    Raises:
        OutputError: the folder cannot be written.
    """
    note = Written(made_from=made_from, files=_digests(folder, kept))
    data = orjson.dumps(note.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    write_atomically(kept / NOTE, data + b"\n")


def _digests(folder: Path, kept: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in _tables(folder, kept)}


def _tables(folder: Path, kept: Path) -> Iterator[Path]:
    """Yield files that are not hidden, and what a killed process left half-written."""
    for path in sorted(folder.rglob("*")):
        is_shown = not path.name.startswith(".") or path.suffix == ".part"
        if is_shown and path.is_file() and kept not in path.parents:
            yield path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, sha256).hexdigest()
