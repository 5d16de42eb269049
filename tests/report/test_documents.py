import re
from pathlib import Path

import pytest

from calbench.code import PACKAGE_VERSION
from calbench.errors import FileError
from calbench.report.pages.document import recipes
from calbench.report.site import Site
from calbench.report.tables import Tables
from tests.report.samples import NOTHING, PUBLISHED, SOURCES, page_of

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


def changelog_of(folder: Path, text: str) -> str:
    (folder / "CHANGELOG.md").write_text(text)
    docs = folder / "site" / "docs"
    docs.mkdir(parents=True)
    (docs / "changelog.md").write_bytes((SOURCES / "docs" / "changelog.md").read_bytes())
    return page_of(site(folder / "site"), "changelog.md")


def test_changelog_is_the_file(tmp_path: Path) -> None:
    assert "# Changes {{ 7 * 7 }}\n" in changelog_of(tmp_path, "# Changes {{ 7 * 7 }}\n")


def test_former_versions_are_folded(tmp_path: Path) -> None:
    page = changelog_of(tmp_path, "# Log\n\n## 3\n\nC\n\n### Budgets\n\n## 2\n\nB\n\n## 1\n\nA\n")
    opened, *folds = page.split("<summary>")
    assert "# Log\n\n## 3\n\nC\n\n### Budgets\n" in opened
    assert [fold.split("</summary>")[0] for fold in folds] == ["2", "1"]
    assert ["B" in folds[0], "A" in folds[1], "A" in folds[0]] == [True, True, False]


VERSIONED = re.compile(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", re.MULTILINE)


def test_changelog_is_by_version_newest_first_with_their_dates() -> None:
    found = VERSIONED.findall((SOURCES.parent / "CHANGELOG.md").read_text())
    former = [(row["version"], row["date"]) for row in Tables(PUBLISHED).rows("versions.csv")]
    assert found[0][0] == PACKAGE_VERSION
    assert found[1:] == former[::-1]
    assert found == sorted(found, key=lambda each: each[1], reverse=True)


def test_changelog_says_nothing_twice() -> None:
    lines = (SOURCES.parent / "CHANGELOG.md").read_text().splitlines()
    entries = [line for line in lines if line.startswith("- ")]
    assert len(entries) == len({*entries})
