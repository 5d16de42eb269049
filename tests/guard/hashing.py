"""What a guarded file is recorded as: the first digits of its SHA-256, page data by folder."""

import re
from collections.abc import Mapping
from pathlib import Path

from calbench.release.manifest import SHORT, Digests, all_games, digests

BY_FOLDER = re.compile(r"docs/pagedata/(games|prompts|scenarios|search)/")
"""Page data of games: one digest a folder, as there are a thousand files."""

SOURCES = "docs/assets/"
"""Copied as they are in git."""


def short(found: Mapping[str, str]) -> Digests:
    """Return the first digits of digests."""
    return {name: digest[:SHORT] for name, digest in found.items()}


def of_tables(folder: Path) -> Digests:
    """Return what every file below a folder of tables is recorded as."""
    return short(digests(folder))


def of_pages(folder: Path) -> Digests:
    """Return what the sources of a built site are recorded as."""
    found = digests(folder, lambda name: not name.startswith(SOURCES))
    folders: dict[str, Digests] = {}
    for name in list(found):
        if BY_FOLDER.match(name):
            folders.setdefault(f"{name.rpartition('/')[0]}/", {})[name] = found.pop(name)
    return short(found | {name: all_games(files).sha256 for name, files in folders.items()})
