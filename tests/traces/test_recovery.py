"""Shards without a whole index: an incomplete last frame is set aside, all else stays."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from calbench.errors import FileError
from calbench.release.manifest import game_digests
from calbench.runs.folder import check_run
from calbench.traces import outlines
from calbench.traces.catalog import frames_of, has_trace
from calbench.traces.frames import whole_frames
from calbench.traces.index import Frame, indexed
from calbench.traces.models import TRACE_SCHEMA_VERSION
from calbench.traces.recovery import recover
from calbench.traces.store import open_store
from tests.traces.kept_games import game, keep, kept, name_of


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with seven games in a shard of four frames."""
    folder = tmp_path_factory.mktemp("whole") / "traces"
    keep(folder, [game(0), game(1)], [game(2)], [game(3), game(4), game(5)], [game(6)])
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of it without its index."""
    copy = Path(shutil.copytree(whole, tmp_path / "run/traces"))
    (copy / "00000.index.jsonl").unlink()
    return copy


@pytest.fixture(scope="module")
def frames(whole: Path) -> tuple[Frame, ...]:
    """Return the four frames."""
    return tuple(indexed(whole / "00000.index.jsonl"))


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_refused(folder: Path, offset: int, problem: str = "") -> None:
    """Check that readers and the next run refuse a folder in one line, and change no byte."""
    before = contents(folder)
    for work in (kept, recover, lambda folder: open_store(folder, "shards")):
        with pytest.raises(FileError) as refusal:
            work(folder)
        text = str(refusal.value)
        assert f"00000.jsonl.zst: what is at byte {offset} is no frame of games (" in text
        assert problem in text
        assert "or move them away" in text
        assert (f"its first {offset} bytes" in text) == (offset > 0)
        assert text.isprintable()
        assert contents(folder) == before


def read_or_refused(shard: Path) -> tuple[Frame, ...] | FileError:
    """Return the frames of a shard without its index, or what is said of it."""
    try:
        return tuple(whole_frames(shard, 0))
    except FileError as error:
        return error


@pytest.mark.parametrize("number", [0, 1, 2])
def test_flipped_bits_before_other_frames_cut_nothing(
    folder: Path, frames: tuple[Frame, ...], number: int
) -> None:
    """Every byte of the header of frame and first block, where sizes are, and some of the rest."""
    shard, frame = folder / "00000.jsonl.zst", frames[number]
    data = shard.read_bytes()
    for place in (*range(12), *range(12, frame.size, frame.size // 8)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[frame.offset + place] ^= 1 << bit
            shard.write_bytes(damaged)
            found = read_or_refused(shard)
            # Some bits of a header mean nothing.
            assert found == frames or f"at byte {frame.offset} is no frame" in str(found)
    damaged = bytearray(data)
    damaged[frame.offset + frame.size // 2] ^= 1
    shard.write_bytes(damaged)
    check_refused(folder, frame.offset, "it is damaged")


def test_what_is_whole_is_read_as_the_message_says(
    folder: Path, frames: tuple[Frame, ...], whole: Path, tmp_path: Path
) -> None:
    data = bytearray((folder / "00000.jsonl.zst").read_bytes())
    data[frames[2].offset + 30] ^= 1
    (folder / "00000.jsonl.zst").write_bytes(data)
    check_refused(folder, frames[2].offset)
    (tmp_path / "rescued").mkdir()
    (tmp_path / "rescued/00000.jsonl.zst").write_bytes(data[: frames[2].offset])
    expected = {name_of(game(n)) for n in range(3)}
    assert kept(tmp_path / "rescued") == {n: b for n, b in kept(whole).items() if n in expected}


@pytest.mark.heavy
def test_damaged_last_frame_is_never_lost(folder: Path, frames: tuple[Frame, ...]) -> None:
    """It is refused, or set aside where it looks like one whose writer was stopped."""
    shard, last = folder / "00000.jsonl.zst", frames[-1]
    data, came = shard.read_bytes(), set[str]()
    for place in (*range(12), *range(12, last.size, last.size // 8)):
        for bit in range(8):
            for path in folder.iterdir():
                path.unlink()
            damaged = bytearray(data)
            damaged[last.offset + place] ^= 1 << bit
            shard.write_bytes(damaged)
            try:
                recover(folder)
            except FileError:
                assert contents(folder) == {shard.name: bytes(damaged)}
                came.add("refused")
                continue
            rest = folder / "00000.rest"
            came.add("aside" if rest.exists() else "whole")
            there = shard.read_bytes() + (rest.read_bytes() if rest.exists() else b"")
            assert there == damaged
    assert came >= {"refused", "aside"}


def framed(contents: bytes) -> bytes:
    """Return a frame like ours of anything."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(contents)


def recompressed(data: bytes) -> bytes:
    """Return a shard as ``zstdcat | zstd`` writes it: without the size of what it holds."""
    packing = zstandard.ZstdCompressor().compressobj()
    lines = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return packing.compress(lines) + packing.flush()


