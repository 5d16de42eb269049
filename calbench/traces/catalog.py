"""The games in the shards of a folder, by name; what was read is kept for the next question.

A folder of traces holds one file for each game, or shards, or both. A game is always named by the
path that its file has or would have.
"""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from calbench.errors import FileError
from calbench.files import printable, read_bytes
from calbench.scenarios.bounds import MOST_TRACE_BYTES
from calbench.traces.frames import unpacked_frame, whole_frames
from calbench.traces.index import (
    FIRST_SHARD,
    INDEX_GLOB,
    SHARD_GLOB,
    Frame,
    Game,
    index_path,
    indexed,
    shard_path,
)
from calbench.traces.outlines import Outline, outline

MOST_HELD = 2**26
"""Bytes of unpacked frames that a process keeps [C]: those of 25 teams, of which each scenario is
read in turn."""


class Kept(NamedTuple):
    """Where a game is: its shard, its frame, and its first byte in that, unpacked."""

    shard: Path
    frame: Frame
    start: int
    game: Game


class _Stamp(NamedTuple):
    """Tells whether a file was written since."""

    mtime_ns: int
    inode: int
    size: int


Stamps = tuple[_Stamp | None, ...]

_frames: dict[str, tuple[Stamps, tuple[Frame, ...]]] = {}
"""Frames of shards, with the stamps of shard and index that they were read from."""


class _Catalog(NamedTuple):
    """The games of a folder.

    Attributes:
        following: the shard that it has not; only the last of the others grows.
        stamps: of the last shard and its index.
    """

    following: str
    last: Path
    stamps: Stamps
    games: Mapping[str, Kept]

    def is_current(self) -> bool:
        """Whether the folder is as it was read."""
        has_grown = os.path.exists(self.following)  # noqa: PTH110 - asked often
        return not has_grown and _stamps(self.last) == self.stamps


_catalogs: dict[str, _Catalog] = {}
"""Games by folder, of those that have shards."""

_held: OrderedDict[tuple[str, int, str], bytes] = OrderedDict()
"""What the frames that were read last hold."""


def shards_of(folder: Path) -> list[Path]:
    """Return the shards of a folder.

    Raises:
        FileError: one is missing, whose index or followers are there.
    """
    named = {int(path.name[:5]) for glob in (SHARD_GLOB, INDEX_GLOB) for path in folder.glob(glob)}
    found = [shard_path(folder, number) for number in range(max(named, default=-1) + 1)]
    for shard in found:
        if not shard.is_file():
            raise FileError(
                f"{printable(str(shard))}: is missing, and others of its folder are there; get it "
                "again"
            )
    return found


def catalog(folder: Path) -> Mapping[str, Kept]:
    """Return the games in the shards of a folder, by name; of a game that was resumed, the last.

    Raises:
        FileError: a shard or its index does not fit, or they hold one game twice.
    """
    return _catalog(str(folder))


def _catalog(key: str) -> Mapping[str, Kept]:
    """Return the games of a folder, read again if it has grown; this is asked for every trace."""
    known = _catalogs.get(key)
    if known is not None:
        if known.is_current():
            return known.games
        del _catalogs[key]
    if not os.path.isfile(os.path.join(key, FIRST_SHARD)):  # noqa: PTH113, PTH118 - asked often
        return {}
    games: dict[str, Kept] = {}
    shards = shards_of(Path(key))
    for shard in shards:
        for frame in frames_of(shard):
            _add(games, shard, frame)
    last, following = shards[-1], shard_path(Path(key), len(shards))
    _catalogs[key] = _Catalog(str(following), last, _stamps(last), games)
    return games


def _add(games: dict[str, Kept], shard: Path, frame: Frame) -> None:
    start = 0
    for game in frame.games:
        earlier = games.get(game.name)
        if earlier and not earlier.game.is_halted and earlier.game.sha256 != game.sha256:
            raise FileError(
                f"{printable(str(shard))}: holds {game.name}, which is in {earlier.shard.name} "
                "already with other bytes; get the folder again"
            )
        games[game.name] = Kept(shard, frame, start, game)
        start += game.length


