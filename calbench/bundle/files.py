"""The files of a bundle: what they are, how large, and their checksums."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from calbench.domain.canary import CANARY, KEY
from calbench.folders import MARK

MANIFEST, SUMS = "MANIFEST.json", "SHA256SUMS"


@dataclass(frozen=True)
class Entry:
    """A file of a bundle.

    Attributes:
        path: from the top of the bundle.
        bytes: its size.
        sha256: its SHA-256 in hexadecimal digits.
    """

    path: str
    bytes: int
    sha256: str

    @property
    def part(self) -> str:
        """The folder at the top that it is in; without one it describes the others."""
        folder, is_inside, _ = self.path.partition("/")
        return folder if is_inside else "descriptions"


def entry(path: Path, top: Path) -> Entry:
    """Return a file below the top of a bundle."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Entry(path.relative_to(top).as_posix(), path.stat().st_size, digest)


def entries(top: Path, known: Iterable[Entry] = ()) -> list[Entry]:
    """Return every file of a bundle, in the order of their paths.

    Args:
        top: of the bundle.
        known: files that are as they were when they were read; they are not read again.
    """
    read = {each.path: each for each in known}
    paths = sorted(path for path in top.rglob("*") if path.is_file() and path.name != MARK)
    return [read.get(path.relative_to(top).as_posix()) or entry(path, top) for path in paths]


def sizes(files: Iterable[Entry]) -> dict[str, tuple[int, int]]:
    """Return how many files each part has, and their bytes, by part in the order of names."""
    found: dict[str, tuple[int, int]] = {}
    for each in files:
        count, size = found.get(each.part, (0, 0))
        found[each.part] = (count + 1, size + each.bytes)
    return dict(sorted(found.items()))


def write_json(path: Path, value: Any) -> None:
    """Write JSON as people read it."""
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def write_manifest(top: Path, known: Iterable[Entry]) -> list[Entry]:
    """Write the checksums of all files, once as JSON and once for ``sha256sum --check``."""
    files = entries(top, known)
    write_json(top / MANIFEST, {KEY: CANARY, "files": [asdict(each) for each in files]})
    sums = "".join(f"{each.sha256}  {each.path}\n" for each in files)
    (top / SUMS).write_text(sums, encoding="utf-8")
    return files