@pytest.mark.parametrize(
    ("change", "is_behind", "problem"),
    [
        (recompressed, False, "it does not say how much it holds"),
        (
            lambda _: framed(b"a line of some other text\n"),
            False,
            "not a complete JSON document",
        ),
        (
            lambda _: framed(b"a line of text without its end"),
            False,
            "it does not hold whole lines",
        ),
        (
            lambda data: data + framed(b'{"some": "other line"}\n'),
            True,
            "schema_version is missing",
        ),
        (lambda data: data + b"garbage of some more bytes", True, "no frame begins there"),
        (lambda data: data + data[:40] + data, True, "it is damaged"),
    ],
)
@pytest.mark.parametrize("has_index", [False, True])
def test_what_no_stopped_writer_leaves_is_refused(
    folder: Path,
    whole: Path,
    change: Callable[[bytes], bytes],
    is_behind: bool,
    problem: str,
    has_index: bool,
) -> None:
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    shard.write_bytes(change(data))
    if not has_index:
        check_refused(folder, len(data) * is_behind, problem)
    elif is_behind:  # readers go by the index
        shutil.copy(whole / "00000.index.jsonl", folder)
        assert kept(folder) == kept(whole)
        before = contents(folder)
        with pytest.raises(FileError, match=f"at byte {len(data)} is no frame"):
            recover(folder)
        assert contents(folder) == before


def test_shard_of_another_version_is_left_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlines, "TRACE_SCHEMA_VERSION", TRACE_SCHEMA_VERSION + 1)
    check_refused(folder, 0, "schema_version is ")


@pytest.mark.parametrize("is_zeroed", [False, True])
def test_incomplete_last_frame_is_set_aside_and_its_games_are_kept_again(
    folder: Path,
    frames: tuple[Frame, ...],
    whole: Path,
    capsys: pytest.CaptureFixture[str],
    is_zeroed: bool,
) -> None:
    """Zeros are in place of its other bytes after a crash of the machine."""
    shard, last = folder / "00000.jsonl.zst", frames[-1]
    data = shard.read_bytes()
    zeros = bytes(last.size // 2) if is_zeroed else b""
    shard.write_bytes(data[: last.end - last.size // 2] + zeros)
    rest = shard.read_bytes()[last.offset :]
    assert frames_of(shard) == frames[:-1]
    assert recover(folder) == 0
    assert (folder / "00000.rest").read_bytes() == rest
    assert shard.read_bytes() == data[: last.offset]
    assert f"its last {len(rest)} bytes are no whole frame" in capsys.readouterr().err
    assert not has_trace(folder / name_of(game(6)))
    keep(folder, [game(6)])
    assert kept(folder) == kept(whole)
    assert shard.read_bytes() == data
    check_run(folder.parent)
    assert set(game_digests(folder)) == set(kept(whole))


def test_what_was_set_aside_before_is_kept(folder: Path, frames: tuple[Frame, ...]) -> None:
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    expected = []
    for cut in (30, 30, 40, 50):  # the same twice: its writer was stopped before the shard was cut
        shard.write_bytes(data[: frames[-1].offset + cut])
        recover(folder)
        expected.append(data[frames[-1].offset :][:cut])
    aside = [folder / name for name in ("00000.rest", "00000.rest2", "00000.rest3")]
    assert [path.read_bytes() for path in aside] == expected[1:]
    assert sorted(folder.glob("*.rest*")) == aside


def test_zeros_alone_and_a_few_bytes_are_set_aside(folder: Path, whole: Path) -> None:
    shard = folder / "00000.jsonl.zst"
    data = shard.read_bytes()
    for rest in (bytes(4096), data[:3], data[:9]):
        shard.write_bytes(data + rest)
        assert kept(folder) == kept(whole)
        recover(folder)
        assert shard.read_bytes() == data
        (folder / "00000.index.jsonl").unlink()


def test_later_shard_that_does_not_fit_leaves_the_earlier_as_it_is(
    folder: Path, whole: Path
) -> None:
    shutil.copy(whole / "00000.jsonl.zst", folder / "00001.jsonl.zst")
    with (folder / "00000.jsonl.zst").open("ab") as file:
        file.write(b"abc")
    with (folder / "00001.jsonl.zst").open("ab") as file:
        file.write(b"garbage of some more bytes")
    before = contents(folder)
    with pytest.raises(FileError, match=r"00001\.jsonl\.zst: what is at byte"):
        recover(folder)
    assert contents(folder) == before


def test_shard_that_cannot_be_read_is_one_line_without_its_index(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def fails(path: Path, *arguments: Any, **more: Any) -> Any:
        if path.name == "00000.jsonl.zst":
            raise OSError(errno.EIO, "Input/output error")
        return opened(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", fails)
    for work in (kept, recover):
        with pytest.raises(FileError, match=r"jsonl\.zst: cannot be read \(Input/output error\)$"):
            work(folder)
