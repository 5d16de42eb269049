"""The traces below some folders: a file for each game, or shards, or both.

A game is always named by the path that its file has or would have.
"""

import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from errno import ENOENT
from pathlib import Path
from typing import NamedTuple

from calbench.console import warn
from calbench.errors import FileError
from calbench.files import STORE, check_no_link, opened, printable, read_bytes
from calbench.scenarios.bounds import MOST_TRACE_BYTES
from calbench.traces.outlines import Outline, outline
from calbench.traces.shards import (
    SHARD_GLOB,
    Frame,
    Game,
    Shard,
    read_shard,
    shards_of,
    unpacked,
)

OTHERS = (".calbench-site", "datapackage.json")
"""Mark a folder of pages and one of tables, which have JSON files, too."""

LOCK = ".lock"
"""Marks the folder of a run, or of a judge: its own JSON files are notes."""

TRACES_FOLDER = "traces"
"""Folder of the traces in that of a run."""

CODE_NOTE = "code.json"
"""Note of the code of a run's seats, in its folder."""

# e.g. '{"schema_version":1,'; not '{"name": "x", "schema_version": 1'
_BEGINNING = re.compile(rb'\s*\{\s*"schema_version"')

MOST_HELD = 2**26
"""Bytes of unpacked frames that a catalogue keeps [C]: those of 25 teams, of which each scenario is
read in turn."""


class Kept(NamedTuple):
    """Where a game is: its shard, its frame, and its first byte in that, unpacked."""

    shard: Path
    frame: Frame
    start: int
    game: Game


