"""Games in shards: each is read to the byte, and heads say what is behind them."""

import io
import itertools
import pickle
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.canary import CANARY
from calbench.errors import FileError, OutputError
from calbench.runs.recorded import head_of
from calbench.traces import shards
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.outlines import outline
from calbench.traces.shards import (
    CANARY_FRAME,
    MAGIC,
    SHARD_GLOB,
    Game,
    head_bytes,
    read_shard,
    write_published,
)
from calbench.traces.storage import read_trace, trace_bytes, write_trace
from calbench.traces.store import FILES, ShardStore, open_store
from tests.effort import examples
from tests.traces.kept_games import game, keep, kept, name_of

# --- other programs


def with_zstdcat(shard: Path) -> bytes:
    if shutil.which("zstdcat") is None:
        pytest.skip("there is no zstdcat")
    return subprocess.run(["zstdcat", shard], capture_output=True, check=True).stdout


def with_arrow(shard: Path) -> bytes:
    arrow = pytest.importorskip("pyarrow")
    data: bytes = arrow.CompressedInputStream(arrow.OSFile(str(shard)), "zstd").read()
    return data


def with_stream_reader(shard: Path) -> bytes:
    with shard.open("rb") as file:
        unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return b"".join(io.BufferedReader(unpacked))


@pytest.mark.parametrize("read", [with_zstdcat, with_arrow, with_stream_reader])
def test_other_programs_read_the_games_one_a_line(
    whole: Path, read: Callable[[Path], bytes]
) -> None:
    lines = read(whole / "00000.jsonl.zst").splitlines(keepends=True)
    assert lines == [trace_bytes(game(number)) for number in range(7)]


@pytest.mark.parametrize("read", [with_zstdcat, with_arrow, with_stream_reader])
def test_the_canary_is_passed_over(
    whole: Path, tmp_path: Path, read: Callable[[Path], bytes]
) -> None:
    write_published(whole / "00000.jsonl.zst", shard := tmp_path / "00000.jsonl.zst")
    assert CANARY.encode() in shard.read_bytes()
    assert read(shard) == read(whole / "00000.jsonl.zst")
    assert kept(tmp_path) == kept(whole)


def test_games_that_were_kept_one_by_one_are_published_in_one_frame(tmp_path: Path) -> None:
    for folder in (source := tmp_path / "source", target := tmp_path / "target"):
        folder.mkdir()
    games = keep(source, *([game(number)] for number in range(7)))
    shard = source / "00000.jsonl.zst"
    write_published(shard, published := target / shard.name)
    assert [len(read_shard(path).frames) for path in (shard, published)] == [7, 1]
    assert kept(target) == games
    assert published.stat().st_size < shard.stat().st_size


def test_a_run_goes_on_in_a_shard_with_the_canary(whole: Path, tmp_path: Path) -> None:
    write_published(whole / "00000.jsonl.zst", shard := tmp_path / "00000.jsonl.zst")
    added = keep(tmp_path, [game(7)])
    assert kept(tmp_path) == {**kept(whole), **added}
    assert [path.name for path in tmp_path.iterdir()] == [shard.name]


@pytest.mark.parametrize("place", [0, "behind"])
def test_another_canary_or_one_elsewhere_is_damage(folder: Path, place: int | str) -> None:
    shard = folder / "00000.jsonl.zst"
    data, first = shard.read_bytes(), read_shard(shard).frames[0]
    end = 0 if place == 0 else first.end
    found = CANARY_FRAME.replace(b"canary:", b"Canary:") if place == 0 else CANARY_FRAME
    shard.write_bytes(data[:end] + found + data[end:])
    with pytest.raises(FileError, match=rf"at byte {end} is no head of games"):
        kept(folder)


