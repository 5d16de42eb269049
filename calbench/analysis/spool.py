"""A file whose parts arrive game by game, in any order, and leave in a fixed one."""

import os
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from calbench.errors import OutputError

Key = tuple[Any, ...]
"""What a game is sorted by; unique and comparable within a table."""


class Places:
    """Numbers for games by what they are sorted by; the files of one run share them."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._places: dict[Key, int] = {}

    def of(self, key: Key) -> int:
        """Return a game's number, a new one if it has none yet."""
        return self._places.setdefault(key, len(self._places))

    def in_order(self) -> list[int]:
        """Return all numbers, games in ascending key."""
        return [self._places[key] for key in sorted(self._places)]


ABSENT = -1
"""Length of the block of a game that a file did not take."""


class SpooledFile:
    """A text file in the making.

    Blocks wait in an unnamed temporary file in the file's own folder, so memory holds two
    numbers a game, and a killed run leaves nothing behind. :meth:`write` brings them into
    order under a temporary name, then renames.
    """

    def __init__(
        self, path: Path, head: str, joint: str = "", tail: str = "", places: Places | None = None
    ) -> None:
        """Prepare the folder.

        Args:
            path: where the file shall stand.
            head: what comes before all blocks.
            joint: what comes between two of them, if both hold anything.
            tail: what comes behind them.
            places: of the games, where several files share them.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._path = path
        self._head, self._joint, self._tail = head.encode(), joint.encode(), tail.encode()
        self._places = Places() if places is None else places
        self._starts, self._lengths = array("q"), array("q")
        self._end = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._rows: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115 - open until close()
                dir=path.parent
            )
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, key: Key, lines: str) -> None:
        """Add one game's block, such as whole lines of a table.

        Raises:
            ValueError: the game is there already.
            OutputError: the folder cannot be written.
        """
        place = self._places.of(key)
        if self._has(place):
            raise ValueError(f"{self._path.name}: two games are called {key}")
        data = lines.encode()
        try:
            self._rows.write(data)
        except OSError as error:
            raise self._failure(error) from error
        missing = place + 1 - len(self._lengths)
        self._starts.extend([0] * missing)
        self._lengths.extend([ABSENT] * missing)
        self._starts[place], self._lengths[place] = self._end, len(data)
        self._end += len(data)

    def _has(self, place: int) -> bool:
        return place < len(self._lengths) and self._lengths[place] != ABSENT

    def write(self) -> None:
        """Write the file whole or not at all, games in ascending key.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        beside = self._path.with_name(f".{self._path.name}.part")
        try:
            with beside.open("wb") as file:
                self._save(file, self._in_order())
                file.flush()
                os.fsync(file.fileno())
            self._rows.seek(self._end)
            beside.replace(self._path)
        except OSError as error:
            raise self._failure(error) from error

    def _in_order(self) -> Iterator[bytes]:
        """Yield the block of each game, games in ascending key."""
        for place in filter(self._has, self._places.in_order()):
            self._rows.seek(self._starts[place])
            yield self._rows.read(self._lengths[place])

    def _save(self, file: IO[bytes], blocks: Iterator[bytes]) -> None:
        """Bring head, blocks and tail into the form of the file."""
        file.write(self._head)
        is_first = True
        for block in blocks:
            if block:
                file.write(b"" if is_first else self._joint)
                file.write(block)
                is_first = False
        file.write(self._tail)

    def close(self) -> None:
        """Let go of the rows; what was written stays."""
        self._rows.close()

    def _failure(self, error: OSError) -> OutputError:
        reason = error.strerror or error
        return OutputError(f"{self._path}: cannot be written ({reason}); choose another folder")


class SpooledTable(SpooledFile):
    """The same of a CSV file: its head is the names of its columns."""

    def __init__(self, path: Path, columns: Sequence[str], places: Places | None = None) -> None:
        """Prepare the folder.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        super().__init__(path, ",".join(columns) + "\n", places=places)
