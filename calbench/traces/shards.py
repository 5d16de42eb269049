"""Shards: frames of games, each behind a head that says what is in it.

A shard is a Zstandard file. Each frame holds a few games as JSON Lines, the line of a game being
exactly the bytes of its file. Before it is its head: JSON in a skippable frame, which other readers
of Zstandard pass over, so ``zstdcat`` prints the games, one a line. A head holds a checksum of
itself and one of the frame, so readers go from head to head, and what they find is what was
written.

A published shard begins with the canary, in a frame that every reader passes over.

A writer that was stopped leaves the beginning of a head and its frame at the end of a shard; after
a crash of the machine zeros may be in place of its other bytes. This *tail* counts for nothing and
is never changed. Anything else that does not fit is damage.
"""

import hashlib
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple
from zlib import crc32

import orjson
import zstandard
from pydantic import ConfigDict, Field, Strict, TypeAdapter, ValidationError

from calbench.domain.canary import CANARY
from calbench.domain.canonical import first_difference
from calbench.errors import FileError
from calbench.files import check_no_link, first_problem, opened, printable, unreadable
from calbench.scenarios.bounds import MOST_TRACE_BYTES

SHARD_VERSION = 1
"""Version of heads; others are refused."""

SHARD_GLOB = f"{'[0-9]' * 5}.jsonl.zst"
"""Shards of a folder. They are numbered from 0, with none left out."""

EARLIER_GLOB = f"{'[0-9]' * 5}.index.jsonl"
"""Files beside the shards of earlier versions, which had no heads."""

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[A-Za-z0-9][A-Za-z0-9._-]{0,79}\.json$"
"""``team/scenario.json`` or ``team/scenario.r1.json``: never a path out of its folder."""

# e.g. "imap/s01.r1.json"; not "../s01.json", "imap/s01.json.zst"
file_name_pattern = re.compile(NAME_PATTERN)

LEVEL = 6
"""Compression level [C]: 1.8 kB for 43 of a typed game at 0.2 ms; 3 takes a fifth more space in a
quarter of the time, 12 a tenth less in three times of it."""

GAMES_PER_FRAME = 25
"""Most games of a frame [C]: of twice as many games each takes 3% less, and one that is read alone
takes twice as long."""

FRAME_BYTES = 2**23
"""Most bytes of a frame of several games, unpacked [C]."""

MOST_HEAD_BYTES = 2**16
"""Most bytes of a head: of 25 games with the longest names it has 10,000."""

MAGIC = (0x184D2A5B).to_bytes(4, "little")
"""How a head begins: one of the 16 numbers by which readers of Zstandard know what to skip."""

_START = struct.Struct("<4sI")
"""Magic number and size of a skippable frame."""

CANARY_FRAME = _START.pack((0x184D2A5C).to_bytes(4, "little"), len(CANARY)) + CANARY.encode()
"""What a published shard begins with: the canary in another frame to be skipped."""

# e.g. ',"head_crc32":"0123abcd"}'; not ',"head_crc32":"0123ABCD"}'
_ENDING = re.compile(rb',"head_crc32":"([0-9a-f]{8})"\}')
"""The last key of a head, which nothing else in a shard looks like: the quotes of names would be
escaped, and what follows is compressed."""

_ENDING_BYTES = len(b',"head_crc32":"00000000"}')

_CRASH_ZEROS = 4
"""Zeros at an end of a file that are those of a crash: a frame ends with a checksum of four bytes,
which are hardly ever all zero."""

_STRICT = ConfigDict(strict=True, extra="forbid")
_Text = Annotated[str, Strict()]
_Size = Annotated[int, Strict(), Field(ge=1, le=MOST_TRACE_BYTES)]
_Crc = Annotated[_Text, Field(pattern=r"^[0-9a-f]{8}$")]


