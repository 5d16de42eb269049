"""No published number moves while the analysis and the pages are rebuilt.

``hashes.json`` holds what every table and every source of the site was before, made by
``of_tables`` and ``of_pages``. What differs on purpose stands in ``moved.json``, each with the
sentence of ``CHANGELOG.md`` that says so. Where nothing was computed, as on a bare clone, the
release in git is compared instead.
"""

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from calbench.release.manifest import Digests, read_manifest
from tests.cli.runs import REPO
from tests.guard.hashing import of_pages, of_tables, short

HERE = Path(__file__).parent
BEFORE: dict[str, Digests] = json.loads((HERE / "hashes.json").read_text())
MOVED: dict[str, str] = json.loads((HERE / "moved.json").read_text())
"""Sentence of the changelog by file; files as patterns, ``tables/...`` and ``pages/...``."""

TABLES = REPO / "data" / "tables"
PAGES = REPO / "build" / "site_src"


def moved(kind: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the files that are not what they were."""
    return [f"{kind}/{name}" for name, digest in before.items() if now.get(name) != digest]


def is_expected(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in MOVED)


def unexpected(names: Iterable[str]) -> list[str]:
    return [name for name in names if not is_expected(name)]


def test_no_published_table_has_moved() -> None:
    manifest = read_manifest(REPO / "data" / "release")
    published = short(manifest.tables | manifest.files)
    assert len(BEFORE["tables"]) > 400
    assert unexpected(moved("tables", BEFORE["tables"], published)) == []


def test_no_computed_table_has_moved() -> None:
    computed = of_tables(TABLES)
    if not computed:
        pytest.skip("nothing was computed here")
    experiments = {name.partition("/")[0] for name in computed}
    before = {n: d for n, d in BEFORE["tables"].items() if n.partition("/")[0] in experiments}
    assert unexpected(moved("tables", before, computed)) == []


def test_no_page_has_moved() -> None:
    if not (PAGES / "mkdocs.yml").is_file():
        pytest.skip("the site is not built here")
    found = moved("pages", BEFORE["pages"], of_pages(PAGES))
    assert unexpected(found) == []
    unmoved = [
        pattern
        for pattern in MOVED
        if pattern.startswith("pages/") and not any(fnmatchcase(name, pattern) for name in found)
    ]
    assert unmoved == [], "nothing of these has moved"


def test_whatever_moves_is_named_in_the_changelog() -> None:
    changelog = " ".join((REPO / "CHANGELOG.md").read_text().split())
    assert [sentence for sentence in MOVED.values() if sentence not in changelog] == []
    assert all(len(sentence) > 20 for sentence in MOVED.values())


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("docs/index.md", b"2", ["pages/docs/index.md"]),
        ("docs/index.md", None, ["pages/docs/index.md"]),
        ("docs/pagedata/games/tiny/imap/b.js", b"2", ["pages/docs/pagedata/games/tiny/imap/"]),
        ("docs/pagedata/games/tiny/imap/c.js", b"1", ["pages/docs/pagedata/games/tiny/imap/"]),
        ("docs/assets/a.js", b"2", []),
        ("docs/new.md", b"2", []),
    ],
)
def test_guard_sees_what_moves(
    tmp_path: Path, name: str, data: bytes | None, found: list[str]
) -> None:
    for place in ("index.md", "assets/a.js", "pagedata/games/tiny/imap/b.js", "pagedata/x.js"):
        path = tmp_path / "docs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1")
    before = of_pages(tmp_path)
    assert set(before) == {
        *("docs/index.md", "docs/pagedata/x.js", "docs/pagedata/games/tiny/imap/")
    }
    (tmp_path / name).unlink() if data is None else (tmp_path / name).write_bytes(data)
    assert moved("pages", before, of_pages(tmp_path)) == found