def test_some_calls_of_the_library_do_not_as_the_page_of_the_format_says(whole: Path) -> None:
    data = (whole / "00000.jsonl.zst").read_bytes()
    games = with_stream_reader(whole / "00000.jsonl.zst")
    with suppress(zstandard.ZstdError):  # 0.23 returns nothing instead
        assert zstandard.ZstdDecompressor().decompress(data) != games
    assert b"".join(zstandard.ZstdDecompressor().read_to_iter(data)) != games


# --- reading and writing


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
        lines = {line for path in folder.glob(SHARD_GLOB) for line in io.BytesIO(_plain(path))}
        assert lines == set(expected.values())


_plain = with_stream_reader


def test_game_that_was_halted_is_replaced_by_a_later_one_and_stays(tmp_path: Path) -> None:
    path = tmp_path / name_of(game(0))
    keep(tmp_path, [game(0, is_halted=True), game(1)])
    first = (tmp_path / "00000.jsonl.zst").read_bytes()
    assert Catalog().outline(path).is_halted
    keep(tmp_path, [game(0)])
    assert not Catalog().outline(path).is_halted
    assert read_trace(path) == game(0)
    assert (tmp_path / "00000.jsonl.zst").read_bytes().startswith(first)


def test_every_reader_finds_a_game_at_the_path_of_its_file(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = whole / name_of(game(4))
    assert read_trace(path) == game(4)
    write_trace(tmp_path / name_of(game(4)), game(4))
    twice = [head_of(each, Catalog().read(each)) for each in (path, tmp_path / name_of(game(4)))]
    assert twice[0] == twice[1]
    assert list(trace_paths(whole)) == sorted(whole / name_of(game(n)) for n in range(7))
    assert list(trace_paths(whole / "00000.jsonl.zst")) == list(trace_paths(whole))
    catalog = Catalog()
    assert not catalog.has(whole / "team-0/none.json")
    with pytest.raises(FileError, match=r"none\.json: cannot be read \(No such file"):
        catalog.read(whole / "team-0/none.json")
    monkeypatch.chdir(whole)
    assert catalog.has(Path(name_of(game(4))))
    monkeypatch.chdir(tmp_path)
    assert not catalog.has(Path(name_of(game(5))))


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


def test_full_shard_is_followed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calbench.traces.store.SHARD_GAMES", 2)
    expected = keep(tmp_path, [game(0), game(1), game(2)], [game(3)], [game(4)])
    counts = [
        sum(len(f.head.games) for f in read_shard(p).frames) for p in shards.shards_of(tmp_path)
    ]
    assert counts == [3, 2]
    assert kept(tmp_path) == expected


def test_failing_disk_leaves_a_shard_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = folder / "00000.jsonl.zst"
    before = shard.read_bytes()
    store = ShardStore(folder)
    batch = store.prepare([(folder / name_of(game(9)), game(9))])

    def fails(_handle: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", fails)
        with pytest.raises(OutputError, match=r"cannot be written \(Input/output error\)"):
            store.commit(batch)
    assert shard.read_bytes() == before
    store.commit(batch)
    assert len(kept(folder)) == 8


def test_shard_that_another_program_wrote_meanwhile_is_left_alone(folder: Path) -> None:
    store, shard = ShardStore(folder), folder / "00000.jsonl.zst"
    batches = [store.prepare([(folder / name_of(game(n)), game(n))]) for n in (8, 9)]
    store.commit(batches[0])
    shard.write_bytes(shard.read_bytes() + b"more")
    with pytest.raises(OutputError, match="another program wrote it"):
        store.commit(batches[1])
    assert shard.read_bytes().endswith(b"more")


@pytest.mark.parametrize("is_halted", [False, True])
def test_outline_is_what_the_whole_document_says(is_halted: bool) -> None:
    data = trace_bytes(game(5, is_halted=is_halted))
    expected = (name_of(game(5)), game(5).game_id, is_halted)
    assert outline(Path("here"), data) == expected
    params = {"events": [], "type": "game_halted", "config": {"team": {"team_id": "x"}}}
    scenario = game(5).scenario.updated(params={"events": [params], **params})
    odd = game(5, is_halted=is_halted).model_copy(update={"scenario": scenario})
    assert outline(Path("here"), trace_bytes(odd)) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"team_id":', b'"team":'),
        (b'"scenario_id":', b'"id":'),
        (b'"config":{', b'"configured":{'),
        (b'"replicate":1', b'"replicate":[]'),
        (b'"game_id":"', b'"game":"'),
    ],
)
def test_outline_of_what_is_no_trace_is_refused(old: bytes, new: bytes) -> None:
    trace = game(5).model_copy(update={"config": game(5).config.updated(replicate=1)})
    with pytest.raises(FileError, match=r"^here: not a trace: "):
        outline(Path("here"), trace_bytes(trace).replace(old, new, 1))


