"""A recording run that is killed at any moment goes on where it was, and pays nothing twice."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from calbench.llm.replies.shards import open_replies
from calbench.runs.play import execute
from tests.cli.recording import noting, recording
from tests.cli.runs import REPO
from tests.effort import GUARD_S

CONCURRENCY = 8

MOST_S = 0.1
"""How long after its last reply a run goes on at most: it stores them, and asks in vain."""


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def keys_in(store: Path) -> set[str]:
    if not store.exists():
        return set()
    with open_replies(store) as replies:
        return {record.key for record in replies.records()}


def start(
    out: Path, notes: Path, overrides: Sequence[str], held_after: int | None
) -> subprocess.Popen[bytes]:
    arguments = [str(out), str(notes), "15", *overrides]
    command = [sys.executable, "-m", "tests.cli.recording", *arguments]
    held = {} if held_after is None else {"HELD_AFTER": str(held_after)}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=REPO, env=os.environ | held, stdout=quiet, stderr=quiet)


def kill_and_resume(tmp_path: Path, kills: int, overrides: Sequence[str] = ()) -> None:
    out, notes, whole = tmp_path / "killed", tmp_path / "requests", tmp_path / "whole"
    execute(recording(str(whole), *overrides), noting(str(tmp_path / "undisturbed"), 0))
    needed = sent_keys(tmp_path / "undisturbed")
    assert len(needed) == len(set(needed))
    chance, struck, is_done, written = random.Random(4), 0, False, set[str]()
    while not is_done:
        before = len(sent_keys(notes))
        replies = chance.randrange(max(1, len(needed) // kills)) if struck < kills else None
        process = start(out, notes, overrides, replies)
        if replies is not None:
            # Nothing is left but to ask for what is held: the kill finds some under way.
            assert is_asking(process, notes, before + replies)
            time.sleep(chance.random() * MOST_S)
            process.kill()
            struck += 1
        is_done = process.wait(GUARD_S) == 0
        # What was on disk before this start was not asked for again.
        assert not written & set(sent_keys(notes)[before:])
        written = keys_in(out / "replies.sqlite")
    sent = Counter(sent_keys(notes))
    assert set(sent) == set(needed)
    assert struck == kills
    assert sum(sent.values()) - len(sent) <= struck * CONCURRENCY
    assert contents(out / "traces") == contents(whole / "traces")
    assert contents(out / "tables") == contents(whole / "tables")


def is_asking(process: "subprocess.Popen[bytes]", notes: Path, before: int) -> bool:
    """Wait for the next request of a run."""
    while process.poll() is None:
        if len(sent_keys(notes)) > before:
            return True
        time.sleep(0.002)
    return False


def sent_keys(notes: Path) -> list[str]:
    return notes.read_text().split() if notes.exists() else []


@pytest.mark.heavy
def test_run_killed_once_ends_as_if_it_never_was(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, 1, ["suite.num_scenarios=2", "suite.num_candidates=2"])


@pytest.mark.slow
def test_run_killed_fifty_times_ends_as_if_it_never_was(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, kills=50)
