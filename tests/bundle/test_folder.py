"""A bundle: whole, the same to the byte, marked in every file, and refused in one line."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import time
from io import BytesIO
from pathlib import Path
from textwrap import indent
from typing import Any

import pandas as pd
import pytest
import yaml
import zstandard
from pyarrow import parquet

import calbench
from calbench.bundle.folder import NEEDED, PARTS, write_bundle
from calbench.cli.main import answer
from calbench.domain.canary import CANARY
from calbench.errors import CalbenchError, ConfigError, FileError, OutputError
from tests.bundle.conftest import REPO, TEAMS
from tests.report.samples import suite_of

pytestmark = pytest.mark.heavy


def contents(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_there_is_every_part_and_each_file_has_its_checksum(bundle: Path) -> None:
    files = contents(bundle)
    assert {name.partition("/")[0] for name in files if "/" in name} == set(PARTS)
    listed = {each["path"]: each for each in json.loads(files["MANIFEST.json"])["files"]}
    assert set(listed) == set(files) - {"MANIFEST.json", "SHA256SUMS"}
    for name, each in listed.items():
        digest = hashlib.sha256(files[name]).hexdigest()
        assert (each["bytes"], each["sha256"]) == (len(files[name]), digest)
        assert f"{digest}  {name}\n" in files["SHA256SUMS"].decode()
    for name in ("CITATION.cff", "LICENSE", "sbom.json", "locks/requirements.lock"):
        assert files[name]
    assert "site/.calbench-site" not in {
        p.relative_to(bundle).as_posix() for p in bundle.rglob(".*")
    }


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum here")
def test_sha256sum_checks_it(bundle: Path) -> None:
    command = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(command, cwd=bundle, check=False).returncode == 0


def test_two_builds_are_equal_to_the_byte(checkout: Path, bundle: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(checkout, tmp_path / "elsewhere")
    for path in moved.rglob("*"):
        os.utime(path, (1, 1))
    write_bundle(moved, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(bundle)


def test_nothing_names_the_place_or_the_machine(bundle: Path, checkout: Path) -> None:
    for name, data in contents(bundle).items():
        assert str(checkout.parent).encode() not in data, name
        assert os.uname().nodename.encode() not in data or not name.endswith((".json", ".md"))


def canary_in(path: Path) -> bool:
    """Whether a file has the canary where its format has a place for it."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        return bool(parquet.read_metadata(path).metadata.get(b"canary") == CANARY.encode())
    if path.name.endswith(".csv.gz"):
        data = gzip.decompress(data)
    if path.name.endswith(".tar.zst"):
        with tarfile.open(fileobj=BytesIO(zstandard.decompress(path.read_bytes()))) as archive:
            member = archive.extractfile(f"{path.name.removesuffix('.tar.zst')}/CANARY.txt")
            return member is not None and member.read().decode() == f"{CANARY}\n"
    if path.name.endswith((".csv", ".csv.gz")):
        return data.partition(b"\n")[0].endswith(f",{CANARY}".encode())
    return CANARY.encode() in data


def test_every_file_of_data_has_the_canary(bundle: Path) -> None:
    written = {"site", "schemas", "locks"}  # pages and code
    given = {"SHA256SUMS", "CITATION.cff", "LICENSE", "sbom.json", "bundle.ipynb"}
    files = [path for path in bundle.rglob("*") if path.is_file() and path.name[0] != "."]
    data = [p for p in files if p.relative_to(bundle).parts[0] not in written | given]
    assert len(data) > 100
    assert [str(path) for path in data if not canary_in(path)] == []


@pytest.mark.parametrize("name", TEAMS)
def test_games_and_suites_are_read_behind_the_canary(bundle: Path, name: str) -> None:
    assert calbench.load_suite(bundle / "suites" / f"{name}.jsonl.gz") == suite_of(name, 3)
    said = calbench.read_run(bundle / "traces" / name).messages()
    assert set(said["team"]) == set(TEAMS[name]) - {"silent"}


