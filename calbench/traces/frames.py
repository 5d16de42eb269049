"""Frames of a shard: a few games as JSON Lines, compressed together with Zstandard.

A shard is a file of such frames one behind the other, which is itself a Zstandard file: ``zstdcat``
prints its games, one a line. The line of a game is exactly the bytes of its file.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import zstandard

from calbench.errors import FileError
from calbench.files import printable
from calbench.scenarios.bounds import MOST_TRACE_BYTES
from calbench.traces.extents import NotOursError, check_stopped, ends_in_zeros, frame_end
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
        raise _unreadable(shard, error) from error
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
    """Yield the frames of a shard from a byte on; this is how an index is made again.

    One whose writer was stopped may be behind them, and counts for nothing.

    Raises:
        FileError: the shard cannot be read, or anything else is behind them.
    """
    try:
        with shard.open("rb") as file:
            end = os.fstat(file.fileno()).st_size
            while start < end:
                found = _frame_or_none(file, start, end)
                if found is None:
                    return
                yield found
                start = found.end
    except OSError as error:
        raise _unreadable(shard, error) from error
    except NotOursError as error:
        raise _no_frame(shard, start, str(error)) from error


def _frame_or_none(file: BinaryIO, start: int, end: int) -> Frame | None:
    """Return the frame at a byte, or none if its writer was stopped.

    Raises:
        NotOursError: neither is there.
    """
    try:
        found = _frame_at(file, start, end)
    except NotOursError:
        if not ends_in_zeros(file, end):
            raise
        found = None
    if found is None:
        check_stopped(file, start, end)
    return found


def _frame_at(file: BinaryIO, start: int, end: int) -> Frame | None:
    """Return the frame at a byte, or none if the file ends before it does.

    Raises:
        NotOursError: it is no frame of games, or of another version.
    """
    behind = frame_end(file, start, end)
    if behind is None:
        return None
    file.seek(start)
    data = file.read(behind - start)
    try:
        contents = zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise NotOursError("it is damaged") from error
    *lines, rest = contents.split(b"\n")
    if not lines or rest:
        raise NotOursError("it does not hold whole lines")
    try:
        games = tuple(described_line("a line of it", line + b"\n") for line in lines)
    except FileError as error:
        raise NotOursError(str(error)) from error
    return Frame(start, len(data), games)


def _no_frame(shard: Path, start: int, reason: str) -> FileError:
    remedy = "get the shard and its index again, or move them away"
    if start:
        remedy += f"; calbench traces unpack reads its first {start} bytes (head -c) as a shard"
    return FileError(
        f"{printable(str(shard))}: what is at byte {start} is no frame of games ({reason}), and "
        f"nothing was changed; {remedy}"
    )


def _unreadable(shard: Path, error: OSError) -> FileError:
    return FileError(f"{printable(str(shard))}: cannot be read ({error.strerror or error})")
