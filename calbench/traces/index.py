"""The index of a shard: which games are in it, and where.

One line of JSON for each frame, in the order of the frames. A line is written when its frame is on
disk, so what the index names is there; a last line without its end is one of a writer that was
stopped, and counts for nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import ConfigDict, Field, Strict, TypeAdapter, ValidationError

from calbench.errors import FileError
from calbench.files import first_problem, printable, read_bytes
from calbench.scenarios.bounds import MOST_TRACE_BYTES

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[A-Za-z0-9][A-Za-z0-9._-]{0,79}\.json$"
"""``team/scenario.json`` or ``team/scenario.r1.json``: never a path out of its folder."""

file_name_pattern = re.compile(NAME_PATTERN)

SHARD_GLOB, INDEX_GLOB = (f"{'[0-9]' * 5}{end}" for end in (".jsonl.zst", ".index.jsonl"))
"""Files of a folder of shards. They are numbered from 0, with none left out."""

REST_GLOB = f"{'[0-9]' * 5}.rest*"
"""Where the bytes of a frame go whose writer was stopped; nothing reads them."""

FIRST_SHARD = "00000.jsonl.zst"
"""What every folder of shards has."""

MOST_INDEX_BYTES = 2**28
"""Bytes of an index, a thousand times those of a full shard [C]."""

_Strict = ConfigDict(strict=True, extra="forbid")
_Text = Annotated[str, Strict()]
_Size = Annotated[int, Strict(), Field(ge=1, le=MOST_TRACE_BYTES)]


@dataclass(frozen=True, slots=True)
class Game:
    """A game in a frame.

    Attributes:
        name: ``team/scenario.json``, its path below the folder of traces.
        is_halted: whether it ended before its last round; then a later entry may replace it.
        length: bytes of its line, those of its file.
        sha256: of these bytes, in hexadecimal.
    """

    __pydantic_config__ = _Strict

    name: Annotated[_Text, Field(pattern=NAME_PATTERN)]
    game_id: Annotated[_Text, Field(min_length=1, max_length=64)]
    is_halted: Annotated[bool, Strict()]
    length: _Size
    sha256: Annotated[_Text, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a shard.

    Attributes:
        offset: of its first byte.
        size: in bytes.
        games: in their order; each begins where the one before ends.
    """

    __pydantic_config__ = _Strict

    offset: Annotated[int, Strict(), Field(ge=0)]
    size: _Size
    games: Annotated[tuple[Game, ...], Field(min_length=1)]

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.size

    @property
    def length(self) -> int:
        """Bytes that it holds, unpacked."""
        return sum(game.length for game in self.games)


_FRAME: TypeAdapter[Frame] = TypeAdapter(Frame)


def shard_path(folder: Path, number: int) -> Path:
    """Return a shard of a folder."""
    return folder / f"{number:05d}.jsonl.zst"


def index_path(shard: Path) -> Path:
    """Return the index of a shard."""
    return shard.with_name(f"{shard.name[:5]}.index.jsonl")


def rest_paths(shard: Path) -> Iterator[Path]:
    """Yield the places for bytes that were behind the frames of a shard."""
    yield (first := shard.with_name(f"{shard.name[:5]}.rest"))
    for number in count(2):
        yield first.with_name(f"{first.name}{number}")


def index_line(frame: Frame) -> bytes:
    """Return what the index says of a frame."""
    return orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE)


def index_bytes(frames: Sequence[Frame]) -> bytes:
    """Return the exact bytes of an index."""
    return b"".join(map(index_line, frames))


def indexed(index: Path) -> Iterator[Frame]:
    """Yield what an index says of the frames of its shard.

    Raises:
        FileError: naming the line that does not fit.
    """
    end = 0
    data = read_bytes(index, MOST_INDEX_BYTES)
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        place = f"{printable(str(index))}, line {number}"
        try:
            frame = _FRAME.validate_json(line)
        except ValidationError as error:
            raise FileError(f"{place}: {first_problem(error)}; {_REMEDY}") from error
        if frame.offset != end:
            raise FileError(f"{place}: offset is {frame.offset}, not {end}; {_REMEDY}")
        if frame.length > MOST_TRACE_BYTES:
            raise FileError(f"{place}: holds more than {MOST_TRACE_BYTES} bytes; {_REMEDY}")
        end = frame.end
        yield frame


_REMEDY = "get it again, or move it away: without it, it is made from its shard, if that is whole"
