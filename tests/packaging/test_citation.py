"""CITATION.cff says what the site's page on citing says, of the version that is released."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parents[2]
CITATION: dict[str, Any] = yaml.safe_load((REPO / "CITATION.cff").read_text())
PAGE = (REPO / "site" / "docs" / "cite.md").read_text()

REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = {*REQUIRED, "type", "abstract", "version", "license", "keywords", "preferred-citation"}
"""Keys of version 1.2.0 of the format: those that it requires, and those that we use."""


def bibtex(kind: str) -> dict[str, str]:
    """Return the fields of an entry of the page, without braces."""
    entry = re.search(rf"@{kind}\{{(.*?)^    \}}", PAGE, re.DOTALL | re.MULTILINE)
    assert entry is not None
    fields = re.findall(r"^\s+(\w+)\s*=\s*\{(.*)\},?$", entry[1], re.MULTILINE)
    return {name: re.sub(r"[{}]", "", value).replace("--", "\N{EN DASH}") for name, value in fields}


def test_it_has_the_fields_of_its_format() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert set(CITATION) >= REQUIRED
    assert set(CITATION) <= KNOWN
    assert CITATION["type"] == "software"
    assert {"type", "title", "authors"} <= set(CITATION["preferred-citation"])


def test_software_is_the_release_and_names_nobody() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    entry = bibtex("software")

    assert CITATION["version"] == project["version"]
    assert CITATION["license"] == project["license"]
    assert CITATION["title"] == entry["title"]
    assert CITATION["authors"] == [{"name": entry["author"]}]


def test_paper_is_the_one_of_the_page_with_its_authors_in_order() -> None:
    paper, entry = CITATION["preferred-citation"], bibtex("misc")
    authors = [f"{each['family-names']}, {each['given-names']}" for each in paper["authors"]]

    assert paper["title"] == entry["title"]
    assert " and ".join(authors) == entry["author"]
    assert str(paper["year"]) == entry["year"]
    assert paper["url"] == f"https://arxiv.org/abs/{entry['eprint']}"
    assert entry["eprint"] in paper["journal"]
