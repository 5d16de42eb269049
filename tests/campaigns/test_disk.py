"""Machines that stop and disks that fail: a reply is on the disk before it is used."""

import asyncio
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from calbench.llm.replies.record import named
from calbench.llm.replies.shards import open_replies
from calbench.llm.replies.store import ReplyStore
from calbench.traces.storage import read_trace
from tests.cli.runs import REPO
from tests.conftest import Figures
from tests.effort import GUARD_S, attacks
from tests.llm import disk_recorder
from tests.llm.asking import put, recorded, request
from tests.llm.disk import Disk, Note, compiled, read_notes

pytestmark = pytest.mark.heavy

REPLIES = 60


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("disk"))


def run(
    library: Path, folder: Path, notes: Path, arguments: Sequence[str], fault: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a module of the tests, its use of a folder being noted."""
    environment = {
        "LD_PRELOAD": str(library),
        "DISK_FOLDER": f"{folder}",
        "DISK_NOTES": f"{notes}",
        "DISK_FAULT": fault,
    }
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=REPO,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=GUARD_S,
    )


def record(
    library: Path, folder: Path, notes: Path, *more: str, fault: str = "", count: int = REPLIES
) -> subprocess.CompletedProcess[str]:
    arguments = ["tests.llm.disk_recorder", f"{folder}/r.sqlite", f"{count}", *more]
    return run(library, folder, notes, arguments, fault)


def told(notes: Sequence[Note], word: str) -> list[int]:
    """Return the numbers that a process told with a word."""
    text = b"".join(note.data for note in notes if note.op == "A").decode()
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{word} ")]


def lost(store: ReplyStore, used: Sequence[int]) -> list[int]:
    """Return the numbers of used replies that a store does not have."""
    missing = []
    for number in used:
        found = store.get(named(request("thread", f"{number}: " + "slot " * 200)).key)
        if found is None or found.text != f"no {number}":
            missing.append(number)
    return missing


def crash(
    notes: Sequence[Note], image: Path, root: Path, chance: random.Random, first: float = 0.0
) -> list[Note]:
    """Stop the machine at some moment after a share of the notes; return what had happened."""
    until = chance.randint(int(first * len(notes)), len(notes))
    disk = Disk()
    for note in notes[:until]:
        disk.happen(note)
    disk.after_crash(image, str(root), chance.choice([None, chance, chance]))
    return list(notes[:until])


def test_reply_that_was_used_is_there_after_a_crash_of_the_machine(
    library: Path, tmp_path: Path, figures: Figures
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    done = record(library, folder, tmp_path / "notes")
    assert (done.returncode, done.stderr) == (0, "")
    notes, came = read_notes(tmp_path / "notes"), Counter[str]()
    assert told(notes, "used") == list(range(REPLIES))
    for number in range(attacks(60)):
        chance, image = random.Random(f"crash-{number}"), tmp_path / f"after-{number}"
        used = told(crash(notes, image, folder, chance), "used")
        with ReplyStore.open(image / "r.sqlite") as store:
            store.check()
            assert lost(store, used) == [], number
            assert len(used) * 2 <= store.spent() <= REPLIES * 3
            came["whole" if store.count() else "empty"] += 1
            put(store, *recorded("goes on"))
    figures("crashes while replies are recorded", came)


def test_crash_finds_a_store_that_does_not_wait_for_the_disk(library: Path, tmp_path: Path) -> None:
    folder, found = tmp_path / "store", 0
    folder.mkdir()
    record(library, folder, tmp_path / "notes", "careless")
    notes = read_notes(tmp_path / "notes")
    for number in range(8):
        image = tmp_path / f"after-{number}"
        used = told(crash(notes, image, folder, random.Random(f"careless-{number}")), "used")
        with ReplyStore.open(image / "r.sqlite") as store:
            found += bool(lost(store, used))
    assert found


def test_failing_disk_ends_a_recording_in_one_line_and_loses_nothing(
    library: Path, tmp_path: Path, figures: Figures
) -> None:
    came = Counter[str]()
    for number in range(attacks(20)):
        chance = random.Random(f"fault-{number}")
        call, hows = chance.choice([("write", ["EIO", "ENOSPC", "SHORT"]), ("sync", ["EIO"])])
        how, most = chance.choice(hows), 200 if call == "write" else 40
        fault = f"{call}:{chance.randint(1, most)}:{how}"
        folder, notes, image = (tmp_path / f"{number}-{name}" for name in ("on", "notes", "after"))
        folder.mkdir()
        failed = record(library, folder, notes, fault=fault, count=24)
        happened = read_notes(notes)
        struck = [place for place, note in enumerate(happened) if note.op == "E"]
        share = struck[0] / len(happened) if struck else 0.5
        if failed.returncode == 0:  # it was never reached, or at the end, when all was written
            assert failed.stderr == "", fault
            assert len(told(happened, "used")) == 24, fault
        else:
            assert failed.returncode == 2, (fault, failed.stderr)
            assert failed.stderr.startswith("error: "), (fault, failed.stderr)
            assert failed.stderr.count("\n") == 1, (fault, failed.stderr)
        came[f"{call} {how} {'told' if failed.returncode else 'harmless'}"] += 1
        for moment in range(4):  # at which the machine stops after the fault
            after = image.with_name(f"{image.name}-{moment}")
            before = crash(happened, after, folder, chance, share)
            assert resumed(after, told(before, "used")), fault
        assert resumed(folder, told(happened, "used")), fault
        asyncio.run(disk_recorder.record(folder / "r.sqlite", 24))  # the same again resumes
        assert resumed(folder, range(24)), fault
    figures("disk faults while replies are recorded", came)


def resumed(folder: Path, used: Sequence[int]) -> bool:
    """Tell whether a store opens and has what was used."""
    with ReplyStore.open(folder / "r.sqlite") as store:
        store.check()
        return lost(store, used) == [] and store.spent() >= 2 * len(used)


def test_trace_that_exists_after_a_crash_is_whole_and_its_replies_are_there(
    library: Path, tmp_path: Path, figures: Figures
) -> None:
    out, came = tmp_path / "run", Counter[str]()
    small = ["suite.num_scenarios=3", "suite.num_candidates=3"]
    arguments = ["tests.cli.recording", f"{out}", f"{tmp_path / 'requests'}", "0", *small]
    done = run(library, out, tmp_path / "notes", arguments)
    assert done.returncode == 0, done.stderr
    notes = read_notes(tmp_path / "notes")
    for number in range(attacks(20)):
        image = tmp_path / f"after-{number}"
        crash(notes, image, out, random.Random(f"traces-{number}"), 0.5)
        traces = [read_trace(path) for path in image.glob("traces/**/*.json")]
        keys = {
            key
            for trace in traces
            for event in trace.events
            for key in getattr(event, "reply_keys", ())
        }
        came["with traces" if traces else "without traces"] += 1
        if keys:
            with open_replies(image / "replies.sqlite") as store:
                assert keys <= {record.key for record in store.records()}
    figures("crashes while games are played", came)
