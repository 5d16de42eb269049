"""Published suites by name, and packed suite files read as strictly as others."""

import gzip
from pathlib import Path

import pytest

from calbench.errors import ConfigError, FileError
from calbench.scenarios import storage
from calbench.scenarios.storage import published_suite, read_suite, suite_names, write_suite
from tests.factories import make_scenario

BARE = make_scenario(["E..B", ".E.E"], [(0, 1)])


def zipped(data: bytes) -> bytes:
    """Return data that gzip packed at no time, so that every process names tests alike."""
    return gzip.compress(data, mtime=0)


def line() -> bytes:
    return storage._line(BARE).encode()


def published(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl.gz"
    path.write_bytes(zipped(data))
    return path


def test_names_are_those_of_packed_suites_in_order(tmp_path: Path) -> None:
    assert suite_names(tmp_path / "none") == []
    for name in ("varied", "uniform"):
        published(tmp_path, name, line())
    for other in (".jsonl.gz", "README.md", "plain.jsonl"):
        (tmp_path / other).touch()
    assert suite_names(tmp_path) == ["uniform", "varied"]


def test_published_suite_is_what_its_unpacked_file_is(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite.jsonl", [BARE, BARE.updated(scenario_id="test-001")])
    published(tmp_path, "small", (tmp_path / "suite.jsonl").read_bytes())
    assert published_suite("small", tmp_path) == read_suite(tmp_path / "suite.jsonl")


@pytest.mark.parametrize("name", ["../small", "small.jsonl.gz", "*", "\x1b[31m", "x" * 999])
def test_name_is_no_path_and_no_pattern(tmp_path: Path, name: str) -> None:
    published(tmp_path / "suites", "other", line())
    published(tmp_path, "small", line())
    with pytest.raises(ConfigError, match=r"^there is no suite ") as told:
        published_suite(name, tmp_path / "suites")
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 200


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cannot be unpacked|is empty"),
        (line(), "cannot be unpacked: Not a gzipped file"),
        (zipped(line())[:-9], "cannot be unpacked: Compressed file ended"),
        (zipped(line()) + b"more", "cannot be unpacked: Not a gzipped file"),
        (zipped(line())[:-8] + bytes(8), "cannot be unpacked: CRC check failed"),
        (zipped(line())[:12] + b"\xff" * 99, "cannot be unpacked: Error -3"),
        (zipped(b""), "the file is empty"),
        (zipped(line() + b"{"), "line 2: not JSON"),
        (zipped(line() * 2), "line 2, field scenario_id: test-000 is also"),
        (zipped(b"\xff\n"), "line 1: byte 1 is not UTF-8"),
    ],
)
def test_packed_file_that_does_not_fit_is_told_in_one_line(
    tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "bad.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(FileError, match=rf"bad\.jsonl\.gz.*({said})") as told:
        published_suite("bad", tmp_path)
    assert str(told.value).isprintable()


def test_packed_file_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = published(tmp_path, "bomb", line())
    assert [*storage._lines(path, most=len(line()))] == [line().removesuffix(b"\n")]
    with pytest.raises(FileError, match=r"bomb.*holds more than \d+ bytes unpacked; split it"):
        list(storage._lines(path, most=len(line()) - 1))
