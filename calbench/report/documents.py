"""Pages that show files of the repository: the changelog, and how to add a part.

One text stands in one place. These files are ours, and are Markdown already.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from calbench.errors import FileError
from calbench.files import read_bytes

CHANGELOG = "CHANGELOG.md"
CONTRIBUTING = "CONTRIBUTING.md"

SECTION = re.compile(r"^## (Add [^\n]*)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""A section of CONTRIBUTING that says how to add something."""


def parts(root: Path) -> Mapping[str, Callable[[], str]]:
    """Return the parts of pages that are files of the repository, by the name of their marker."""
    return {
        "changelog": lambda: _text(root / CHANGELOG),
        "contributing": lambda: sections(_text(root / CONTRIBUTING), root / CONTRIBUTING),
    }


def sections(text: str, place: Path) -> str:
    """Return the sections that begin with "Add", each under its own anchor.

    Raises:
        FileError: there is none.
    """
    found = [
        match[0].replace(f"## {match[1]}\n", f"## {match[1]} {{#{_anchor(match[1])}}}\n", 1).strip()
        for match in SECTION.finditer(text)
    ]
    if not found:
        raise FileError(f"{place}: no section begins with '## Add'; the site's page shows those")
    return "\n\n".join(found)


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: byte {error.start + 1} is not UTF-8") from error
