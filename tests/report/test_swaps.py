"""A folder that is replaced whole, by a process that may die at any change of a file."""

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from calbench import folders
from calbench.endings import undo_all
from calbench.errors import OutputError
from calbench.files import write_atomically
from calbench.folders import MARK, is_own, replaced, scratch_folder
from tests.campaigns.killing import is_change


class KilledError(BaseException):
    """Raised at a change of a file, and at every later one: nothing is changed any more."""


@dataclass
class Killer:
    """Lets nothing be changed from the n-th change on."""

    folder: str = ""
    left: int = 0
    is_on: bool = False

    def note(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_on and is_change(event, arguments, self.folder):
            self.left -= 1
            if self.left <= 0:
                raise KilledError


KILLER = Killer()
sys.addaudithook(KILLER.note)  # it stays as long as the process does


@contextmanager
def killed_at(change: int, folder: Path) -> Iterator[None]:
    KILLER.folder, KILLER.left, KILLER.is_on = str(folder), change, True
    try:
        yield
    finally:
        KILLER.is_on = False


def is_killed(change: int, folder: Path, build: Callable[[], None]) -> bool:
    with suppress(KilledError), killed_at(change, folder):
        build()
        return False
    return True


def build(out: Path, text: str) -> None:
    with replaced(out) as beside:
        (beside / "index.html").write_text(text)
        (beside / "tables").mkdir()
        (beside / "tables" / "a.csv").write_text(text)


def break_off(out: Path) -> None:
    with replaced(out) as beside:
        (beside / "index.html").write_text("half")
        raise ValueError("broken")


def texts(out: Path) -> dict[str, str]:
    return {
        path.relative_to(out).as_posix(): path.read_text()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != MARK
    }


def site(text: str) -> dict[str, str]:
    return {"index.html": text, "tables/a.csv": text}


@pytest.mark.parametrize("is_there", [True, False])
def test_killed_build_leaves_the_old_folder_or_the_new_one(tmp_path: Path, is_there: bool) -> None:
    seen = set[str]()
    for change in count(1):
        top = tmp_path / str(change)
        top.mkdir()
        out = top / "site"
        if is_there:
            build(out, "old")
        is_over = not is_killed(change, top, partial(build, out, "new"))
        found = texts(out)
        assert found in ({}, site("old"), site("new"))
        assert is_own(out)
        if not found and is_there:
            assert texts(top / ".site.old") == site("old")
        seen.add(found.get("index.html", "nothing"))
        build(out, "newer")
        assert texts(out) == site("newer")
        assert [path.name for path in top.iterdir()] == ["site"]
        if is_over:
            break
    assert change > 6
    assert seen == ({"old", "nothing", "new"} if is_there else {"nothing", "new"})


def test_build_that_fails_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "site"
    with pytest.raises(ValueError, match="broken"):
        break_off(out)
    assert not (tmp_path / "deep").exists()
    build(out, "old")
    with pytest.raises(ValueError, match="broken"):
        break_off(out)
    assert texts(out) == site("old")
    assert [path.name for path in out.parent.iterdir()] == ["site"]


@pytest.mark.parametrize("name", [".site.part", ".site.old"])
def test_files_of_others_beside_a_site_are_left_alone(tmp_path: Path, name: str) -> None:
    mine = tmp_path / name / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(OutputError, match=f"{name}: holds other files; move it away"):
        build(tmp_path / "site", "new")
    assert mine.read_text() == "mine"
    assert not (tmp_path / "site").exists()


def test_unmarked_folder_has_no_trace_of_its_building(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with replaced(tmp_path / "site", is_marked=False) as beside:
            (beside / "index.html").write_text(text)
        assert [path.name for path in (tmp_path / "site").iterdir()] == ["index.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_scratch_folders_of_killed_processes_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed, foreign = tmp_path / "calbench-site-killed", tmp_path / "calbench-site-mine"
    for folder in (killed, foreign):
        folder.mkdir()
        (folder / "file").write_text("text")
    (killed / folders.LOCK).touch()
    with scratch_folder("site") as first:
        assert not killed.exists()
        (first / "work").mkdir()
        with scratch_folder("site"):
            assert (first / "work").is_dir()  # its process lives
    assert [path.name for path in tmp_path.iterdir()] == ["calbench-site-mine"]


def test_scratch_folder_stays_where_nobody_can_say_that_its_process_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(folders, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("fcntl.flock", unknown)
    with scratch_folder("site") as first, scratch_folder("site"):
        assert first.is_dir()


def test_file_is_whole_or_not_there_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    for change in count(1):
        path = tmp_path / str(change) / "file"
        is_over = not is_killed(change, tmp_path, partial(write_atomically, path, b"whole"))
        assert not path.exists() or path.read_bytes() == b"whole"
        write_atomically(path, b"whole")
        assert [each.name for each in path.parent.iterdir()] == ["file"]
        if is_over:
            break
    assert change > 3


def test_end_of_the_process_removes_what_is_under_way(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "site"
    with suppress(OSError), replaced(out) as beside:
        (beside / "index.html").write_text("half")
        undo_all()
        assert list(tmp_path.iterdir()) == []
