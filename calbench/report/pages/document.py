"""Pages of text: those with files of the repository, and the method."""

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from calbench.analysis.versions import SUITES, versions
from calbench.code import PACKAGE_VERSION
from calbench.errors import FileError
from calbench.files import read_bytes, utf8_text
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.experiment import confidence_of
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import grouped

# e.g. "## Add a table\nText\n## Tests"; not "### Add a table\nText"
SECTION = re.compile(r"^## (Add [^\n]*)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""A section of CONTRIBUTING that says how to add something."""


# e.g. "## 0.2.0 (2026-11-28)\n"; not "### Budgets\n"
VERSION = re.compile(r"^(## [^\n]*\n)", re.MULTILINE)
"""The heading of a version in the changelog."""


def changelog(site: Site) -> Content:
    """Return the changelog of the repository: head and newest version, then each former one."""
    newest, *former = VERSION.split(_text(site.sources.parent / "CHANGELOG.md"))
    if former:
        newest += former.pop(0) + former.pop(0)
    pairs = zip(former[::2], former[1::2], strict=True)
    return Content(
        {
            "newest": _markdown(newest),
            "former": [
                (title.removeprefix("## ").strip(), _markdown(text)) for title, text in pairs
            ],
        }
    )


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


def trust(site: Site) -> Content:
    """Return what a scan finds in the published games and in planted texts."""
    names = {"found": "scan.csv", "planted": "scan_planted.csv"}
    return Content({name: site.published.optional(table) for name, table in names.items()})


def method(site: Site) -> Content:
    """Return what the method page takes from the code."""
    return Content({"patterns": PATTERNS, "confidence": confidence_of(site.ranked)})


BOARD_MEASURES = ("coordination", "adjusted_excess_cost", "messages", "fairness", "excess_vps")
"""Measures that boards of all versions have."""


def released(site: Site) -> Content:
    """Return all versions, and each former board beside the present one of the same teams."""
    boards = {
        each.name: sha256(read_bytes(each.experiment.folder / "leaderboard.csv")).hexdigest()
        for each in site.settings
        if each.name in SUITES
    }
    present = {
        **dict.fromkeys(site.published.rows("versions.csv")[0], ""),
        **versions(),
        **SUITES,
        **{f"{name}_board": found for name, found in boards.items()},
        "version": PACKAGE_VERSION,
    }
    return Content({"present": present, "boards": list(_boards(site)), "measures": BOARD_MEASURES})


def _boards(site: Site) -> Iterator[dict[str, Any]]:
    """Yield former boards by version and setting: rows of teams that are on both, old and new."""
    now = {(each.name, row["team"]): row for each in site.settings for row in each.leaderboard}
    former = grouped(site.published.optional("boards.csv"), "version", "setting")
    for (version, setting), rows in former.items():
        both = [(row, now[setting, row["team"]]) for row in rows if (setting, row["team"]) in now]
        if both:
            yield {"version": version, "setting": setting, "rows": both}


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def _text(path: Path) -> str:
    return utf8_text(path, read_bytes(path))


def _markdown(text: str) -> Markup:
    """Mark a text of the repository as what it is: Markdown of ours, not data."""
    return Markup(text)  # noqa: S704