# --- what others made


def crafted(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Return a folder whose first head says something else, with checksums that fit."""
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    first = read_shard(shard).frames[0]
    document = orjson.loads(data[8 : first.start])
    del document["head_crc32"]
    change(document)
    shard.write_bytes(framed(orjson.dumps(document)) + data[first.start :])
    return folder


def framed(text: bytes) -> bytes:
    """Return a head of a text."""
    begun = MAGIC + (len(text) - 1 + 25).to_bytes(4, "little") + text[:-1]
    return b'%s,"head_crc32":"%08x"}' % (begun, crc32(begun))


def test_head_is_made_as_the_page_of_the_format_says(whole: Path) -> None:
    frames = read_shard(whole / "00000.jsonl.zst").frames
    data = (whole / "00000.jsonl.zst").read_bytes()
    for frame in frames:
        raw = data[frame.offset : frame.start]
        document = orjson.loads(raw[8:])
        assert document.pop("head_crc32") == f"{crc32(raw[:-25]):08x}"
        assert raw == head_bytes(frame.head) == framed(orjson.dumps(document))
        assert document["frame_crc32"] == f"{crc32(data[frame.start : frame.end]):08x}"
        assert list(document) == ["shard_version", "frame_bytes", "frame_crc32", "games"]


def set_game(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["games"][0].update(values)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (set_game(name="../scenario-000.json"), "games.0.name"),
        (set_game(name="team-0/../../x.json"), "games.0.name"),
        (set_game(name="/etc/x.json"), "games.0.name"),
        (set_game(name="team-1/scenario-000.json"), "which is in 00000.jsonl.zst already"),
        (set_game(name="team-9/scenario-000.json"), "is another game than its head says"),
        (set_game(name="team-0/scenario-000.r1.json"), "is another game than its head says"),
        (set_game(game_id="0" * 8), "is another game than its head says"),
        (set_game(is_halted=True), "is another game than its head says"),
        (set_game(is_halted=0), "games.0.is_halted"),
        (set_game(length=9), "is not what its head says"),
        (set_game(length=99999999999), "games.0.length"),
        (set_game(length=2**28), "its games have more than"),
        (set_game(sha256="z"), "games.0.sha256"),
        (set_game(sha256="0" * 64), "has another checksum than its head says"),
        (lambda head: head.update(more=1), "more: is not a known key"),
        (lambda head: head.update(shard_version=2), "version 2; this calbench reads 1"),
        (lambda head: head.update(games=[]), "games: "),
        (lambda head: head.update(frame_bytes=0), "frame_bytes: "),
        (lambda head: head.update(frame_crc32="00000000"), "is not what its head says"),
        (lambda head: head.update(games=head.pop("games")), ""),
        (lambda head: head.update(shard_version=head.pop("shard_version")), "at byte 10 is"),
    ],
)
def test_head_that_does_not_fit_is_one_line(
    folder: Path, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    crafted(folder, change)
    if not problem:
        assert len(kept(folder)) == 7
        return
    with pytest.raises(FileError) as refusal:
        kept(folder)
    assert problem in str(refusal.value)
    assert str(folder / "00000.jsonl.zst") in str(refusal.value)
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("old", [b'{"shard_version":1', b'"name":"team-0/scenario-000.json"'])
def test_key_that_is_there_twice_is_refused(folder: Path, old: bytes) -> None:
    shard = folder / "00000.jsonl.zst"
    data, first = shard.read_bytes(), read_shard(shard).frames[0]
    text = data[8 : first.start - 25] + b"}"
    again = text.replace(old, old + b"," + old.strip(b"{"), 1)
    shard.write_bytes(framed(again) + data[first.start :])
    with pytest.raises(FileError, match=r"byte 0 is no head of games \(at byte \d+ is"):
        kept(folder)


def test_bomb_is_refused_before_it_is_unpacked(folder: Path) -> None:
    """A gigabyte of zeros in a few kilobytes, where the head promises little."""
    packing = zstandard.ZstdCompressor().compressobj(size=2**30)
    zeros = bytes(2**20)
    bomb = b"".join(packing.compress(zeros) for _ in range(2**10)) + packing.flush()
    head = {"frame_bytes": len(bomb), "frame_crc32": f"{crc32(bomb):08x}"}
    crafted(folder, lambda document: document.update(head))
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    start = int.from_bytes(data[4:8], "little") + 8
    shard.write_bytes(data[:start] + bomb)
    with pytest.raises(FileError, match="is not what its head says"):
        kept(folder)


def test_missing_shard_is_named(folder: Path) -> None:
    shutil.copyfile(folder / "00000.jsonl.zst", folder / "00002.jsonl.zst")
    (folder / "00000.jsonl.zst").rename(folder / "00001.jsonl.zst")
    with pytest.raises(FileError, match=r"00000\.jsonl\.zst: is missing"):
        kept(folder)


def test_other_files_beside_shards_are_left_alone(folder: Path, whole: Path) -> None:
    (folder / "notes.jsonl.zst").write_bytes(b"mine")
    (folder / "README").write_text("mine")
    assert kept(folder) == kept(whole)


def test_below_runs_and_beside_them_all_but_traces_is_left_out(folder: Path, whole: Path) -> None:
    above = folder.parent.parent
    games = {"s-1.json", "code/code.json", "job/traces/traces/s-0.json", "job/traces/i/code.json"}
    others = {"code.json", "job/code.json", "begun/.lock", "begun/code.json", "begun/status.json"}
    others |= {"run/tables/datapackage.json", "run/tables/metrics.json", "pages/.calbench-site"}
    others |= {"pages/games/1.json", "tables/datapackage.json", "tables/metrics/s.json"}
    for name in games | others:
        (above / name).parent.mkdir(parents=True, exist_ok=True)
        (above / name).write_bytes(b'{"schema_version":1' if name in games else b"")
    expected = {above / name for name in games} | {folder / name for name in kept(whole)}
    assert set(Catalog().paths(above)) == expected
    loose, catalog = above / "job/loose.json", Catalog()
    loose.write_bytes(b'{"schema_version":1')
    assert set(catalog.paths(above)) == expected
    assert set(catalog.paths(above, has_loose=True)) == {*expected, loose}
    assert set(catalog.paths(above / "job", has_loose=True)) > {loose}
    assert catalog.others == {above / "code.json"}
    (above / "begun/traces").symlink_to(folder)
    with pytest.raises(FileError, match="is a link"):
        list(Catalog().paths(above))


def test_no_ending_of_a_head_looks_like_part_of_a_name() -> None:
    """What tells a whole head from the beginning of one."""
    names = itertools.product(("team", 'a","head_crc32":"00000000"}'), repeat=2)
    for team, scenario in names:
        one = Game(f"{team}/{scenario}.json", "id", False, 1, "0" * 64)
        head = shards.Head(1, 1, "00000000", (one,))
        assert len(shards._ENDING.findall(head_bytes(head))) == 1
