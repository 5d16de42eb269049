"""What the site offers for download: complete, as listed, and read by the Python that it shows."""

import csv
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
import zstandard
from pyarrow.parquet import read_metadata, read_schema

from calbench.analysis.summary import EXPERIMENT, SUMMARY
from calbench.analysis.tables import TABLES
from calbench.cli.stores import pack
from calbench.domain.canary import CANARY
from calbench.errors import FileError
from calbench.report.downloads import (
    COLUMNS,
    LISTING,
    MANIFEST,
    SUMS,
    Downloads,
    write_archive,
    write_downloads,
)
from calbench.traces.shards import CANARY_FRAME
from tests.report.sample_site import SampleSite
from tests.report.samples import NOTHING, PUBLISHED, page_of, results_in, site_of

Row = dict[str, str]


@pytest.fixture(scope="module")
def packed(sample_site: SampleSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the downloads of an experiment whose games are in a shard."""
    root = tmp_path_factory.mktemp("packed")
    shutil.copytree(sample_site.root / "uniform", root / "uniform", ignore=_games)
    pack(sample_site.root / "uniform" / "traces", root / "uniform" / "traces")
    docs = root / "docs"
    shutil.copytree(sample_site.source / "docs" / "schemas", docs / "schemas")
    _write(root, docs)
    return docs


def _games(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "traces"]


def _write(root: Path, docs: Path) -> Downloads:
    site = site_of([results_in(root / "uniform", "uniform")], root / "src", PUBLISHED,
                   has_downloads=True)  # fmt: skip
    return write_downloads(site, docs)


def rows(docs: Path) -> list[Row]:
    with (docs / LISTING).open(newline="") as file:
        return list(csv.DictReader(file))


def contents(docs: Path) -> dict[str, bytes]:
    return {p.relative_to(docs).as_posix(): p.read_bytes() for p in docs.rglob("*") if p.is_file()}


def test_listing_has_every_file_with_its_size_and_checksum(packed: Path) -> None:
    listed = {row["path"]: row for row in rows(packed)}
    files = contents(packed)

    assert set(files) - {LISTING, MANIFEST, SUMS} == set(listed)
    for path, row in listed.items():
        assert list(row) == [column.name for column in COLUMNS]
        assert int(row["bytes"]) == len(files[path])
        assert row["sha256"] == hashlib.sha256(files[path]).hexdigest()
        assert row["licence"] in {"CC BY 4.0", "MIT"}


def test_every_kind_is_there(packed: Path) -> None:
    kinds = {row["kind"] for row in rows(packed)}

    assert kinds == {
        "suite", "tables", "parquet", "traces", "schema", "cohorts", "label_banks",
        "audit_sample", "published", "predictive", "notebook",
    }  # fmt: skip


def test_manifest_and_sums_have_every_file(packed: Path) -> None:
    manifest = json.loads((packed / MANIFEST).read_text())["files"]
    files = contents(packed)

    assert {each["path"] for each in manifest} == set(files) - {LISTING, MANIFEST, SUMS}
    assert (packed / SUMS).read_text().splitlines() == [
        f"{hashlib.sha256(files[each['path']]).hexdigest()}  {each['path']}" for each in manifest
    ]


def checked(docs: Path) -> int:
    command = ["sha256sum", "--check", "--quiet", SUMS]
    return subprocess.run(command, cwd=docs, capture_output=True, check=False).returncode


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum here")
def test_sums_notice_a_changed_byte(packed: Path, tmp_path: Path) -> None:
    docs = shutil.copytree(packed, tmp_path / "docs")
    assert checked(docs) == 0

    path = docs / "downloads" / "traces" / "uniform" / "00000.jsonl.zst"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert checked(docs) != 0


def test_same_inputs_give_the_same_bytes(packed: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(packed / "schemas", docs / "schemas")
    for path in sorted((packed.parent / "uniform").rglob("*")):
        os.utime(path, (1, 1))

    _write(packed.parent, docs)

    assert contents(docs) == contents(packed)


def one_of_each_kind(docs: Path) -> Iterator[Row]:
    yield from {row["kind"]: row for row in reversed(rows(docs))}.values()


def test_python_that_is_shown_reads_the_file(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(packed)

    for row in one_of_each_kind(packed):
        assert row["path"] in row["read"] or row["kind"] == "traces"
        first, _, last = row["read"].partition("; ")
        names: dict[str, object] = {}
        exec(first, names)  # noqa: S102 - the line that the page shows
        found = eval(last, names)  # noqa: S307 - likewise
        assert len(found) > 0, row["read"]


def test_parquet_has_the_rows_of_the_table_with_its_experiment(packed: Path) -> None:
    folder = packed.parent / "uniform" / "tables"
    for name, table in TABLES.items():
        path = packed / "downloads" / "parquet" / f"{name.rpartition('.')[0]}.parquet"
        assert path.is_file() == (folder / name).is_file()
        if path.is_file() and name.endswith(".csv"):
            found, own = pd.read_parquet(path), pd.read_csv(folder / name)
            assert list(found.columns) == ["experiment", *own.columns]
            assert len(found) == len(own)
            assert {c.name for c in table.columns} <= {*found.columns}
        if path.is_file():
            schema = read_schema(path)
            for column in (EXPERIMENT, *table.columns):
                about = schema.field(column.name).metadata
                assert about[b"meaning"].decode() == column.meaning, (name, column.name)
                assert about.get(b"unit", b"").decode() == column.unit
    frame = pd.read_parquet(packed / "downloads" / "parquet" / "leaderboard.parquet")
    own = pd.read_csv(folder / "leaderboard.csv")
    assert frame["excess_cost"].tolist() == own["excess_cost"].tolist()
    assert set(frame["experiment"]) == {"uniform"}


def test_tables_over_several_experiments_are_offered_likewise(packed: Path) -> None:
    folder = packed / "downloads" / "parquet" / "summary"
    written = {path.name for path in (packed.parent / "src-summary").glob("*.csv")}

    assert written
    assert {f"{path.stem}.csv" for path in folder.glob("*")} == written & set(SUMMARY)


def archive_of(path: Path) -> tarfile.TarFile:
    return tarfile.open(fileobj=BytesIO(zstandard.decompress(path.read_bytes())))


def test_archive_has_all_tables_and_no_hidden_file(packed: Path) -> None:
    with archive_of(packed / "downloads" / "tables" / "uniform.tar.zst") as archive:
        names = archive.getnames()
        (file,) = (archive.extractfile(name) for name in ("uniform/leaderboard.csv",))
        assert file is not None
        data = file.read()

    assert {"uniform/datapackage.json", "uniform/privacy/messages.parquet"} <= set(names)
    assert not [name for name in names if "/." in name]
    assert data == (packed.parent / "uniform" / "tables" / "leaderboard.csv").read_bytes()


def test_data_have_the_canary(packed: Path) -> None:
    downloads = packed / "downloads"
    metadata = read_metadata(downloads / "parquet" / "leaderboard.parquet").metadata
    assert metadata[b"canary"].decode() == CANARY
    shard = (downloads / "traces" / "uniform" / "00000.jsonl.zst").read_bytes()
    own = packed.parent / "uniform" / "traces" / "00000.jsonl.zst"
    assert shard == CANARY_FRAME + own.read_bytes()
    suite = (downloads / "suites" / "uniform.jsonl.gz").read_bytes()
    assert CANARY.encode() in suite
    assert gzip.decompress(suite) == (packed.parent / "uniform" / "suite.jsonl").read_bytes()
    with archive_of(downloads / "tables" / "uniform.tar.zst") as archive:
        assert archive.getnames()[0] == "uniform/CANARY.txt"


def test_archive_does_not_depend_on_times(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.csv").write_text("a\n1\n")
    write_archive(tmp_path / "a", tmp_path / "one.tar.zst", "a")
    os.utime(tmp_path / "a" / "x.csv", (1, 1))
    write_archive(tmp_path / "a", tmp_path / "two.tar.zst", "a")

    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()


def test_broken_table_is_one_clear_line(packed: Path, tmp_path: Path) -> None:
    shutil.copytree(packed.parent / "uniform", tmp_path / "uniform")
    path = tmp_path / "uniform" / "tables" / "prior_moves.csv"
    path.write_text(path.read_text() + "one,cell\n")
    site = site_of([results_in(tmp_path / "uniform", "uniform")], tmp_path / "src",
                   has_downloads=True)  # fmt: skip

    with pytest.raises(FileError, match=r"prior_moves\.csv: does not read as the table"):
        write_downloads(site, tmp_path / "docs")


def test_page_shows_size_and_checksum_of_the_files(sample_site: SampleSite) -> None:
    page = (sample_site.source / "docs" / "data.md").read_text()
    offered = rows(sample_site.source / "docs")

    assert offered
    for row in offered:
        if row["kind"] != "traces":
            assert f'href="{row["path"]}"' in page
            assert f'<data value="{row["bytes"]}">' in page
            assert row["sha256"] in page


def test_page_says_which_files_are_not_there(sample_site: SampleSite) -> None:
    """The games of the sample site are files, which are not offered."""
    page = (sample_site.built / "data.html").read_text()
    row = page.split('id="download-traces"', 1)[1].split("</tr>", 1)[0]

    assert "not part of this site" in row
    assert not (sample_site.built / "downloads" / "traces").exists()


def test_site_without_downloads_says_so(sample_site: SampleSite, tmp_path: Path) -> None:
    site = site_of(sample_site.ordinary, tmp_path / "src", NOTHING)

    assert write_downloads(site, tmp_path / "docs") == Downloads()
    assert not (tmp_path / "docs").exists()
    page = page_of(site, "data.md")
    assert "offers no downloads. All tables of a run are in its folder" in page
    assert "archive" not in page
    assert "can be downloaded:" not in page
    assert "downloads/SHA256SUMS" not in page
    places = {*re.findall(r"\{#([a-z-]+)\}", page), *re.findall(r'id="(.+?)"', page)}
    assert {*re.findall(r"\(#([a-z-]+)\)", page), *re.findall(r'href="#(.+?)"', page)} <= places
