"""Games in shards: each is read to the byte, whatever moment a writer was stopped at."""

import itertools
import pickle
import shutil
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.errors import FileError
from calbench.traces.catalog import has_trace, raw_trace, trace_outline
from calbench.traces.heads import read_head
from calbench.traces.index import INDEX_GLOB, SHARD_GLOB, index_bytes, index_path, indexed
from calbench.traces.outlines import named_outline, outline
from calbench.traces.paths import holds_traces, trace_paths
from calbench.traces.recovery import recover
from calbench.traces.storage import read_trace, trace_bytes, write_trace
from calbench.traces.store import FILES, ShardStore, open_store
from tests.effort import examples
from tests.traces.kept_games import game, keep, kept, name_of

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with seven games in a shard of four frames."""
    folder = tmp_path_factory.mktemp("whole") / "traces"
    keep(folder, [game(0), game(1)], [game(2)], [game(3), game(4), game(5)], [game(6)])
    return folder


def unpacked(shard: Path) -> list[bytes]:
    """Return the lines of a shard as any other program reads it, such as ``zstdcat``."""
    with shard.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return reader.read().splitlines(keepends=True)


@given(
    st.lists(
        st.lists(st.integers(0, 40), min_size=1, max_size=4, unique=True), min_size=1, max_size=5
    )
)
@settings(max_examples=examples(60))
def test_games_are_read_as_they_were_kept_in_whatever_order(parts: list[list[int]]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "traces"
        store = ShardStore(folder)
        traces = [[game(number) for number in part] for part in parts]
        # Prepared by copies in other processes, in any order; committed here.
        prepared = [
            pickle.loads(pickle.dumps(store)).prepare(  # noqa: S301
                [(folder / name_of(trace), trace) for trace in part]
            )
            for part in reversed(traces)
        ]
        for batch in reversed(prepared):
            store.commit(batch)
        expected = {name_of(t): trace_bytes(t) for part in traces for t in part}
        assert kept(folder) == expected
        lines = {line for path in folder.glob(SHARD_GLOB) for line in unpacked(path)}
        assert lines == set(expected.values())


@given(st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=examples(120))
def test_writer_stopped_at_any_byte_loses_no_whole_frame_and_the_rest_is_kept_again(
    whole: Path, of_shard: float, of_index: float
) -> None:
    folder = whole.parent / f"cut-{next(NUMBERS)}"
    shutil.copytree(whole, folder)
    shard = folder / "00000.jsonl.zst"
    index = index_path(shard)
    frames = tuple(indexed(index))
    shard_size = round(of_shard * shard.stat().st_size)
    index_size = round(of_index * index.stat().st_size)
    for path, size in ((shard, shard_size), (index, index_size)):
        with path.open("r+b") as file:
            file.truncate(size)
    all_games = kept(whole)
    named = [f for f in frames if len(index_bytes(frames[: frames.index(f) + 1])) <= index_size]
    there = [f for f in frames if f.end <= shard_size]
    if len(named) <= len(there):  # as a stopped writer leaves it
        expected = {each.name for frame in named for each in frame.games}
        found = kept(folder) if holds_traces(folder) else {}
        assert found == {name: all_games[name] for name in expected}
    else:
        with pytest.raises(FileError, match="but its index names games up to"):
            kept(folder)
    recover(folder)
    found = kept(folder) if holds_traces(folder) else {}
    assert found == {each.name: all_games[each.name] for f in there for each in f.games}
    missing = [game(n) for n in range(7) if not has_trace(folder / name_of(game(n)))]
    keep(folder, missing) if missing else None
    assert kept(folder) == all_games


def test_shard_is_read_without_its_index_and_gets_it_again(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    index = folder / "00000.index.jsonl"
    before = index.read_bytes()
    index.unlink()
    assert kept(folder) == kept(whole)
    assert recover(folder) == 0
    assert index.read_bytes() == before


def test_game_that_was_halted_is_replaced_by_a_later_one_and_stays(tmp_path: Path) -> None:
    keep(tmp_path, [game(0, is_halted=True), game(1)])
    first = (tmp_path / "00000.jsonl.zst").read_bytes()
    assert trace_outline(tmp_path / name_of(game(0))).is_halted
    keep(tmp_path, [game(0)])
    assert not trace_outline(tmp_path / name_of(game(0))).is_halted
    assert read_trace(tmp_path / name_of(game(0))) == game(0)
    assert (tmp_path / "00000.jsonl.zst").read_bytes().startswith(first)


def test_every_reader_finds_a_game_at_the_path_of_its_file(whole: Path, tmp_path: Path) -> None:
    path = whole / name_of(game(4))
    assert read_trace(path) == game(4)
    write_trace(tmp_path / name_of(game(4)), game(4))
    assert read_head(path) == read_head(tmp_path / name_of(game(4)))
    assert list(trace_paths(whole)) == sorted(whole / name_of(game(n)) for n in range(7))
    assert list(trace_paths(whole / "00000.jsonl.zst")) == list(trace_paths(whole))
    assert not has_trace(whole / "team-0/none.json")
    with pytest.raises(FileError, match=r"none\.json: cannot be read \(No such file"):
        raw_trace(whole / "team-0/none.json")


def test_same_game_as_file_and_in_a_shard_must_be_the_same(tmp_path: Path) -> None:
    path = tmp_path / name_of(game(0))
    keep(tmp_path, [game(0), game(1)])
    write_trace(path, game(0))
    assert len(kept(tmp_path)) == 2
    write_trace(path, game(0, is_halted=True))
    with pytest.raises(FileError) as refusal:
        kept(tmp_path)
    assert str(path) in str(refusal.value)
    assert "00000.jsonl.zst" in str(refusal.value)


def test_new_folder_has_the_form_that_is_wanted_and_goes_on_in_it(tmp_path: Path) -> None:
    assert open_store(tmp_path / "new", "files") is FILES
    assert isinstance(open_store(tmp_path / "new", "shards"), ShardStore)
    keep(tmp_path / "sharded", [game(0)])
    assert isinstance(open_store(tmp_path / "sharded", "files"), ShardStore)
    write_trace(tmp_path / "filed" / name_of(game(0)), game(0))
    assert open_store(tmp_path / "filed", "shards") is FILES


@pytest.mark.parametrize("is_halted", [False, True])
def test_outline_is_what_the_whole_document_says(is_halted: bool) -> None:
    data = trace_bytes(game(5, is_halted=is_halted))
    name, found = named_outline("here", data)
    assert outline("here", data) == found
    assert (name, found.game_id, found.is_halted) == (name_of(game(5)), game(5).game_id, is_halted)


# --- what others made


def edited(whole: Path, tmp_path: Path, old: str, new: str) -> Path:
    """Return a copy of a folder with a text of its index replaced."""
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    index = folder / "00000.index.jsonl"
    text = index.read_text()
    assert old in text
    index.write_text(text.replace(old, new, 1))
    return folder


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("team-0/scenario-000", "../scenario-000", "line 1: games.0.name"),
        ("team-0/scenario-000", "team-0/../../x", "line 1: games.0.name"),
        ("team-0/scenario-000", "/etc/x", "line 1: games.0.name"),
        ("team-1/scenario-000", "team-0/scenario-000", "holds team-0/scenario-000.json, which"),
        ('"offset":0', '"offset":7', "line 1: offset is 7, not 0"),
        ('"offset":0', '"offset":-1', "line 1: offset"),
        ('"size":', '"size":99999999999', "line 1: size"),
        ('"length":', '"length":9', "is not the frame of its index"),
        ('"length":', '"length":99999999999', "line 1: games.0.length"),
        ('"sha256":"', '"sha256":"z', "line 1: games.0.sha256"),
        ('"is_halted":false', '"is_halted":0', "line 1: games.0.is_halted"),
        ('{"offset"', '{"more":1,"offset"', "line 1: more: is not a known key"),
        ('{"offset"', "{", "line 1: "),
    ],
)
def test_index_that_does_not_fit_is_one_line(
    whole: Path, tmp_path: Path, old: str, new: str, problem: str
) -> None:
    folder = edited(whole, tmp_path, old, new)
    with pytest.raises(FileError) as refusal:
        kept(folder)
    assert problem in str(refusal.value)
    assert str(folder) in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_game_with_another_checksum_is_refused(whole: Path, tmp_path: Path) -> None:
    data = trace_bytes(game(0)).replace(b'"seed":', b'"seed": ', 1)
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    (frame, *_) = indexed(folder / "00000.index.jsonl")
    shard = folder / "00000.jsonl.zst"
    other = zstandard.ZstdCompressor().compress(data[:-1] + trace_bytes(game(1)))
    index = frame.__class__(0, len(other), frame.games)
    shard.write_bytes(other)
    (folder / "00000.index.jsonl").write_bytes(index_bytes([index]))
    with pytest.raises(FileError, match=r"team-0/scenario-000\.json has another checksum"):
        kept(folder)


@pytest.mark.parametrize("place", [0, 5, 40])
def test_damaged_shard_is_refused(whole: Path, tmp_path: Path, place: int) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    shard = folder / "00000.jsonl.zst"
    data = bytearray(shard.read_bytes())
    data[place] ^= 0x55
    shard.write_bytes(data)
    with pytest.raises(FileError, match="is not the frame of its index"):
        kept(folder)


def test_bomb_is_refused_before_it_is_unpacked(whole: Path, tmp_path: Path) -> None:
    """A gigabyte of zeros in a few kilobytes, where the index promises little."""
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    (frame, *_) = indexed(folder / "00000.index.jsonl")
    packing = zstandard.ZstdCompressor().compressobj(size=2**30)
    zeros = bytes(2**20)
    bomb = b"".join(packing.compress(zeros) for _ in range(2**10)) + packing.flush()
    (folder / "00000.jsonl.zst").write_bytes(bomb)
    (folder / "00000.index.jsonl").write_bytes(
        index_bytes([frame.__class__(0, len(bomb), frame.games)])
    )
    with pytest.raises(FileError, match="is not the frame of its index"):
        kept(folder)
    (folder / "00000.index.jsonl").unlink()
    with pytest.raises(FileError, match=r"what is at byte 0 is no frame of games \(.*or too much"):
        kept(folder)


def test_missing_shard_is_named(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    for path in [*folder.glob(SHARD_GLOB), *folder.glob(INDEX_GLOB)]:
        shutil.copyfile(path, path.with_name(path.name.replace("00000", "00002")))
    (folder / "00000.jsonl.zst").rename(folder / "00001.jsonl.zst")
    with pytest.raises(FileError, match=r"00000\.jsonl\.zst: is missing"):
        kept(folder)


def test_other_files_beside_shards_are_left_alone(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "traces"))
    (folder / "notes.jsonl.zst").write_bytes(b"mine")
    (folder / "README").write_text("mine")
    assert kept(folder) == kept(whole)
