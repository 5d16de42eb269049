"""A refused command leaves the files as they were, and what is not its own is never overwritten."""

import errno
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from calbench.files import write_atomically
from tests.cli.conftest import Command
from tests.cli.runs import SMALL

SMALLEST = (*SMALL, "subset=1", "teams=[imap]")

MODEL = (
    *SMALL,
    "subset=1",
    "teams=[imap,my-model]",
    "model.name=openai/stand-in",
    "model.api_base=http://127.0.0.1:9/v1",
    "model.max_attempts=1",
)

UNASKED = (*MODEL, "preflight=false")


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Return every file and folder, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def write(path: Path, text: str = "mine\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def foreign_database(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    return folder


def assert_refused(command: Command, here: Path, words: str, arguments: tuple[str, ...]) -> None:
    before = snapshot(here)
    ended = command(*arguments)
    assert ended.status == 2, ended.err
    (line,) = (each for each in ended.error_lines if not each.startswith("Budget: "))
    assert line.startswith("error: ")
    assert words in line
    assert snapshot(here) == before


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("o/tables/notes.txt", "mine\n", "o/tables: holds notes.txt, which is not a table"),
        ("o/tables/leaderboard.csv", "rank,name\n1,me\n", "leaderboard.csv, which is not a table"),
        ("o/tables/metrics.json", "{}", "holds metrics.json, which is not a table"),
        ("o/traces/notes.txt", "mine\n", "o/traces: holds notes.txt, which is not a trace"),
        ("o/traces/imap/taste-varied-000.json", "{}", "is not a complete trace"),
        ("o/tables", "mine\n", "o/tables: is not a folder"),
        ("o/traces", "mine\n", "o/traces: is not a folder"),
        ("o/traces/imap", "mine\n", "o/traces: holds imap, which is not a trace"),
        ("o", "mine\n", "o: cannot be written"),
    ],
)
def test_run_leaves_a_folder_with_files_of_others_alone(
    command: Command, here: Path, file: str, text: str, words: str
) -> None:
    write(here / file, text)
    assert_refused(command, here, words, (*SMALLEST, "out=o"))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("there is no 'nobody'", (*SMALL, "teams=[nobody]", "out=o/p")),
        ("no such file", ("suite.path=nowhere.jsonl", "out=o/p")),
        ("choose at most 3", (*SMALL, "subset=9", "out=o/p")),
        ("NO_SUCH_KEY is not set", (*UNASKED, "model.api_key_env=NO_SUCH_KEY", "out=o/p")),
        ("has no price", (*UNASKED, "budget.max_usd=1", "out=o/p")),
        ("has no price", (*MODEL, "budget.max_usd=1", "out=o/p")),
        ("nothing listens", (*MODEL, "out=o/p")),
        ("there is no reply store", (*MODEL, "replies.mode=replay", "out=o/p")),
        (
            "there is no reply store",
            (*MODEL, "replies.mode=replay", "replies.path=gone.sqlite", "out=o/p"),
        ),
        ("mode live keeps nothing", (*MODEL, "replies.mode=live", "replies.path=x", "out=o")),
    ],
)
def test_refused_run_leaves_nothing(
    command: Command, here: Path, words: str, arguments: tuple[str, ...]
) -> None:
    assert_refused(command, here, words, arguments)


@pytest.mark.heavy
@pytest.mark.parametrize("preflight", ["true", "false"])
def test_replies_of_others_are_refused_before_a_game(
    command: Command, here: Path, preflight: str
) -> None:
    arguments = (*MODEL, f"preflight={preflight}", "out=o")
    foreign_database(here / "o" / "replies.sqlite")
    assert_refused(command, here, "another program's database", arguments)
    write(here / "o" / "replies.sqlite", "no database\n" * 100)
    assert_refused(command, here, "not a reply store", arguments)
    write(here / "d" / "mine.txt")
    assert_refused(command, here, "d is a folder", (*arguments, "replies.path=d"))


@pytest.mark.heavy
def test_other_commands_leave_files_of_others_alone(
    command: Command, here: Path, finished: Path
) -> None:
    write(here / "o" / "leaderboard.csv", "rank,name\n1,me\n")
    write(here / "o" / "differences.csv", "mine\n")
    write(here / "teams" / "x.yaml", "mine: 1\n")
    write(here / "m.jsonl", '{"text": "x", "labels": []}\n')
    write(here / "mine.txt")
    run = str(finished)
    for words, arguments in (
        ("leaderboard.csv: is no table over a sweep", ("-m", *SMALLEST, "suite.seed=0,1", "out=o")),
        ("which is not a table", ("rescore", run, "out=o")),
        ("which is not a table", ("judge", run, "out=o")),
        ("which is not a table", ("compare", run, run, "a=imap", "b=silent", "out=o")),
        ("mine.txt: is there already, and is no audit", ("audit", "m.jsonl", "mine.txt")),
        ("x.yaml: is there already, and was not proposed", ("matchmake", run, "out=teams/x.yaml")),
        ("holds other files", ("site", run, "out=o")),
    ):
        assert_refused(command, here, words, arguments)


@pytest.mark.heavy
def test_own_files_are_replaced(command: Command, here: Path) -> None:
    """Hidden files, leftovers of killed processes and earlier results are no obstacle."""
    write(here / "m.jsonl", '{"text": "x", "labels": []}\n')
    arguments = ((*SMALLEST, "judge=scripted", "out=o"), ("audit", "m.jsonl", "a.jsonl"))
    for each in arguments:
        assert command(*each).status == 0
    expected = snapshot(here)
    write(here / "o" / "tables" / ".DS_Store")
    write(here / "o" / "tables" / ".leaderboard.csv.part")
    write(here / "o" / "tables" / ".facts" / ".spool" / "games.arrow")
    for each in arguments:
        assert command(*each).status == 0
    (here / "o" / "tables" / ".DS_Store").unlink()
    assert snapshot(here) == expected


# --- a full disk


@contextmanager
def most_bytes(count: int) -> Iterator[None]:
    """Let no file become larger: what is written beyond it fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def half_written(folder: Path) -> list[str]:
    return [name for name in snapshot(folder) if ".part" in name or ".spool" in name]


@pytest.mark.heavy
@pytest.mark.parametrize("count", [0, 6000])
def test_full_disk_is_one_line_and_leaves_nothing_half_written(
    command: Command, here: Path, finished: Path, count: int
) -> None:
    run = str(finished)
    for arguments in (
        (*SMALLEST, "out=o"),
        ("rescore", run, "out=t"),
        ("judge", run, "out=j"),
        ("compare", run, run, "a=imap", "b=silent", "out=c"),
    ):
        with most_bytes(count):
            ended = command(*arguments)
        if ended.status == 0:  # all of its files are small
            continue
        assert ended.status == 2, ended.err
        (line,) = (each for each in ended.error_lines if each.startswith("error: "))
        assert "cannot be" in line
        assert "Traceback" not in ended.err
        assert half_written(here) == []
    assert command(*SMALLEST, "out=o").status == 0
    assert command("rescore", run, "out=t").status == 0


def test_full_disk_is_told_whatever_writes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match=r"file: cannot be written \(No space left on device\)"):
        write_atomically(here / "file", b"text")
    assert snapshot(here) == {}
