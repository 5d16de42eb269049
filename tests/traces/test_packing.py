"""Packing and unpacking: to the byte, and never over anything."""

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.cli.stores import convert, pack, unpack
from calbench.errors import CalbenchError, FileError
from calbench.traces.shards import GAMES_PER_FRAME, packed_frames, read_shard
from calbench.traces.storage import write_trace
from calbench.traces.store import ShardStore
from tests.cli.runs import files
from tests.effort import examples
from tests.traces.kept_games import game, keep, kept, name_of


@given(st.lists(st.integers(0, 90), min_size=1, max_size=60, unique=True), st.randoms())
@settings(max_examples=examples(20))
def test_packed_bytes_depend_on_the_games_alone_and_unpack_to_the_files(
    numbers: list[int], random: Random
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        for number in numbers:
            write_trace(top / "files" / name_of(game(number)), game(number))
        shuffled = random.sample(numbers, len(numbers))
        cut = len(shuffled) // 2
        games = [game(number) for number in shuffled]
        keep(top / "shards", games[:cut], games[cut:])
        assert pack(top / "files", top / "a") == len(numbers)
        pack(top / "shards", top / "b")
        unpack(top / "a", top / "c")
        assert files(top / "a") == files(top / "b")
        assert files(top / "c") == files(top / "files")
        assert kept(top / "a") == files(top / "files")


def test_frame_holds_so_many_games_and_then_the_next_begins(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    traces = [(tmp_path / name_of(game(n)), game(n)) for n in range(2 * GAMES_PER_FRAME + 1)]
    frames = store.prepare(traces).frames
    assert [frame.num_games for frame in frames] == [GAMES_PER_FRAME, GAMES_PER_FRAME, 1]
    assert list(packed_frames([])) == []


def test_new_folder_must_be_new(tmp_path: Path) -> None:
    source = tmp_path / "run/traces"
    keep(source, [game(0)])
    (tmp_path / "there").mkdir()
    (tmp_path / "there/notes").write_text("mine")
    before = files(tmp_path)
    for out in (tmp_path / "there", source, source / "inside", tmp_path / "there/notes"):
        for work in (pack, unpack):
            with pytest.raises(CalbenchError, match="name a"):
                work(tmp_path / "run", out)
    assert files(tmp_path) == before


def test_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    write_trace(tmp_path / "files" / name_of(game(0)), game(0))
    broken = tmp_path / "files" / name_of(game(4))
    broken.parent.mkdir()
    broken.write_bytes(b'{"schema_version": 1}\n')
    before = files(tmp_path)
    with pytest.raises(FileError, match="is missing"):
        pack(tmp_path / "files", tmp_path / "out")
    assert files(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files"]


@pytest.mark.parametrize("name", ["team-1/scenario-001.json", "team-0/scenario-000.r1.json"])
def test_file_of_another_name_is_refused(tmp_path: Path, name: str) -> None:
    write_trace(tmp_path / "files" / name, game(0))
    with pytest.raises(FileError, match=r"is team-0/scenario-000\.json by its contents"):
        pack(tmp_path / "files", tmp_path / "out")


def test_file_of_several_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "files" / name_of(game(0))
    write_trace(path, game(0))
    path.write_bytes(path.read_bytes().replace(b"{", b"{\n", 1))
    with pytest.raises(FileError, match="is not one line"):
        pack(tmp_path / "files", tmp_path / "out")


def test_traces_of_several_folders_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_trace(tmp_path / folder / name_of(game(0)), game(0))
    with pytest.raises(FileError, match="name one folder of traces"):
        pack(tmp_path, tmp_path / "out")


def without_heads(folder: Path, out: Path) -> None:
    """Write the shards of a folder as earlier versions did: frames alone, and an index beside."""
    out.mkdir(parents=True)
    for shard in folder.iterdir():
        data = shard.read_bytes()
        frames = [data[frame.start : frame.end] for frame in read_shard(shard).frames]
        (out / shard.name).write_bytes(b"".join(frames))
        (out / f"{shard.name[:5]}.index.jsonl").write_text("not looked at\n")


def test_shards_of_earlier_versions_are_converted(tmp_path: Path) -> None:
    games = [game(0, is_halted=True), *map(game, (1, 2)), game(0), *map(game, range(3, 40))]
    expected = keep(tmp_path / "new", games)
    without_heads(tmp_path / "new", tmp_path / "run/traces")
    assert convert(tmp_path / "run", tmp_path / "converted") == 41
    assert kept(tmp_path / "converted") == expected
    assert files(tmp_path / "converted") == files(tmp_path / "new")
    assert convert(tmp_path / "new", tmp_path / "again") == 41


def test_games_behind_a_damaged_head_are_converted(tmp_path: Path) -> None:
    expected = keep(tmp_path / "new", [game(0)], [game(1)], [game(2)])
    shard = tmp_path / "new/00000.jsonl.zst"
    data, second = bytearray(shard.read_bytes()), read_shard(shard).frames[1]
    data[second.offset + 30] ^= 1
    shard.write_bytes(data)
    with pytest.raises(FileError, match="calbench traces convert"):
        kept(tmp_path / "new")
    assert convert(tmp_path / "new", tmp_path / "converted") == 3
    assert kept(tmp_path / "converted") == expected
    data[second.start + 30] ^= 1
    shard.write_bytes(data)
    with pytest.raises(FileError, match="cannot be read to its end"):
        convert(tmp_path / "new", tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(FileError, match="holds no shard"):
        convert(tmp_path, tmp_path / "other")
