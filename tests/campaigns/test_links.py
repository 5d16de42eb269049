"""Links, pipes and devices in strangers' folders: they lead no command out, and hold up none."""

import os
import random
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from calbench.cli.main import answer
from tests.campaigns.places import Started, commands
from tests.cli.runs import SMALL
from tests.conftest import Figures
from tests.effort import attacks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes as POSIX has them"),
]

SECRET = "what-stands-in-the-environment"  # noqa: S105 - it is looked for

READING = (
    "verify {run}",
    "verify {run}/traces",
    "verify --partial {run}",
    "verify {packed}",
    "rescore {run} out={new}",
    "rescore {packed} out={new}",
    "compare {run} {run} a=imap b=candid",
    "judge {run} out={new}",
    "matchmake {run}",
    "traces ls {run}",
    "traces cat --all {run}",
    "traces cat {packed} --all",
    "traces pack {run} out={new}",
    "traces unpack {run} out={new}",
    "traces unpack {packed} out={new}",
    "traces convert {packed} out={new}",
    "replies stats {replies}",
    "replies export {replies} {new}",
    "view {run} serve=false jobs=1 out={new}",
)
WRITING = (
    "{small} teams=[imap,candid] out={run}",
    "{small} teams=[imap,candid,silent] out={run}",
    "{small} teams=[imap,candid] fresh=true out={run}",
    "{small} teams=[imap,silent] traces.format=shards out={packedrun}",
    "rescore {run} out={run}/tables",
    "judge {run} out={run}/judge",
    "compare {run} {run} a=imap b=candid out={run}/differences",
    "traces unpack {packed} out={run}/unpacked",
    "replies merge {run}/replies.sqlite {replies}",
    "replies export {replies} {run}/exported",
    "view {run} serve=false jobs=1",
)

NAMES = (
    ".lock", "code.json", "replies.sqlite", "replies.sqlite-wal", "replies.sqlite.lock", "site",
    ".site.part", ".site.old", "tables", "traces", "judge", "differences", "unpacked",
    ".unpacked.part", "exported", "traces/imap", "traces/new", "traces/00000.jsonl.zst",
    "traces/imap/.taste-varied-000.json.part", "traces/imap/new.json", "tables/metrics",
    "tables/facts", "tables/.leaderboard.csv.part", "tables/leaderboard.csv", "tables/privacy",
    "tables/metrics.json", "tables/metrics/taste-varied", "judge/cases.jsonl", "traces-before-1",
    "exported/index.json", "differences/differences.csv", "tables/datapackage.json",
)  # fmt: skip
"""What a run's folder has or may get, below it."""

Layout = Callable[[Path, Path], None]


def _to_file(place: Path, outside: Path) -> None:
    target = outside / "files" / place.name
    target.parent.mkdir(exist_ok=True)
    if not target.exists():
        source = next(outside.glob("run/traces/imap/*.json"))
        shutil.copy(place if place.is_file() else source, target)
    _link(place, target)


def _to_folder(place: Path, outside: Path) -> None:
    target = outside / "folders" / place.name
    if not target.exists():
        shutil.copytree(place if place.is_dir() else outside / "run", target)
    _link(place, target)


def _to_marked(place: Path, outside: Path) -> None:
    target = outside / "marked" / place.name
    target.mkdir(parents=True, exist_ok=True)
    (target / ".calbench-site").write_text("mark")
    (target / "kept").write_text("kept")
    _link(place, target)


def _link(place: Path, target: str | Path) -> None:
    _replace(place)
    place.symlink_to(target)


def _pipe(place: Path, _: Path) -> None:
    _replace(place)
    os.mkfifo(place)


def _socket(place: Path, _: Path) -> None:
    _replace(place)
    before = Path.cwd()
    os.chdir(place.parent)  # a socket's name is short
    try:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as made:
            made.bind(place.name)
    finally:
        os.chdir(before)


