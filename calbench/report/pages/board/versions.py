"""Which versions the rows of the leaderboard have, and which entry last changed scores."""

import re
from dataclasses import dataclass

from calbench.domain.rules import RULES_VERSION
from calbench.files import read_bytes
from calbench.report.site import Site

SCORES = "[scores]"
"""Marks an entry that changes published numbers."""

ENTRY = re.compile(r"^- (.*?)(?=^- |^#|\Z)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[^.\d][.:])\s")


@dataclass(frozen=True)
class LastChange:
    """The last entry of the changelog that changed scores.

    Attributes:
        heading: under which it is.
        says: its first sentence.
    """

    heading: str
    says: str


def versions(site: Site) -> dict[str, str]:
    """Return the versions of the metrics of the rows, and of the rules of play."""
    tables = [each.tables.optional("standings.csv") for each in site.ranked]
    metrics = dict.fromkeys(row["metrics_version"] for rows in tables for row in rows)
    return {"metrics": " and ".join(metrics), "rules": str(RULES_VERSION)}


def last_change(site: Site) -> LastChange | None:
    """Return the newest entry that is marked as changing scores, if any is.

    Headings stand with the newest first, the entries of one in the order in which they were made.
    """
    path = site.sources.parent / "CHANGELOG.md"
    return newest(read_bytes(path).decode("utf-8", "replace")) if path.is_file() else None


def newest(changelog: str) -> LastChange | None:
    """Return the newest entry of a changelog that is marked as changing scores."""
    parts = HEADING.split(changelog)[1:]
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        marked = [entry for entry in ENTRY.findall(text) if SCORES in entry]
        if marked:
            words = re.sub(r"\*\*|`", "", marked[-1]).replace(SCORES, "").split()
            first = SENTENCE_END.split(" ".join(words), maxsplit=1)[0].rstrip(".:")
            return LastChange(heading.strip(), f"{first}.")
    return None
