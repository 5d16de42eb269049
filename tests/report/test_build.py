"""The built site: the same bytes twice, and one clear error for a page that does not fit."""

from pathlib import Path

import pytest

from calbench.errors import CalbenchError
from calbench.report.build import build_site
from calbench.report.pages import write_site
from tests.report.samples import SOURCES, make_results
from tests.report.test_site_source import digests


def test_two_builds_are_equal_byte_for_byte(tmp_path: Path) -> None:
    results = make_results(tmp_path / "run", "uniform", ["imap"])
    for name in ("one", "two"):
        write_site(SOURCES, [results], tmp_path / name / "src")
        build_site(tmp_path / name / "src", tmp_path / name / "site")

    first = digests(tmp_path / "one" / "site")

    assert first == digests(tmp_path / "two" / "site")
    assert {"index.html", "traces.html", "method.html", "results/uniform.html"} <= set(first)


def test_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](nowhere.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: []\n")

    with pytest.raises(CalbenchError, match=r"nowhere\.md"):
        build_site(tmp_path, tmp_path / "site")