LAYOUTS: Mapping[str, Layout] = {
    "file": _to_file,
    "folder": _to_folder,
    "marked": _to_marked,
    "nothing": lambda place, outside: _link(
        place, outside / ("nowhere" if len(place.name) % 2 else f"new-{place.name}")
    ),
    "loop": lambda place, _: _link(place, place.name),
    "above": lambda place, _: _link(place, ".."),
    "process": lambda place, _: _link(place, "/proc/self/environ"),
    "device": lambda place, _: _link(place, "/dev/zero"),
    "pipe": _pipe,
    "socket": _socket,
}


def _replace(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)


def _state(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def _holds(folder: Path, text: bytes) -> bool:
    if folder.is_file():
        return text in folder.read_bytes()
    files = (each for each in folder.rglob("*") if not each.is_symlink() and each.is_file())
    return any(text in each.read_bytes() for each in files)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a run, its games in shards, a run of shards, and exported replies."""
    folder = tmp_path_factory.mktemp("samples")
    assert answer(["-q", *SMALL, "teams=[imap,candid]", f"out={folder / 'run'}"]) == 0
    assert answer(["-q", "traces", "pack", str(folder / "run"), f"out={folder / 'packed'}"]) == 0
    shards = [*SMALL, "teams=[imap]", "traces.format=shards", f"out={folder / 'packedrun'}"]
    assert answer(["-q", *shards]) == 0
    shutil.copytree(Path("data/cohorts/smollm2/v1/replies").resolve(), folder / "replies")
    return folder


def test_no_link_leads_out_and_nothing_holds_up(
    samples: Path, tmp_path: Path, figures: Figures
) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(samples, outside)
    before, outcomes, longest = _state(outside), Counter[str](), 0.0
    failures: list[str] = []
    with commands(outside, CALBENCH_SECRET=SECRET) as run:
        for number in range(attacks(300)):
            chance = random.Random(f"links-{number}")
            words = chance.choice(READING + WRITING)
            theirs = tmp_path / str(number)
            shutil.copytree(samples, theirs / "in")
            folders = {each.name: each for each in (theirs / "in").iterdir()}
            named = [name for name in folders if f"{{{name}}}" in words]
            layouts = chance.sample(sorted(LAYOUTS), chance.choice((1, 1, 1, 2)))
            for kind in layouts:
                top = folders[chance.choice(named)]
                there = [each.relative_to(top) for each in sorted(top.rglob("*"))]
                name = chance.choice(there) if chance.random() < 0.5 else chance.choice(NAMES)
                place = top / name
                if f"{{{top.name}}}/{name}" in words:
                    continue  # a link that the user names is his to follow
                with suppress(OSError):
                    LAYOUTS[kind](place, outside)
            after_layout = _state(outside)
            words = words.format(**folders, small=" ".join(SMALL), new=theirs / "new")
            (ended,) = run(Started(words.split(), str(theirs / "said"), str(theirs)))
            outcomes[f"status {ended.status}"] += 1
            longest = max(longest, ended.seconds)
            what = f"{number} {words} {layouts} {place}".replace(str(theirs), "")
            if ended.status is None:
                failures.append(f"hangs: {what}")
            if "Traceback" in ended.said or ended.status not in (0, 1, 2, 3, None):
                failures.append(f"ends badly: {what}: {ended.said[-300:]}")
            if _state(outside) != after_layout:
                failures.append(f"writes outside: {what}")
            if ended.read:
                failures.append(f"reads {set(ended.read)}: {what}")
            if SECRET in ended.said or _holds(theirs, SECRET.encode()):
                failures.append(f"tells a secret: {what}")
            shutil.rmtree(outside)
            shutil.copytree(samples, outside)
            assert _state(outside) == before
            shutil.rmtree(theirs)
    outcomes["failures"] = len(failures)
    figures("links in folders", outcomes)
    assert not failures, "\n".join(failures)
