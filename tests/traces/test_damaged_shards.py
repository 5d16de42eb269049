"""Shards that end early or are damaged: no game is lost, and none is accepted that is another."""

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from calbench.errors import FileError
from calbench.release.manifest import game_digests
from calbench.runs.folder import check_run
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.shards import read_shard
from calbench.traces.storage import trace_bytes
from calbench.traces.store import ShardStore, open_store
from tests.cli.runs import REPO, environment, files
from tests.conftest import Figures
from tests.effort import attacks
from tests.traces.kept_games import game, keep, kept, name_of


def found(folder: Path) -> dict[str, bytes]:
    """Return the games of a folder that may have none."""
    return kept(folder) if Catalog().holds_traces(folder) else {}


def check_goes_on(folder: Path, whole: Path) -> None:
    """Check that the next writer keeps all that is missing, and changes nothing that is there."""
    before = files(folder)
    missing = [game(n) for n in range(7) if not Catalog().has(folder / name_of(game(n)))]
    keep(folder, missing) if missing else None
    assert kept(folder) == kept(whole)
    after = files(folder)
    assert all(after[name].startswith(data) for name, data in before.items())


@pytest.mark.heavy
@pytest.mark.parametrize("is_zeroed", [False, True])
def test_writer_stopped_at_any_byte_loses_no_whole_frame(
    whole: Path, tmp_path: Path, figures: Figures, is_zeroed: bool
) -> None:
    """Zeros are in place of its other bytes after a crash of the machine."""
    data, all_games = (whole / "00000.jsonl.zst").read_bytes(), kept(whole)
    frames, came = read_shard(whole / "00000.jsonl.zst").frames, Counter[str]()
    for number in range(attacks(500)):
        chance = random.Random(f"cut-{number}")
        cut = chance.randrange(len(data))
        end = next((f.end for f in frames if f.end > cut), len(data))
        zeros = chance.choice([16, max(4, end - cut), 4096]) if is_zeroed else 0
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "00000.jsonl.zst").write_bytes(data[:cut] + bytes(zeros))
        there = [f for f in frames if f.end <= cut]
        expected = {each.name for frame in there for each in frame.head.games}
        assert found(folder) == {name: all_games[name] for name in expected}, cut
        check_goes_on(folder, whole)
        came[f"{len(expected)} games left"] += 1
        shutil.rmtree(folder)
    figures("shards cut at a byte" + ", then zeros" * is_zeroed, came)


@pytest.mark.heavy
def test_flipped_bits_are_found_and_nothing_is_lost(
    whole: Path, tmp_path: Path, figures: Figures
) -> None:
    data, all_games, came = (whole / "00000.jsonl.zst").read_bytes(), kept(whole), Counter[str]()
    frames = read_shard(whole / "00000.jsonl.zst").frames
    headers = [place for f in frames for place in (*range(f.offset, f.offset + 12), f.start)]
    shard = tmp_path / "traces/00000.jsonl.zst"
    shard.parent.mkdir()
    for number in range(attacks(1000)):
        chance = random.Random(f"flip-{number}")
        place = headers[number // 2 % len(headers)] if number % 2 else chance.randrange(len(data))
        damaged = bytearray(data)
        damaged[place] ^= 1 << chance.randrange(8)
        shard.write_bytes(damaged)
        hurt = next(frame for frame in frames if place < frame.end)
        catalog = Catalog()
        if place < hurt.start:
            message = f"00000.jsonl.zst: what is at byte {hurt.offset} is no head of games ("
            with pytest.raises(FileError) as refusal:
                list(catalog.paths(shard.parent))
            with pytest.raises(FileError):
                ShardStore(shard.parent).commit(
                    ShardStore(shard.parent).prepare([(shard.parent / name_of(game(9)), game(9))])
                )
            came["head refused"] += 1
        else:
            assert not catalog.tails
            names = [each.name for each in hurt.head.games]
            for name in set(all_games) - set(names):
                assert catalog.read(shard.parent / name) == all_games[name]
            message = f"00000.jsonl.zst: the frame of games at byte {hurt.start} is not what"
            with pytest.raises(FileError) as refusal:
                catalog.read(shard.parent / names[-1])
            came["frame refused, others read"] += 1
        assert message in str(refusal.value), place
        assert str(refusal.value).isprintable()
        assert files(shard.parent) == {shard.name: bytes(damaged)}
    figures("flipped bits of shards", came)


WRITER = """
import sys
from pathlib import Path
from tests.traces.kept_games import game, name_of
from calbench.traces.catalog import Catalog
from calbench.traces.store import open_store
folder, first = Path(sys.argv[1]), int(sys.argv[2])
store = open_store(folder, "shards")
games = [game(number) for number in range(first, first + 60)]
batches = [store.prepare([(folder / name_of(each), each)]) for each in games]
print("ready", flush=True)
for each, batch in zip(games, batches):
    store.commit(batch)
    print(name_of(each), flush=True)
"""
"""Keeps games one by one, and says so of each."""


@pytest.mark.heavy
def test_killed_writer_loses_no_game_that_it_has_kept(tmp_path: Path, figures: Figures) -> None:
    folder, told, came = tmp_path / "traces", set[str](), Counter[str]()
    for number in range(attacks(100)):
        chance = random.Random(f"kill-{number}")
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(60 * number)],
            cwd=REPO,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        lines = process.communicate()[0].splitlines(keepends=True)
        told |= {line.strip() for line in lines if line.endswith("\n")}
        last = max(folder.iterdir(), default=None) if folder.exists() else None
        if number % 4 == 0 and last is not None:  # a kill within a write is rare: as if it was
            rest = ShardStore(folder).prepare([(folder / name_of(game(9999)), game(9999))])
            with last.open("ab") as file:
                file.write(rest.frames[0].data[: chance.randrange(1, 400)])
        assert told <= (set(found(folder)) if folder.exists() else set())
        came["kept" if lines else "nothing kept yet"] += 1
    expected = {name_of(game(n)): n for n in range(60 * attacks(100))}
    for name, data in kept(folder).items():
        assert data == trace_bytes(game(expected[name]))
    figures("kills of a writer of shards", came)