def test_own_bytes_of_games_and_suites_are_unchanged(checkout: Path, bundle: Path) -> None:
    data = checkout / "data"
    packed = (bundle / "suites" / "varied.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == (data / "suites" / "varied.jsonl").read_bytes()
    shard = Path("traces", "varied", "00000.jsonl.zst")
    own, marked = (data / shard).read_bytes(), (bundle / shard).read_bytes()
    assert marked.endswith(own)
    lines = zstandard.ZstdDecompressor().stream_reader(marked, read_across_frames=True).read()
    assert lines.count(b"\n") == 6


def test_games_are_unpacked_from_behind_the_canary(bundle: Path, tmp_path: Path) -> None:
    folder = bundle / "traces" / "varied"
    assert answer(["traces", "unpack", str(folder), f"out={tmp_path / 'games'}"]) == 0
    assert len(list((tmp_path / "games").glob("*/*.json"))) == 6


@pytest.mark.parametrize("name", NEEDED)
def test_what_is_missing_is_one_line(checkout: Path, tmp_path: Path, name: str) -> None:
    top = shutil.copytree(checkout, tmp_path / "top", symlinks=True)
    path = top / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(ConfigError) as raised:
        write_bundle(top, tmp_path / "out")
    assert str(raised.value).startswith(f"{path}: is missing; {NEEDED[name]}")
    assert not (tmp_path / "out").exists()


def test_an_experiment_without_games_is_one_line(checkout: Path, tmp_path: Path) -> None:
    top = shutil.copytree(checkout, tmp_path / "top")
    (top / "data" / "traces" / "varied" / "00000.jsonl.zst").unlink()
    with pytest.raises(ConfigError, match="varied: has no games; run `dvc repro`"):
        write_bundle(top, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [top]


@pytest.mark.parametrize("text", ["[", '{"uniform": 1}', '{"uniform": {"role": {"page": 1}}}'])
def test_a_broken_list_of_experiments_is_one_line(
    checkout: Path, tmp_path: Path, text: str
) -> None:
    top = shutil.copytree(checkout, tmp_path / "top")
    (top / "build" / "parts" / "publish.json").write_text(text)
    with pytest.raises(CalbenchError, match=r"publish\.json: "):
        write_bundle(top, tmp_path / "out")


def test_a_broken_table_leaves_an_earlier_bundle_as_it_was(
    checkout: Path, bundle: Path, tmp_path: Path
) -> None:
    top, out = shutil.copytree(checkout, tmp_path / "top"), tmp_path / "out"
    shutil.copytree(bundle, out)
    path = top / "data" / "tables" / "varied" / "players.csv"
    path.write_text(path.read_text() + "one,cell\n")
    with pytest.raises(FileError, match=r"players\.csv: does not read as the table"):
        write_bundle(top, out)
    assert contents(out) == contents(bundle)


def test_a_folder_of_other_files_is_left_alone(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="holds other files; choose another folder with out="):
        write_bundle(checkout, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_command_says_how_large_each_part_is(
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(checkout)
    assert answer(["bundle", f"out={tmp_path / 'out'}"]) == 0
    said = capsys.readouterr().out
    assert all(f" {part} " in said for part in (*PARTS, "descriptions"))
    assert said.splitlines()[-1].endswith(f"{tmp_path / 'out' / 'README.md'}")


def test_the_readers_that_are_here_read_as_the_card_says(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bundle)
    readers = yaml.safe_load(
        (Path(calbench.__file__).parent / "bundle/templates/readers.yaml").read_text()
    )
    card = (bundle / "README.md").read_text()
    page = (REPO / "site" / "docs" / "data" / "formats.md").read_text()
    for code in readers.values():
        assert code in card
        assert indent(code, "    ") in page
        assert len(code.splitlines()) <= 3
    for name in ("pandas", "`calbench`"):
        exec(readers[name], {})  # noqa: S102 - the lines that the card shows


MOST_SECONDS = 60


def test_every_cell_runs_in_the_folder_in_under_a_minute(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bundle)
    cells = json.loads(Path("bundle.ipynb").read_text())["cells"]
    space: dict[str, Any] = {}
    start = time.perf_counter()
    for cell in cells:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"]).replace("traces/smollm2", "traces/uniform")
            exec(source, space)  # noqa: S102 - our own notebook
    assert time.perf_counter() - start < MOST_SECONDS
    assert {"uniform", "varied"} == set(space["board"]["experiment"])
    assert space["about"]["path"].startswith("tables/leaderboard.csv")
    assert list(space["plane"].data[0]["text"]) == ["imap", "silent"]
    assert space["game"].config.team.team_id == space["first"]["team"] == "imap"
    (own,) = space["mine"].to_dict("records")
    assert (own["team"], own["scenarios"]) == ("Mine", 3)
    assert pd.notna(own["excess_vps"])
