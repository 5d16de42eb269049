"""Where a frame of Zstandard ends, found by the sizes of its blocks: nothing is unpacked.

This tells the frame whose writer was stopped from one that is damaged: the first ends early, and
nothing is behind it. A damaged size can look the same, so neither is ever thrown away.
"""

from typing import BinaryIO

import zstandard

from calbench.scenarios.bounds import MOST_TRACE_BYTES

HEADER_BYTES = 18
"""Most bytes before the first block of a frame, by the format; fewer hold no game."""

_BLOCK_HEADER_BYTES, _CHECKSUM_BYTES = 3, 4
_REPEATED, _RESERVED = 1, 3
"""Types of blocks: one byte many times over, and one that does not exist."""


class NotOursError(Exception):
    """Bytes are no frame as we write them; the text says why."""


def frame_end(file: BinaryIO, start: int, end: int) -> int | None:
    """Return the byte behind a frame, or none if the file ends before the frame does.

    Args:
        file: a shard.
        start: of the frame.
        end: of the file.

    Raises:
        NotOursError: no writer of ours leaves such bytes, not even if it is stopped.
    """
    if end - start < HEADER_BYTES:
        return None
    file.seek(start)
    place = start + _header_size(file.read(HEADER_BYTES))
    is_last = False
    while not is_last:
        file.seek(place)
        block = int.from_bytes(file.read(_BLOCK_HEADER_BYTES), "little")
        place += _BLOCK_HEADER_BYTES
        if place > end:
            return None
        is_last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        if kind == _RESERVED or size > zstandard.BLOCKSIZE_MAX:
            raise NotOursError("it is damaged")
        place += 1 if kind == _REPEATED else size
        if place - start > MOST_TRACE_BYTES:
            raise NotOursError(f"it takes more than {MOST_TRACE_BYTES} bytes")
    place += _CHECKSUM_BYTES
    return place if place <= end else None


def ends_in_zeros(file: BinaryIO, end: int) -> bool:
    """Whether more zeros are at the end of a file than a frame of ours ends with."""
    file.seek(max(0, end - HEADER_BYTES))
    return not file.read(HEADER_BYTES).strip(b"\0")


def check_stopped(file: BinaryIO, start: int, end: int) -> None:
    """Refuse what a stopped writer does not leave behind the last whole frame.

    It leaves the beginning of one frame, and after a crash of the machine zeros in place of its
    other bytes.

    Raises:
        NotOursError: there is more than that.
    """
    if end - start > MOST_TRACE_BYTES:
        raise NotOursError(f"it takes more than {MOST_TRACE_BYTES} bytes")
    has_zeros = ends_in_zeros(file, end)
    file.seek(start)
    rest = file.read(end - start)
    rest = rest.rstrip(b"\0") if has_zeros else rest
    if frame_end(file, start, start + len(rest)) is not None:
        raise NotOursError("it is damaged")
    place = 0
    while (place := rest.find(zstandard.FRAME_HEADER, place + 1)) > 0:
        try:
            _header_size(rest[place : place + HEADER_BYTES])
        except NotOursError:  # the same bytes by chance
            continue
        raise NotOursError(f"it is damaged, and another frame is at byte {start + place}")


def _header_size(data: bytes) -> int:
    """Return how many bytes are before the first block of a frame, which begins with these."""
    if not data.startswith(zstandard.FRAME_HEADER):
        raise NotOursError("no frame begins there")
    try:
        found = zstandard.get_frame_parameters(data)
        size = int(zstandard.frame_header_size(data))
    except zstandard.ZstdError as error:
        raise NotOursError("it is damaged") from error
    # Looked at before anything is unpacked: the library trusts it.
    if not 0 < found.content_size <= MOST_TRACE_BYTES:
        raise NotOursError("it does not say how much it holds, or too much")
    if not found.has_checksum:
        raise NotOursError("it has no checksum")
    return size
