"""What is published in ``data/release``: whole, small, and true to its own manifest."""

import gzip
import re

import pytest

from calbench.analysis.versions import versions
from calbench.config.groups import known_names
from calbench.release.__main__ import CHANGES, README
from calbench.release.archives import read_archive
from calbench.release.copies import Copies, is_copied, suite_copy, table_copy
from calbench.release.manifest import (
    GAMES,
    MANIFEST,
    SHORT,
    Manifest,
    by_experiment,
    digest,
    manifest_bytes,
    read_games,
    read_manifest,
)
from calbench.release.pack import PACK
from tests.cli.runs import REPO, files

RELEASE = REPO / "data" / "release"

MOST_BYTES = 3_750_000
"""What a clone should not have to carry more of; a raise is written into CHANGELOG, too."""


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return read_manifest(RELEASE)


@pytest.mark.heavy
def test_every_copy_is_what_the_manifest_says(manifest: Manifest) -> None:
    copies = Copies(RELEASE)
    assert {name: digest(copies.suite(name)) for name in manifest.suites} == manifest.suites
    assert {name: digest(copies.table(name)) for name in manifest.tables} == manifest.tables
    assert {name: len(games) for name, games in by_experiment(read_games(RELEASE)).items()} == {
        name: traces.games for name, traces in manifest.traces.items()
    }
    assert all(re.fullmatch(rf"[0-9a-f]{{{SHORT}}}", d) for d in read_games(RELEASE).values())


def test_release_holds_what_the_manifest_names_and_nothing_else(manifest: Manifest) -> None:
    tables = {name: table_copy(RELEASE, name) for name in manifest.tables}
    paths = {
        *(RELEASE / name for name in (README, MANIFEST, GAMES, PACK)),
        *(suite_copy(RELEASE, name) for name in manifest.suites),
        *tables.values(),
    }
    packed = {
        name for path in {*tables.values()} if path.suffix == ".xz" for name in read_archive(path)
    }
    assert packed == {name for name, path in tables.items() if path.suffix == ".xz"}
    held = [name for name in files(RELEASE) if not name.startswith(f"{CHANGES}/")]
    assert sorted(path.relative_to(RELEASE).as_posix() for path in paths) == sorted(held)
    assert (RELEASE / MANIFEST).read_bytes() == manifest_bytes(manifest)


def test_every_declared_table_is_published_cell_by_cell(manifest: Manifest) -> None:
    assert {name for name in manifest.tables | manifest.files if is_copied(name)} == set(
        manifest.tables
    )


def test_every_experiment_of_the_pipeline_is_published(manifest: Manifest) -> None:
    assert {f"{name}.jsonl" for name in manifest.traces} == set(manifest.suites)
    assert set(manifest.traces) <= set(known_names("experiment"))
    assert manifest.traces.keys() <= by_experiment(manifest.tables).keys()


def test_release_was_made_by_this_version(manifest: Manifest) -> None:
    assert manifest.versions == versions()


def test_release_is_small_and_names_no_place_or_clock() -> None:
    held = files(RELEASE)
    assert sum(len(data) for name, data in held.items() if CHANGES not in name) < MOST_BYTES
    for name, data in held.items():
        text = gzip.decompress(data) if name.endswith(".gz") else data
        assert not re.search(rb"/(?:home|root|tmp|work)/|20\d\d-\d\d-\d\d", text), name
        assert not name.endswith(".gz") or data[4:8] == bytes(4)  # when it was packed


def test_release_says_under_which_licence() -> None:
    assert "CC BY 4.0" in (RELEASE / README).read_text()
