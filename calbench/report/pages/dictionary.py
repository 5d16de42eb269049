"""The data dictionary of the site: every column of every table that it offers."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from calbench.analysis import audit_sample
from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables import TABLES
from calbench.documents import read_yaml
from calbench.errors import ConfigError, FileError
from calbench.facts.columns import Column, number, text
from calbench.files import printable, shorten
from calbench.report.pages.page import Content
from calbench.report.site import Site

OF_RUNS: Mapping[str, Sequence[Column]] = {name: each.columns for name, each in TABLES.items()}
"""Columns of the tables that every run writes."""

OF_SITE: Mapping[str, Sequence[Column]] = {
    **{name: each.columns for name, each in SUMMARY.items()},
    "audit_sample.csv": audit_sample.COLUMNS,
}
"""Columns of the tables over several experiments, and of the labelled sample's."""

DRAWN = (
    text("line", "line of the figure that the point lies on; empty: a team of its own"),
    text("point", "value of the setting that changes along the line"),
    text("third", "easy, medium or hard third of the candidates; all: as drawn", "P"),
    number("value", "of the figure", "what the curve shows"),
    number("low", "of the figure", "lower end of the bar: an interval, or the least game"),
    number("high", "of the figure", "upper end of the bar: an interval, or the greatest game"),
)
"""Columns of files in ``tables/figures`` that are those of no other table."""

PUBLISHED = "columns.yaml"
"""Beside the numbers of others: what their columns mean."""


class Described(NamedTuple):
    """A table with its columns, and where on the page they are."""

    name: str
    anchor: str
    columns: Sequence[Column]


def content(site: Site) -> Content:
    """Return the columns of all tables, by where they are from."""
    return Content(
        {
            "of_runs": _described(OF_RUNS),
            "of_site": _described(OF_SITE, "site-"),
            "of_figures": DRAWN,
            "of_others": _described(published_columns(site.published.folder)),
        }
    )


def published_columns(folder: Path) -> dict[str, list[Column]]:
    """Return the columns of the numbers of others; none if nothing describes them.

    Raises:
        FileError: the description cannot be read.
    """
    path = folder / PUBLISHED
    if not path.is_file():
        return {}
    try:
        tables = read_yaml(path)
        return {
            f"published/{name}": [Column(**{"unit": "", **column}) for column in columns]
            for name, columns in tables.items()
        }
    except ConfigError as error:
        raise FileError(f"{error}; it does not describe tables by their columns") from error
    except (AttributeError, TypeError, ValueError) as error:
        problem = shorten(printable(str(error)), 200)
        raise FileError(f"{path}: does not describe tables by their columns ({problem})") from error


def _described(tables: Mapping[str, Sequence[Column]], prefix: str = "") -> list[Described]:
    return [
        Described(name, prefix + re.sub("[^a-z0-9]", "-", name.removesuffix(".csv")), columns)
        for name, columns in tables.items()
    ]
