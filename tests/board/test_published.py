"""The packed results of the release: small, the same every time, and true to the release."""

import shutil
from pathlib import Path

import pytest

from calbench.analysis.tables import TABLES
from calbench.board.published import read_published
from calbench.errors import FileError
from calbench.pool import workers
from calbench.release.manifest import digest, read_manifest
from calbench.release.pack import PACK, unpack, write_pack
from tests.cli.runs import REPO, files
from tests.report.samples import make_results

DATA = REPO / "data"
RELEASE = DATA / "release"

MOST_BYTES = 250_000
"""Of a package that everybody downloads."""


def test_pack_is_small() -> None:
    assert (RELEASE / PACK).stat().st_size <= MOST_BYTES


@pytest.mark.heavy
def test_packed_results_are_those_of_the_release(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "release").symlink_to(RELEASE)
    with workers(2) as executor:
        published = read_published(data, tmp_path / "scratch", executor)

    assert not published.has_games
    manifest = read_manifest(RELEASE)
    known = manifest.tables | manifest.files
    tables = files(tmp_path / "scratch" / "tables")
    made = {name: digest(content) for name, content in tables.items() if name.endswith(".csv")}
    assert made == {name: known.get(name) for name in made}
    ranked = [each.name for each in published.results if each.facts is not None]
    assert ranked == [
        *("uniform", "varied", "language", "language-participants", "language-everyone", "smollm2"),
        *("erring", "smollm2-participants", "smollm2-everyone"),
    ]
    of_scores = [path for path, table in TABLES.items() if not table.needs]
    assert {f"{name}/{path}" for name in ranked for path in of_scores} <= made.keys()


@pytest.mark.heavy
def test_pack_depends_on_its_contents_alone(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "elsewhere" / "two"]
    packs = []
    for folder in folders:
        results = make_results(tmp_path / "results", "small", ["imap"], num_scenarios=2)
        shutil.copytree(results.folder, folder / "tables" / "small")
        packs.append(folder / PACK)
        write_pack(folder, packs[-1], [])
    first, second = (path.read_bytes() for path in packs)
    assert first == second
    unpack(packs[0], tmp_path / "unpacked")
    held = files(tmp_path / "unpacked" / "tables" / "small")
    assert held["leaderboard.csv"] == (results.folder / "leaderboard.csv").read_bytes()


def test_missing_and_broken_packs_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"board\.tar\.xz: the published results are missing"):
        read_published(tmp_path, tmp_path / "scratch")
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / PACK).write_bytes(b"no archive")
    with pytest.raises(FileError, match=r"board\.tar\.xz: cannot be unpacked"):
        read_published(tmp_path, tmp_path / "scratch")
