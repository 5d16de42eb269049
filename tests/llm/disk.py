"""What a disk may hold when the machine stops: from the notes of ``disk.c``.

A write is on the disk once a sync that began after it has succeeded. Until then the disk holds
any part of it, sector by sector, in any order. The same holds for names of files and their folder.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).with_name("disk.c")

SECTOR = 512


def compiled(folder: Path) -> Path:
    """Compile what notes and fails; skip where there is no compiler, but not in CI."""
    compiler = shutil.which("cc")
    if compiler is None and os.environ.get("CALBENCH_REQUIRE_BROWSER") != "1":
        pytest.skip("there is no C compiler (cc)")
    assert compiler is not None, "CALBENCH_REQUIRE_BROWSER=1, but there is no C compiler (cc)"
    library = folder / "disk.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl", "-lpthread"],
        check=True,
    )
    return library


class Note(NamedTuple):
    """One thing that a process asked of the disk, or told."""

    op: str
    inode: int
    offset: int
    thread: int
    path: str
    data: bytes


def read_notes(path: Path) -> list[Note]:
    return list(_notes(path.read_bytes()))


def _notes(data: bytes) -> Iterator[Note]:
    place = 0
    while place < len(data):
        end = data.index(b"\n", place)
        op, *numbers = data[place:end].split()
        inode, offset, length, thread, path_length = map(int, numbers)
        start = end + 1 + path_length
        has_data = op in {b"W", b"A", b"R"}
        place = start + (length if has_data else 0)
        yield Note(
            op.decode(), inode, offset, thread, data[end + 1 : start].decode(), data[start:place]
        )


class Change(NamedTuple):
    """A write at a place of a file, or its truncation."""

    offset: int
    data: bytes | None

    def sectors(self) -> Iterator["Change"]:
        if self.data is None:
            yield self
            return
        place, end = self.offset, self.offset + len(self.data)
        while place < end:
            until = min(end, (place // SECTOR + 1) * SECTOR)
            yield Change(place, self.data[place - self.offset : until - self.offset])
            place = until


def changed(content: bytearray, changes: Sequence[Change]) -> bytearray:
    for offset, data in changes:
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        if data is None:
            del content[offset:]
        else:
            content[offset : offset + len(data)] = data
    return content


@dataclass
class File:
    """A file: what is on the disk, and changes that may not be."""

    content: bytearray = field(default_factory=bytearray)
    pending: list[Change] = field(default_factory=list)
    synced: int = 0
    """Changes that were once pending and no longer are: to count across syncs."""

    def settle(self, count: int) -> None:
        """Take the changes before this number as written."""
        done = max(0, count - self.synced)
        changed(self.content, self.pending[:done])
        del self.pending[:done]
        self.synced += done

    def after_crash(self, chance: random.Random | None) -> bytes:
        """Return what is found after a crash: with no chance, all that is pending is lost."""
        if chance is None:
            return bytes(self.content)
        kept_share = chance.choice([0.1, 0.5, 0.9])
        kept = [
            part
            for change in self.pending
            for part in change.sectors()
            if chance.random() < kept_share
        ]
        return bytes(changed(bytearray(self.content), kept))


class Naming(NamedTuple):
    """A change of names that a folder's sync makes last: a file appears, or (None) is gone."""

    path: str
    file: File | None


class Disk:
    """A disk on which noted things happen."""

    def __init__(self) -> None:
        self.files: dict[int, File] = {}
        self.now: dict[str, File] = {}
        self.names: dict[str, File] = {}
        self.pending: list[list[Naming]] = []
        self.begun: dict[int, int | list[list[Naming]]] = {}

    def happen(self, note: Note) -> None:
        """Let one thing happen."""
        match note.op:
            case "C":
                self.files[note.inode] = File()
                self._name([Naming(note.path, self.files[note.inode])])
            case "U":
                self._name([Naming(note.path, None)])
            case "R":
                self._name(
                    [Naming(note.path, None), Naming(note.data.decode(), self.now[note.path])]
                )
            case "W" | "T":
                data = note.data if note.op == "W" else None
                self.files[note.inode].pending.append(Change(note.offset, data))
            case "B" | "S" | "E":
                self._sync(note)

    def _name(self, namings: list[Naming]) -> None:
        for path, file in namings:
            if file is None:
                self.now.pop(path, None)
            else:
                self.now[path] = file
        self.pending.append(namings)

    def _sync(self, note: Note) -> None:
        file = self.files.get(note.inode)
        if file is None:  # a folder
            if note.op == "B":
                self.begun[note.thread] = list(self.pending)
            elif note.op == "S":
                begun = self.begun.pop(note.thread)
                assert isinstance(begun, list)
                self._apply([each for each in begun if each in self.pending], note.path)
            return
        if note.op == "B":
            self.begun[note.thread] = file.synced + len(file.pending)
        elif note.op == "S":
            count = self.begun.pop(note.thread)
            assert isinstance(count, int)
            file.settle(count)
        else:  # the system forgets what it could not write; no later sync brings it back
            file.synced += len(file.pending)
            file.pending.clear()

    def _apply(self, namings: list[list[Naming]], folder: str) -> None:
        for together in namings:
            if any(os.path.dirname(naming.path) == folder for naming in together):  # noqa: PTH120
                rename(self.names, together)
                self.pending.remove(together)

    def after_crash(self, target: Path, root: str, chance: random.Random | None = None) -> None:
        """Write what is found after a crash of the machine into a folder."""
        names = dict(self.names)
        kept = 0 if chance is None else chance.randint(0, len(self.pending))
        for together in self.pending[:kept]:  # a file system keeps their order
            rename(names, together)
        target.mkdir()
        for path, file in names.items():
            place = target / os.path.relpath(path, root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.after_crash(chance))


def rename(names: dict[str, File], together: Sequence[Naming]) -> None:
    for path, file in together:
        if file is None:
            names.pop(path, None)
        else:
            names[path] = file
