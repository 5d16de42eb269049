"""Pages of text: those with files of the repository, and the method."""

import re
from pathlib import Path

from markupsafe import Markup

from calbench.errors import FileError
from calbench.files import read_bytes
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.experiment import confidence_of
from calbench.report.pages.page import Content
from calbench.report.site import Site

# e.g. "## Add a table\nText\n## Tests"; not "### Add a table\nText"
SECTION = re.compile(r"^## (Add [^\n]*)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""A section of CONTRIBUTING that says how to add something."""


def changelog(site: Site) -> Content:
    """Return the changelog of the repository."""
    return Content({"changelog": _markdown(_text(site.sources.parent / "CHANGELOG.md"))})


def contributing(site: Site) -> Content:
    """Return how to add a part, from the repository's CONTRIBUTING.

    Raises:
        FileError: no section of it says so.
    """
    path = site.sources.parent / "CONTRIBUTING.md"
    return Content({"recipes": _markdown("\n\n".join(recipes(_text(path), path)))})


def recipes(text: str, path: Path) -> list[str]:
    """Return the sections that begin with "Add", each under its own anchor.

    Raises:
        FileError: there is none.
    """
    found = [
        match[0].replace(f"## {match[1]}\n", f"## {match[1]} {{#{_anchor(match[1])}}}\n", 1).strip()
        for match in SECTION.finditer(text)
    ]
    if not found:
        raise FileError(f"{path}: no section begins with '## Add'; the site's page shows those")
    return found


def method(site: Site) -> Content:
    """Return what the method page takes from the code."""
    return Content({"patterns": PATTERNS, "confidence": confidence_of(site.ranked)})


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: byte {error.start + 1} is not UTF-8") from error


def _markdown(text: str) -> Markup:
    """Mark a text of the repository as what it is: Markdown of ours, not data."""
    return Markup(text)  # noqa: S704
