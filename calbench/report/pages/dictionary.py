"""The data dictionary of the site: every column of every table that it offers.

The page "Data" has an index of all tables; their columns are on further pages, by group.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from calbench.analysis import audit_sample
from calbench.analysis.registry import Declared
from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables import TABLES
from calbench.facts.columns import Column, number, text
from calbench.report.downloads import COLUMNS as OF_DOWNLOADS
from calbench.report.downloads import LISTING
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import published_rows

DRAWN = (
    text("line", "line of the figure that the point lies on; empty: a team of its own"),
    text("point", "value of the setting that changes along the line"),
    text("third", "easy, medium or hard third of the candidates; all: as drawn", "P"),
    number("value", "of the figure", "what the curve shows"),
    number("low", "of the figure", "lower end of the bar: an interval, or the least game"),
    number("high", "of the figure", "upper end of the bar: an interval, or the greatest game"),
)
"""Columns of files in ``tables/figures`` that are those of no other table."""

# e.g. "vps_by_team.csv", "privacy/by_team.csv"; not "privacy.csv"
OF_PRIVACY = re.compile("audit_|judge/|leaking_|privacy/|probe_labels|revealing_|second_hand_|vps_")
"""Begins the names of the tables of a run that tell of messages and what they reveal."""


class Described(NamedTuple):
    """A table, what its rows are, its columns, and where they are.

    Attributes:
        name: of its file; those over several experiments have it from the root of ``tables``.
        anchor: of the table, on the page of its group and in the index.
        about: what a row is, in a sentence.
        columns: with their meaning.
        parquet: the name of its Parquet file, if it has one.
    """

    name: str
    anchor: str
    about: str
    columns: Sequence[Column]
    parquet: str = ""


class Group(NamedTuple):
    """Tables whose columns are on one page.

    Attributes:
        page: its address from the root of the site.
        title: of the group.
        tables: in their order.
    """

    page: str
    title: str
    tables: Sequence[Described]


def content(site: Site) -> Content:
    """Return the index of all tables."""
    groups = [group(site) for group in GROUPS.values()]
    return Content({"groups": groups, "of_figures": DRAWN})


def columns_of(page: str) -> Callable[[Site], Content]:
    """Return what makes the content of the page of a group."""
    return lambda site: Content({"group": GROUPS[page](site)})


def _of_results(_: Site) -> Group:
    found = [each for name, each in TABLES.items() if not OF_PRIVACY.match(name)]
    return Group("data/results.html", "Teams, players and games", _of_run(found))


def _of_privacy(_: Site) -> Group:
    found = [each for name, each in TABLES.items() if OF_PRIVACY.match(name)]
    return Group("data/privacy.html", "Messages and privacy", _of_run(found))


def _of_site(_: Site) -> Group:
    sample = audit_sample.SAMPLE
    tables = [
        *(_described(each, "site-", f"summary/{name}") for name, each in SUMMARY.items()),
        _described(sample, "site-", sample.path),
    ]
    listing = LISTING.removeprefix("tables/")
    about = "Every file that the site offers, with size, checksum and licence."
    tables.append(Described(listing, _anchor(listing, "site-"), about, OF_DOWNLOADS))
    return Group("data/summary.html", "Over several experiments", tables)


def _of_others(site: Site) -> Group:
    rows = published_rows(site.published.folder)
    tables = [
        Described(f"published/{name}", _anchor(f"published/{name}"), rows.get(name, ""), columns)
        for name, columns in site.published.described.items()
    ]
    return Group("data/published.html", "The paper's numbers, and measurements by hand", tables)


GROUPS: Mapping[str, Callable[[Site], Group]] = {
    "results": _of_results,
    "privacy": _of_privacy,
    "summary": _of_site,
    "published": _of_others,
}
"""What makes a group of tables, by the name of its page below ``data``."""


def _of_run(tables: Iterable[Declared]) -> list[Described]:
    return [_described(each, "", each.path) for each in tables]


def _described(table: Declared, prefix: str, parquet: str) -> Described:
    return Described(table.path, _anchor(table.path, prefix), table.about, table.columns, parquet)


def _anchor(name: str, prefix: str = "") -> str:
    return prefix + re.sub("[^a-z0-9]", "-", name.removesuffix(".csv"))