class Catalog:
    """Finds and reads traces. The shards of a folder are looked at once, when first asked for.

    Attributes:
        tails: shards with bytes that a stopped writer left behind, and how many; they count for
            nothing.
        others: JSON files that are no traces, in folders that are not one of a run's traces.
    """

    def __init__(self) -> None:
        self.tails: dict[Path, int] = {}
        self.others: set[Path] = set()
        self._kept_by_folder: dict[str, dict[str, Kept]] = {}
        self._held: OrderedDict[tuple[Path, int], bytes] = OrderedDict()

    def games(self, folder: Path) -> Mapping[str, Kept]:
        """Return the games in the shards of a folder, by name; the last of a resumed one.

        Raises:
            FileError: a shard does not fit, or they hold one game twice.
        """
        return self._games(os.path.abspath(folder))  # noqa: PTH100 - as of a trace

    def _games(self, key: str) -> dict[str, Kept]:
        """Return the games in the shards of a folder, which is absolute."""
        if (known := self._kept_by_folder.get(key)) is not None:
            return known
        games: dict[str, Kept] = {}
        for shard in map(read_shard, shards_of(Path(key))):
            _add(games, shard)
            if shard.tail:
                self.tails[shard.path] = shard.tail
        self._kept_by_folder[key] = games
        return games

    def of(self, paths: Iterable[Path]) -> "Catalog":
        """Return a catalogue of some games alone, which is little to send to another process.

        Raises:
            FileError: the shards of their folders do not fit.
        """
        found = Catalog()
        for path in paths:
            folder, name = _folder_and_name(path)
            kept = self._games(folder).get(name)
            found._kept_by_folder.setdefault(folder, {}).update({name: kept} if kept else {})
        return found

    def tell(self) -> None:
        """Warn of what stopped writers left behind in shards, and of files that are no traces."""
        if self.others:
            warn(self._passed_over())
        for shard, size in self.tails.items():
            warn(f"{shard}: its last {size} bytes, left by a run that was stopped, are not read")

    def _passed_over(self) -> str:
        """Return what ``others`` are, in words."""
        count, first = len(self.others), printable(str(min(self.others)))
        if count == 1:
            return f"{first} is no trace and was not read"
        return f"{count} JSON files are no traces and were not read, such as {first}"

    def find(self, path: Path) -> Kept | None:
        """Return where a game is, if it is in a shard.

        Args:
            path: that its file has or would have.

        Raises:
            FileError: the shards of its folder do not fit.
        """
        folder, name = _folder_and_name(path)
        return self._games(folder).get(name)

    def has(self, path: Path) -> bool:
        """Whether there is a trace at a path, as a file or in a shard."""
        return path.is_file() or self.find(path) is not None

    def is_taken(self, path: Path) -> bool:
        """Whether anything is at the place of a trace, be it one or not."""
        return os.path.lexists(path) or self.find(path) is not None

    def outline(self, path: Path) -> Outline:
        """Return what a trace says it is, that of a shard by its head.

        Raises:
            FileError: it is no complete trace, or is there twice and differs.
        """
        kept = self.find(path)
        if kept is None or os.path.lexists(path):
            return outline(path, self.read(path))
        return Outline(kept.game.name, kept.game.game_id, kept.game.is_halted)

    def read(self, path: Path) -> bytes:
        """Return the bytes of a trace, which is a file or in a shard.

        Raises:
            FileError: it cannot be read, is not what the head of its frame says, or is there twice
                and differs.
        """
        kept = self.find(path)
        if kept is None:
            return read_bytes(path, MOST_TRACE_BYTES, is_found=True)
        if not os.path.lexists(path):
            return self._game(kept)
        data = read_bytes(path, MOST_TRACE_BYTES, is_found=True)
        # A game that was halted may have been resumed into a file.
        if not kept.game.is_halted and _sha256(data) != kept.game.sha256:
            raise FileError(
                f"{printable(str(path))}: differs from the same game in {kept.shard}; move one of "
                "the two away"
            )
        return data

    def _game(self, kept: Kept) -> bytes:
        """Return the bytes of a game in a shard."""
        game = kept.game
        data = self._contents(kept)[kept.start : kept.start + game.length]
        if _sha256(data) != game.sha256:
            raise FileError(f"{_place(kept)} has another checksum than its head says; {_REMEDY}")
        if outline(kept.shard, data) != (game.name, game.game_id, game.is_halted):
            raise FileError(f"{_place(kept)} is another game than its head says; {_REMEDY}")
        return data

    def _contents(self, kept: Kept) -> bytes:
        """Return what a frame holds, from memory if it was read lately."""
        key = (kept.shard, kept.frame.start)
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]
        contents = self._held[key] = unpacked(kept.shard, kept.frame)
        while len(self._held) > 1 and sum(map(len, self._held.values())) > MOST_HELD:
            self._held.popitem(last=False)
        return contents

    def paths(self, path: Path, *, has_loose: bool = False) -> Iterator[Path]:
        """Yield a trace, or the sorted ones below a folder, of a run, of a team or in a shard.

        A game in a shard has the path that its file would have. With ``has_loose`` traces that
        somebody put beside the games of a run are among them.

        Raises:
            FileError: there is none, or the shards of its folder do not fit.
        """
        if path.is_symlink() and path.is_file():
            path = path.resolve()  # a link that the user names is his to follow
        if path.match(SHARD_GLOB) and path.is_file():
            kept = self.games(path.parent)
            names = [name for name, each in kept.items() if each.shard.name == path.name]
            yield from sorted(path.parent / name for name in names)
            return
        if not path.is_dir():
            if not (path.exists() or self.holds_traces(path)):
                raise FileError(f"{printable(str(path))}: cannot be read ({os.strerror(ENOENT)})")
            yield from self._of_team(path) or [path]
            return
        found = sorted(self._below(path, has_loose=has_loose))
        if not found:
            is_begun = (path / STORE).is_file()
            hint = "; calbench verify --partial lists the games that were begun" if is_begun else ""
            if self.others:
                hint = f": {self._passed_over()}{hint}"
            raise FileError(f"{path}: holds no trace (*.json, *.jsonl.zst){hint}")
        yield from found

    def _of_team(self, path: Path) -> list[Path]:
        """Return the games in shards of a team whose folder has, or would have, this path."""
        names = (Path(name) for name in self.games(path.parent))
        return sorted(path.parent / name for name in names if name.parent.name == path.name)

    def holds_traces(self, path: Path) -> bool:
        """Whether there is a trace at a path, below a folder or in a run.

        Raises:
            FileError: the shards of a folder do not fit.
        """
        if path.is_dir():
            return bool(self._below(path))
        return self.has(path) or bool(self._of_team(path))

    def _below(self, path: Path, *, has_loose: bool = False) -> set[Path]:
        note = traces_folder(path) / CODE_NOTE
        return set(self._at(path, has_loose=has_loose)) - {note}

    def _at(self, path: Path, *, has_loose: bool) -> Iterator[Path]:
        """Yield the games of a run, or the traces of another folder."""
        folder = traces_folder(path)
        yield from self._inside(folder, has_loose=has_loose)
        if has_loose and folder != path:
            files = {file for file in path.glob("[!.]*.json") if file.name != CODE_NOTE}
            yield from (file for file in files if self._is_trace(file))
            self.others -= files  # notes of the run

    def _inside(self, folder: Path, *, has_loose: bool) -> Iterator[Path]:
        """Yield the traces in a folder and below it; of a run that is there, those of its games."""
        if not (folder / LOCK).exists():
            files = (file for file in folder.glob("*.json") if not file.name.startswith("."))
            if TRACES_FOLDER in {folder.name, folder.parent.name}:
                yield from files
            else:
                yield from (file for file in files if self._is_trace(file))
        if any(folder.glob(SHARD_GLOB)):
            yield from (folder / name for name in self.games(folder))
        for inside in folder.glob("*/"):
            if not (inside.is_symlink() or any((inside / mark).exists() for mark in OTHERS)):
                yield from self._at(inside, has_loose=has_loose)

    def _is_trace(self, file: Path) -> bool:
        """Whether a JSON file of any folder begins as traces do; notes those that do not."""
        try:
            with opened(file, MOST_TRACE_BYTES, is_found=True) as stream:
                begins = _BEGINNING.match(stream.read(64)) is not None
        except FileError:
            return True  # who reads it says why it cannot be read
        if not begins:
            self.others.add(file)
        return begins


def _folder_and_name(path: Path) -> tuple[str, str]:
    """Return the folder whose shards may hold a game, and the game's name in them."""
    above, _, name = os.path.abspath(path).rpartition(os.sep)  # noqa: PTH100 - asked for every trace
    folder, _, team = above.rpartition(os.sep)
    return folder or os.sep, f"{team}/{name}"


def _add(games: dict[str, Kept], shard: Shard) -> None:
    for frame in shard.frames:
        start = 0
        for game in frame.head.games:
            earlier = games.get(game.name)
            if earlier and not earlier.game.is_halted and earlier.game.sha256 != game.sha256:
                raise FileError(
                    f"{printable(str(shard.path))}: holds {game.name}, which is in "
                    f"{earlier.shard.name} already with other bytes; get the folder again"
                )
            games[game.name] = Kept(shard.path, frame, start, game)
            start += game.length


def trace_paths(path: Path, *, has_loose: bool = False) -> Iterator[Path]:
    """Yield the traces at a path, as :meth:`Catalog.paths` does, and tell of stopped writers.

    Raises:
        FileError: there is none, or shards do not fit.
    """
    catalog = Catalog()
    found = list(catalog.paths(path, has_loose=has_loose))
    catalog.tell()
    yield from found


def traces_folder(path: Path) -> Path:
    """Return the folder of the traces: that of a run, whose tables are JSON too, or the path.

    Raises:
        FileError: that of the run is a link.
    """
    inside = path / TRACES_FOLDER
    check_no_link(inside)
    return inside if inside.is_dir() else path


_REMEDY = "get the shard again"


def _place(kept: Kept) -> str:
    return f"{printable(str(kept.shard))}: {kept.game.name}, in the frame at {kept.frame.start},"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