def refused(folder: Path) -> str:
    """Check that readers and the next run refuse a folder in one line, and change no byte."""
    before, texts = files(folder), set()
    for work in (kept, lambda folder: open_store(folder, "shards")):
        with pytest.raises(FileError) as refusal:
            work(folder)
        texts.add(str(refusal.value))
        assert files(folder) == before
    assert all(text.isprintable() for text in texts)
    return texts.pop()


@pytest.mark.parametrize(
    "behind",
    [
        b"abc",
        b"garbage of some more bytes",
        b"\0" * 40 + b"x",
        b"[\x2a\x4d\x19",
        b"\x28\xb5\x2f\xfd",
    ],
)
def test_what_no_stopped_writer_leaves_is_refused(folder: Path, behind: bytes) -> None:
    shard = folder / "00000.jsonl.zst"
    size = shard.stat().st_size
    shard.write_bytes(shard.read_bytes() + behind)
    assert f"what is at byte {size} is no head of games (" in refused(folder)


def test_beginning_of_a_frame_before_others_is_refused(folder: Path) -> None:
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    shard.write_bytes(data + data[:40] + data)
    assert f"what is at byte {len(data)} is no head of games (" in refused(folder)


@pytest.mark.parametrize("size", [1, 3, 7, 9, 15, 100])
def test_tail_is_told_in_one_line_and_the_next_shard_begins(
    folder: Path, capsys: pytest.CaptureFixture[str], size: int
) -> None:
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    for rest in (data[:size], bytes(size)):
        shard.write_bytes(data + rest)
        assert len(list(trace_paths(folder))) == 7
        store = open_store(folder, "shards")
        line = f"warning: {shard}: its last {size} bytes, left by a run that was stopped, are not"
        assert capsys.readouterr().err.splitlines() == [f"{line} read"] * 2
    store.commit(store.prepare([(folder / name_of(game(9)), game(9))]))
    assert shard.read_bytes() == data + bytes(size)
    assert len(kept(folder)) == 8
    assert len(read_shard(folder / "00001.jsonl.zst").frames) == 1
    check_run(folder.parent)
    assert set(game_digests(folder)) == set(kept(folder))


def test_shard_without_a_byte_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "00000.jsonl.zst").touch()
    assert isinstance(open_store(tmp_path, "shards"), ShardStore)
    expected = keep(tmp_path, [game(0)])
    assert kept(tmp_path) == expected
    assert list(files(tmp_path)) == ["00000.jsonl.zst"]


def test_shard_without_heads_is_refused_by_a_line_that_names_the_command(folder: Path) -> None:
    shard = folder / "00000.jsonl.zst"
    with shard.open("rb") as file:
        unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
    shard.write_bytes(zstandard.ZstdCompressor().compress(unpacked))
    (folder / "00000.index.jsonl").touch()
    check_run(folder.parent)
    assert f"calbench traces convert {folder} out=NEW" in refused(folder)
