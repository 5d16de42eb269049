"""The built site: the same bytes twice, and one clear error for a page that does not fit."""

import shutil
from pathlib import Path

import pytest

from calbench.errors import CalbenchError
from calbench.report.build import build_site
from tests.report.sample_site import SampleSite
from tests.report.test_site_source import digests


@pytest.mark.heavy
def test_two_builds_are_equal_byte_for_byte(sample_site: SampleSite, tmp_path: Path) -> None:
    shutil.copytree(sample_site.source, tmp_path / "elsewhere")

    build_site(tmp_path / "elsewhere", tmp_path / "site")

    first = digests(sample_site.built)
    assert first == digests(tmp_path / "site")
    assert {"index.html", "traces.html", "method.html", "results/uniform.html"} <= set(first)


@pytest.mark.heavy
def test_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](nowhere.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: []\n")

    with pytest.raises(CalbenchError, match=r"nowhere\.md"):
        build_site(tmp_path, tmp_path / "site")
