from pathlib import Path

import pytest

from calbench.errors import FileError
from calbench.report.documents import parts, sections
from tests.report.samples import SOURCES

TEXT = """# How to

## Add a thing

1. Do it.

## Commits

Small.

## Add an odd one

Also.
"""


def test_sections_about_adding_are_taken_and_no_other() -> None:
    assert sections(TEXT, Path("x")) == (
        "## Add a thing {#add-a-thing}\n\n1. Do it.\n\n## Add an odd one {#add-an-odd-one}\n\nAlso."
    )


def test_file_without_such_a_section_is_refused() -> None:
    with pytest.raises(FileError, match=r"x\.md: no section begins with '## Add'"):
        sections("# Nothing\n", Path("x.md"))


def test_every_part_that_can_be_added_is_on_the_page() -> None:
    text = parts(SOURCES.parent)["contributing"]()
    for name in ("protocol", "metric", "table", "fact", "suite", "model", "agent", "label-bank"):
        assert f"{{#add-a{'n' if name == 'agent' else ''}-{name}}}" in text


def test_changelog_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    assert parts(tmp_path)["changelog"]() == "# Changes\n"
