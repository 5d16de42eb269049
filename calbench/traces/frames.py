"""Frames of a shard: a few games as JSON Lines, compressed together with Zstandard.

A shard is a file of such frames one behind the other, which is itself a Zstandard file: ``zstdcat``
prints its games, one a line. The line of a game is exactly the bytes of its file.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import zstandard

from calbench.errors import FileError
from calbench.files import printable
from calbench.scenarios.bounds import MOST_TRACE_BYTES
from calbench.traces.index import Frame, Game, file_name_pattern
from calbench.traces.outlines import named_outline

LEVEL = 6
"""Compression level [C]: 1.8 kB for 43 of a typed game at 0.2 ms; 3 takes a fifth more space in a
quarter of the time, 12 a tenth less in three times of it."""

GAMES_PER_FRAME = 25
"""Most games of a frame [C]: of twice as many games each takes 3% less, and one that is read alone
takes twice as long."""

FRAME_BYTES = 2**23
"""Most bytes of a frame of several games, unpacked [C]."""

PIECE = 2**16
"""Bytes that are read at a time to find the end of a frame."""


class Packed(NamedTuple):
    """A frame that is not yet in a shard: its bytes, and its games in their order."""

    data: bytes
    games: tuple[Game, ...]


def described(name: str, game_id: str, is_halted: bool, line: bytes) -> Game:
    """Return what the index says of a game."""
    return Game(name, game_id, is_halted, len(line), hashlib.sha256(line).hexdigest())


def described_line(place: str, line: bytes) -> Game:
    """Return what the index says of a game, from its bytes alone.

    Raises:
        FileError: it is not one line, or not a trace, or its names are none of a file.
    """
    if not line.endswith(b"\n") or line.count(b"\n") != 1:
        raise FileError(f"{place}: is not one line, as calbench writes traces; keep it as a file")
    if len(line) > MOST_TRACE_BYTES:
        raise FileError(f"{place}: holds more than {MOST_TRACE_BYTES} bytes")
    name, found = named_outline(place, line)
    if not file_name_pattern.fullmatch(name):
        raise FileError(f"{place}: {printable(name)[:99]!r} is no name of a trace")
    return described(name, found.game_id, found.is_halted, line)


def packed_frames(games: Iterable[tuple[Game, bytes]]) -> Iterator[Packed]:
    """Yield games in frames; the bytes depend on the games and their order alone."""
    lines: list[bytes] = []
    held: list[Game] = []
    size = 0
    for game, line in games:
        if held and (len(held) == GAMES_PER_FRAME or size + len(line) > FRAME_BYTES):
            yield Packed(_compressed(lines), tuple(held))
            lines, held, size = [], [], 0
        lines.append(line)
        held.append(game)
        size += len(line)
    if held:
        yield Packed(_compressed(lines), tuple(held))


def _compressed(lines: Sequence[bytes]) -> bytes:
    """Compress some lines; size and checksum of what they hold are in the frame."""
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(b"".join(lines))


def unpacked_frame(shard: Path, frame: Frame) -> bytes:
    """Return what a frame holds.

    Raises:
        FileError: the shard cannot be read, or its frame is not what its index says.
    """
    try:
        with shard.open("rb") as file:
            file.seek(frame.offset)
            data = file.read(frame.size)
    except OSError as error:
        raise FileError(
            f"{printable(str(shard))}: cannot be read ({error.strerror or error})"
        ) from error
    try:
        # The size is looked at before anything is unpacked: the library trusts it.
        if _content_size(data) != frame.length:
            raise _differs(shard, frame)
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise _differs(shard, frame) from error


def _content_size(data: bytes) -> int:
    return int(zstandard.get_frame_parameters(data).content_size)


def _differs(shard: Path, frame: Frame) -> FileError:
    return FileError(
        f"{printable(str(shard))}: what is at byte {frame.offset} is not the frame of its index; "
        "get both files again"
    )


def whole_frames(shard: Path, start: int) -> Iterator[Frame]:
    """Yield the frames of a shard from a byte on, up to the first that is not whole.

    This is how an index is made again. What is no frame of traces ends it.
    """
    with shard.open("rb") as file:
        while True:
            file.seek(start)
            found = _frame_at(file, start)
            if found is None:
                return
            yield found
            start = found.end


def _frame_at(file: BinaryIO, start: int) -> Frame | None:
    unpacking = zstandard.ZstdDecompressor().decompressobj()
    size, contents = 0, b""
    try:
        piece = file.read(PIECE)
        if not piece or not 0 < _content_size(piece) <= MOST_TRACE_BYTES:
            return None
        while not unpacking.eof:
            if not piece:
                return None
            size += len(piece)
            contents += unpacking.decompress(piece)
            piece = file.read(PIECE)
    except zstandard.ZstdError:
        return None
    size -= len(unpacking.unused_data)
    try:
        *lines, rest = contents.split(b"\n")
        games = [described_line("", line + b"\n") for line in lines]
    except FileError:
        return None
    return Frame(start, size, tuple(games)) if games and not rest else None