def frames_of(shard: Path) -> tuple[Frame, ...]:
    """Return the frames of a shard that its index names; without an index, those that are whole.

    Raises:
        FileError: the index does not fit, or names more than is there.
    """
    stamps = _stamps(shard)
    known = _frames.get(str(shard))
    if known is not None and known[0] == stamps:
        return known[1]
    of_shard, of_index = stamps
    frames = tuple(whole_frames(shard, 0) if of_index is None else indexed(index_path(shard)))
    size = 0 if of_shard is None else of_shard.size
    if frames and frames[-1].end > size:
        raise FileError(
            f"{printable(str(shard))}: ends at byte {size}, but its index names games up to "
            f"{frames[-1].end}; get it again, or resume its run, which plays those games"
        )
    _frames[str(shard)] = stamps, frames
    return frames


def _stamps(shard: Path) -> Stamps:
    return _stamp(shard), _stamp(index_path(shard))


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stamp(found.st_mtime_ns, found.st_ino, found.st_size)


def kept_game(path: Path) -> Kept | None:
    """Return where a game is, if it is in a shard.

    Args:
        path: that its file has or would have.

    Raises:
        FileError: the shards of its folder do not fit.
    """
    text = str(path)
    if text.count(os.sep) < 2:
        text = os.path.abspath(text)  # noqa: PTH100 - asked often
    folder, team, name = text.rsplit(os.sep, 2)
    return _catalog(folder or os.sep).get(f"{team}/{name}")


def has_trace(path: Path) -> bool:
    """Whether there is a trace at a path, as a file or in a shard."""
    return path.is_file() or kept_game(path) is not None


def is_taken(path: Path) -> bool:
    """Whether anything is at the place of a trace, be it one or not."""
    return os.path.lexists(path) or kept_game(path) is not None


def trace_outline(path: Path) -> Outline:
    """Return what a trace says it is, that of a shard by its index.

    Raises:
        FileError: it is no complete trace, or is there twice and differs.
    """
    kept = kept_game(path)
    if kept is None or os.path.lexists(path):
        return outline(printable(str(path)), _raw(path, kept))
    return Outline(kept.game.game_id, kept.game.is_halted)


def raw_trace(path: Path) -> bytes:
    """Return the bytes of a trace, which is a file or in a shard.

    Raises:
        FileError: it cannot be read, or is not what the index says, or is there twice and differs.
    """
    return _raw(path, kept_game(path))


def _raw(path: Path, kept: Kept | None) -> bytes:
    if kept is None:
        return read_bytes(path, MOST_TRACE_BYTES)
    if os.path.lexists(path):
        data = read_bytes(path, MOST_TRACE_BYTES)
        # A game that was halted may have been resumed into a file.
        if not kept.game.is_halted and _sha256(data) != kept.game.sha256:
            raise FileError(
                f"{printable(str(path))}: differs from the same game in {kept.shard}; move one of "
                "the two away"
            )
        return data
    return kept_bytes(kept)


def kept_bytes(kept: Kept) -> bytes:
    """Return the bytes of a game in a shard.

    Raises:
        FileError: they are not what the index says.
    """
    data = _contents(kept.shard, kept.frame)[kept.start : kept.start + kept.game.length]
    if _sha256(data) != kept.game.sha256:
        raise FileError(
            f"{printable(str(kept.shard))}: {kept.game.name} has another checksum than its index "
            "says; get both files again"
        )
    return data


def _contents(shard: Path, frame: Frame) -> bytes:
    """Return what a frame holds, from memory if it was read lately."""
    key = (str(shard), frame.offset, frame.games[0].sha256)
    if key in _held:
        _held.move_to_end(key)
        return _held[key]
    contents = unpacked_frame(shard, frame)
    _held[key] = contents
    while len(_held) > 1 and sum(map(len, _held.values())) > MOST_HELD:
        _held.popitem(last=False)
    return contents


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