@dataclass(frozen=True, slots=True)
class Game:
    """A game in a frame.

    Attributes:
        name: ``team/scenario.json``, its path below the folder of traces.
        is_halted: whether it ended before its last round; then a later entry may replace it.
        length: bytes of its line, those of its file.
        sha256: of these bytes, in hexadecimal.
    """

    __pydantic_config__ = _STRICT

    name: Annotated[_Text, Field(pattern=NAME_PATTERN)]
    game_id: Annotated[_Text, Field(min_length=1, max_length=64)]
    is_halted: Annotated[bool, Strict()]
    length: _Size
    sha256: Annotated[_Text, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Head:
    """What a head says of the frame behind it.

    Attributes:
        frame_bytes: its size.
        frame_crc32: checksum of these bytes, in hexadecimal.
        games: in their order; each begins where the one before ends.
    """

    __pydantic_config__ = _STRICT

    shard_version: Annotated[int, Strict()]
    frame_bytes: _Size
    frame_crc32: _Crc
    games: Annotated[tuple[Game, ...], Field(min_length=1)]


_HEAD: TypeAdapter[Head] = TypeAdapter(Head)


class Frame(NamedTuple):
    """A frame of a shard: where its head and its own first byte are, and what the head says."""

    offset: int
    start: int
    head: Head

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + self.head.frame_bytes


class Shard(NamedTuple):
    """The whole frames of a shard."""

    path: Path
    frames: tuple[Frame, ...]
    size: int

    @property
    def end(self) -> int:
        """The first byte behind its frames."""
        return self.frames[-1].end if self.frames else 0

    @property
    def tail(self) -> int:
        """Bytes behind its frames that a stopped writer left."""
        return self.size - self.end


class Packed(NamedTuple):
    """A head and its frame that are not yet in a shard, and how many games they hold."""

    data: bytes
    num_games: int


class _DamagedError(Exception):
    """No writer of ours leaves such bytes, not even if it is stopped; the text says why."""


class _EarlierError(_DamagedError):
    """A frame without a head."""


def shard_path(folder: Path, number: int) -> Path:
    """Return a shard of a folder."""
    return folder / f"{number:05d}.jsonl.zst"


def shards_of(folder: Path) -> list[Path]:
    """Return the shards of a folder.

    Raises:
        FileError: one is missing, whose followers are there.
    """
    last = max((int(path.name[:5]) for path in folder.glob(SHARD_GLOB)), default=-1)
    found = [shard_path(folder, number) for number in range(last + 1)]
    for shard in found:
        check_no_link(shard)
        if not shard.is_file():
            raise FileError(
                f"{printable(str(shard))}: is missing, and others of its folder are there; get it "
                "again"
            )
    return found


def described(name: str, game_id: str, is_halted: bool, line: bytes) -> Game:
    """Return what a head says of a game."""
    return Game(name, game_id, is_halted, len(line), hashlib.sha256(line).hexdigest())


def packed_frames(games: Iterable[tuple[Game, bytes]]) -> Iterator[Packed]:
    """Yield games in frames with heads; the bytes depend on the games and their order alone."""
    lines: list[bytes] = []
    held: list[Game] = []
    size = 0
    for game, line in games:
        if held and (len(held) == GAMES_PER_FRAME or size + len(line) > FRAME_BYTES):
            yield _packed(held, lines)
            lines, held, size = [], [], 0
        lines.append(line)
        held.append(game)
        size += len(line)
    if held:
        yield _packed(held, lines)


def _packed(games: Sequence[Game], lines: Sequence[bytes]) -> Packed:
    data = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(b"".join(lines))
    head = Head(SHARD_VERSION, len(data), f"{crc32(data):08x}", tuple(games))
    return Packed(head_bytes(head) + data, len(games))


def head_bytes(head: Head) -> bytes:
    """Return the exact bytes of a head."""
    text = orjson.dumps(head)[:-1]
    begun = _START.pack(MAGIC, len(text) + _ENDING_BYTES) + text
    return b'%s,"head_crc32":"%08x"}' % (begun, crc32(begun))


def read_shard(path: Path) -> Shard:
    """Return the whole frames of a shard, from their heads alone.

    Raises:
        FileError: it cannot be read, is of an earlier version, or is damaged; naming the byte.
    """
    frames: list[Frame] = []
    begin = place = 0
    try:
        with opened(path, is_found=True) as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(len(CANARY_FRAME)) == CANARY_FRAME:
                begin = place = len(CANARY_FRAME)
            while place < size and (found := _frame_at(file, place, size)) is not None:
                frames.append(found)
                place = found.end
    except OSError as error:
        raise unreadable(path, error) from error
    except _DamagedError as error:
        if isinstance(error, _EarlierError) and place == begin:
            raise FileError(
                f"{printable(str(path))}: is a shard of an earlier version, without heads; "
                f"`calbench traces convert {printable(str(path.parent))} out=NEW` writes its games "
                "into a new folder"
            ) from error
        raise FileError(
            f"{printable(str(path))}: what is at byte {place} is no head of games ({error}), and "
            "nothing was changed; get the shard again, or see what `calbench traces convert` "
            "can still read"
        ) from error
    return Shard(path, tuple(frames), size)


def _frame_at(file: BinaryIO, place: int, size: int) -> Frame | None:
    """Return the frame whose head is at a byte, or none if a tail begins there.

    Raises:
        _DamagedError: neither is there.
    """
    file.seek(place)
    start = file.read(_START.size)
    try:
        raw = start + file.read(_head_size(start))
        head = _parsed(raw)
    except _DamagedError:
        file.seek(place)
        if size - place <= MOST_TRACE_BYTES and _is_tail(file.read()):
            return None
        raise
    frame = Frame(place, place + len(raw), head)
    file.seek(frame.end - _CRASH_ZEROS)
    is_zeroed = file.read(_CRASH_ZEROS) == bytes(_CRASH_ZEROS) and not file.read().strip(b"\0")
    return None if frame.end > size or is_zeroed else frame


def _head_size(start: bytes) -> int:
    """Return the bytes of a head behind these, its first."""
    if len(start) < _START.size:
        raise _DamagedError("it ends early")
    magic, size = _START.unpack(start)
    if magic == zstandard.FRAME_HEADER:
        raise _EarlierError("it is a frame without one")
    if magic != MAGIC:
        raise _DamagedError("none begins there")
    if size > MOST_HEAD_BYTES:
        raise _DamagedError(f"it takes more than {MOST_HEAD_BYTES} bytes")
    return int(size)


def _parsed(raw: bytes) -> Head:
    """Return what a head says, if these are its exact bytes."""
    begun, ending = raw[:-_ENDING_BYTES], _ENDING.fullmatch(raw[-_ENDING_BYTES:])
    if ending is None or int(ending[1], 16) != crc32(begun):
        raise _DamagedError("its checksum is another")
    try:
        head = _HEAD.validate_json(begun[_START.size :] + b"}")
    except ValidationError as error:
        raise _DamagedError(first_problem(error)) from error
    if head.shard_version != SHARD_VERSION:
        raise _DamagedError(f"version {head.shard_version}; this calbench reads {SHARD_VERSION}")
    if raw != (expected := head_bytes(head)):
        raise _DamagedError(first_difference(raw, expected))
    if sum(game.length for game in head.games) > MOST_TRACE_BYTES:
        raise _DamagedError(f"its games have more than {MOST_TRACE_BYTES} bytes")
    return head


def _is_tail(rest: bytes) -> bool:
    """Whether a stopped writer may have left these bytes, which end a file: no whole head is there.

    A damaged size, too, may make a head seem to go beyond the end; but then it is whole.
    """
    begun = rest.rstrip(b"\0")
    if _ENDING.search(begun) or not MAGIC.startswith(begun[: len(MAGIC)]):
        return False
    is_short = len(rest) < _START.size or len(rest) < _START.size + _START.unpack_from(rest)[1]
    return is_short or not begun or len(rest) - len(begun) >= _CRASH_ZEROS


def unpacked(shard: Path, frame: Frame) -> bytes:
    """Return what a frame holds.

    Raises:
        FileError: the shard cannot be read, or its frame is not what its head says.
    """
    try:
        with opened(shard, is_found=True) as file:
            file.seek(frame.start)
            data = file.read(frame.head.frame_bytes)
    except OSError as error:
        raise unreadable(shard, error) from error
    try:
        # The size is looked at before anything is unpacked: the library trusts it.
        length = int(zstandard.get_frame_parameters(data).content_size)
        expected = sum(game.length for game in frame.head.games)
        if crc32(data) != int(frame.head.frame_crc32, 16) or length != expected:
            raise _damaged(shard, frame)
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise _damaged(shard, frame) from error


def games_in(shard: Path) -> Iterator[tuple[Game, bytes]]:
    """Yield the games of a shard in their order, with their lines.

    Raises:
        FileError: it cannot be read, or is damaged.
    """
    for frame in read_shard(shard).frames:
        contents, start = unpacked(shard, frame), 0
        for game in frame.head.games:
            yield game, contents[start : start + game.length]
            start += game.length


def write_published(shard: Path, out: Path) -> None:
    """Write a shard as it is published: behind the canary, as many games in a frame as it takes.

    The games are the same bytes. Where they were played one by one, with a frame for each, they
    take half the space together: games on one scenario have much in common.

    Raises:
        FileError: it cannot be read, or is damaged.
    """
    frames = (frame.data for frame in packed_frames(games_in(shard)))
    out.write_bytes(b"".join((CANARY_FRAME, *frames)))


def _damaged(shard: Path, frame: Frame) -> FileError:
    return FileError(
        f"{printable(str(shard))}: the frame of games at byte {frame.start} is not what its head "
        "says; get the shard again (its other games can be read)"
    )
