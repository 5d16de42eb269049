from pathlib import Path

import pytest

from calbench.errors import FileError
from calbench.report.pages.document import recipes
from calbench.report.site import Site
from calbench.report.tables import Tables
from tests.report.samples import NOTHING, SOURCES, page_of

TEXT = """# How to

## Add a thing

1. Do it.

## Commits

Small.

## Add an odd one

Also.
"""


def test_sections_about_adding_are_taken_and_no_other() -> None:
    assert recipes(TEXT, Path("x")) == [
        "## Add a thing {#add-a-thing}\n\n1. Do it.",
        "## Add an odd one {#add-an-odd-one}\n\nAlso.",
    ]


def test_file_without_such_a_section_is_refused() -> None:
    with pytest.raises(FileError, match=r"x\.md: no section begins with '## Add'"):
        recipes("# Nothing\n", Path("x.md"))


def site(sources: Path) -> Site:
    return Site(sources, (), Tables(NOTHING), Tables(NOTHING))


def test_every_part_that_can_be_added_is_on_the_page() -> None:
    text = page_of(site(SOURCES), "extend.md")
    for name in ("protocol", "metric", "table", "fact", "suite", "model", "agent", "label-bank"):
        assert f"{{#add-a{'n' if name == 'agent' else ''}-{name}}}" in text


def test_changelog_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# Changes {{ 7 * 7 }}\n")
    docs = tmp_path / "site" / "docs"
    docs.mkdir(parents=True)
    (docs / "changelog.md").write_bytes((SOURCES / "docs" / "changelog.md").read_bytes())
    assert "# Changes {{ 7 * 7 }}\n" in page_of(site(tmp_path / "site"), "changelog.md")
