"""Distributions outside the tree: that of the page, and others that name the same or nothing."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]

Points = Mapping[str, Mapping[str, str]]
"""What entry points name, by group and name."""


def section() -> str:
    """Return what the page says of a package of one's own."""
    page = (REPO / "site" / "docs" / "extend.md").read_text(encoding="utf-8")
    return page.partition("{#package}\n")[2].partition("\n## ")[0]


def files_on_page() -> dict[str, str]:
    """Return the files of the page's distribution by their paths."""
    found = re.findall(r"^`([\w./]+)`:\n\n((?:    [^\n]*\n|\n)+)", section(), re.MULTILINE)
    return {
        path: re.sub(r"^    ", "", text, flags=re.MULTILINE).rstrip("\n") + "\n"
        for path, text in found
    }


def commands_on_page() -> list[str]:
    """Return the commands that the page gives for it."""
    return re.findall(r"^    ((?:calbench|python) [^\n]*)$", section(), re.MULTILINE)


def install_page(folder: Path) -> Path:
    """Install the page's distribution in a folder of a search path."""
    files = files_on_page()
    project = tomllib.loads(files["pyproject.toml"])["project"]
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "calbench_bid" / "__init__.py").touch()
    return install(folder, project["name"], project["version"], project["entry-points"])


def install(folder: Path, name: str, version: str, points: Points) -> Path:
    """Write what an installer would: name, version and entry points."""
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, values in points.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in values.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder
