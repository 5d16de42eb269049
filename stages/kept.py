"""What an earlier run of a stage made and is still right, so that it is not made again.

DVC reruns a whole stage. A stage makes again only the parts whose recipe is another one: the
digest of everything on which the stage depends, less what that part does not use. What is kept
must have the bytes that were recorded with the recipe. The record lies in ``build``, is no
output, and may be missing: then everything is made.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from calbench.domain.canonical import digest
from calbench.files import write_atomically
from stages import paths

RECORDS = paths.BUILD / "kept"


class Kept:
    """The record of one stage.

    Args:
        stage: its name.
        contents: what was made at a path: digests by name; nothing there is nothing.
    """

    def __init__(self, stage: str, contents: Callable[[Path], Mapping[str, str]]) -> None:
        """Read the record; one that cannot be read counts as none."""
        self._contents = contents
        self._path = RECORDS / f"{stage}.json"
        self._known: dict[str, list[str]] = {}
        self._there: set[str] = set()
        try:
            found = orjson.loads(self._path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return
        if isinstance(found, dict):
            self._known = found

    def holds(self, made: Path, recipe: str) -> bool:
        """Whether a file or folder was made by this recipe and is what was made then."""
        entry = [recipe, digest(self._contents(made))]
        is_held = self._known.get(made.as_posix()) == entry
        if is_held:
            self._there.add(made.as_posix())
        return is_held

    def note(self, made: Path, recipe: str) -> None:
        """Record what has just been made, after what was noted before."""
        self._known[made.as_posix()] = [recipe, digest(self._contents(made))]
        self._there.add(made.as_posix())

    def write(self) -> None:
        """Keep the record of what is still there."""
        known = {
            made: entry
            for made, entry in self._known.items()
            if made in self._there or self._contents(Path(made))
        }
        write_atomically(self._path, orjson.dumps(known, option=orjson.OPT_SORT_KEYS))


def contents(path: Path) -> Mapping[str, str]:
    """Return the SHA-256 of a file, or of every file below a folder, by its path there."""
    files = [path] if path.is_file() else (file for file in path.rglob("*") if file.is_file())
    return {file.relative_to(path).as_posix(): sha256_of(file.read_bytes()) for file in files}


def sha256_of(data: bytes) -> str:
    """Return a digest of bytes."""
    return hashlib.sha256(data).hexdigest()
