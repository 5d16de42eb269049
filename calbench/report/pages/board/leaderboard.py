"""The leaderboard's page: a table that reads without scripts, and the data of the one that sorts.

Numbers are the cells of ``leaderboard.csv`` of the tables over several experiments word for word;
the page's script rounds them for the eye.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

from calbench.analysis.measures import MEASURES, Measure
from calbench.analysis.summary import SUMMARY
from calbench.report.columns import (
    HEADLINE,
    MEASURE_BY_NAME,
    NO_INTERVAL,
    decimal,
    plain_measures,
)
from calbench.report.kind import PUBLISHED as THEIRS
from calbench.report.pages.board.fields import (
    FIRST_MEASURE,
    VPS_FIELDS,
    Field,
    column_of,
    fields,
    partly,
)
from calbench.report.pages.board.pools import Pool, View, kinds_of, views_of
from calbench.report.pages.board.versions import last_change, versions
from calbench.report.pages.board.who import has_page
from calbench.report.pages.page import Content
from calbench.report.site import PAPER, Site
from calbench.report.tables import Row

COLUMNS = tuple(
    column.name
    for column in SUMMARY["leaderboard.csv"].columns
    if column.name not in {"setting", "channel"}
)
"""Of the table, as rows of the page's data have them; a view says the others."""

ABOUT = ("definition", "denominator", "origin", "table", "link")
"""Of a field, what the page reads only when somebody asks for it."""

SAID_OF_VIEW = ("setting", "channel", "experiments", "confidence", "level")

RANK = ("rank_low", "rank_high", "ranked", "letters")
"""Of a measure, what says a team's rank in it."""

FEW = "few"
"""Interval of few scenarios, in place of which the page shows their range."""


def content(site: Site) -> Content:
    """Return the first view, sorted as the script sorts it at first, and what others published."""
    views = views_of(site)
    rows = views[0].rows if views else ()
    filled = [each for each in fields(rows) if any(cell(row, each) for row in rows)]
    shown = [field for field in filled if field.shown]
    return Content(
        {
            "view": views[0] if views else None,
            "pools": [_pool(pool, shown) for pool in (views[0].pools if views else ())],
            "kind_by_words": kinds_of(rows),
            "versions": versions(site),
            "changed": last_change(site),
            "published": _published(site),
        },
        data=page_data(site, views),
    )


def _pool(pool: Pool, shown: Sequence[Field]) -> dict[str, Any]:
    """Return the table of one pool: columns that somebody fills, and rows as they are sorted."""
    own = (*pool.rows, *pool.apart)
    filled = [field for field in shown if any(cell(row, field) for row in own)]
    return {
        "title": pool.title,
        "columns": [column_of(field) for field in filled],
        "rows": [_cells(row, filled) for row in sorted(pool.rows, key=_place)],
        "apart": [_cells(row, filled) for row in sorted(pool.apart, key=_place)],
    }


def page_data(site: Site, views: Sequence[View]) -> dict[str, Any]:
    """Return what the page's script needs: by key, of which it reads the first one at once.

    Cells are text; 0 means an empty one, and columns without any cell are left out.
    """
    rows = [row for view in views for row in view.rows]
    columns = [name for name in COLUMNS if any(_needed(row, name) for row in rows)]
    known = [asdict(field) for field in fields(rows)]
    pools = [[_packed(pool, columns) for pool in view.pools] for view in views]
    board = {
        "columns": columns,
        "first": FIRST_MEASURE,
        "no_interval": dict(NO_INTERVAL),
        "fields": [{key: field[key] for key in field if key not in ABOUT} for field in known],
        "kinds": {words: kind.id for words, kind in kinds_of(rows).items()},
        "players": sorted({row["team"] for row in rows if has_page(row)}),
        "played": [each.name for each in site.played] if site.has_games else [],
        "paper": _paper(site),
        "views": [
            {key: getattr(view, key) for key in SAID_OF_VIEW}
            | ({"pools": pools[0]} if number == 0 else {})
            for number, view in enumerate(views)
        ],
    }
    return {
        "leaderboard": board,
        "leaderboard/about": {field["id"]: {key: field[key] for key in ABOUT} for field in known},
        **{f"leaderboard/{number}": own for number, own in enumerate(pools) if number},
    }


def _packed(pool: Pool, columns: Sequence[str]) -> dict[str, Any]:
    return {
        "title": pool.title,
        "rows": [_listed(row, columns) for row in pool.rows],
        "apart": [_listed(row, columns) for row in pool.apart],
    }


def _listed(row: Row, columns: Iterable[str]) -> list[str | int]:
    return [_needed(row, name) or 0 for name in columns]


def _needed(row: Row, name: str) -> str:
    """Return a cell, empty for ends of the range of scenarios that an interval makes idle."""
    of, _, end = name.rpartition("_")
    is_idle = end in {"least", "greatest"} and row[f"{of}_interval"] != FEW
    return "" if is_idle else row[name]


def _paper(site: Site) -> dict[str, Any]:
    """Return the paper's models with the measures that the paper prints, under their names."""
    rows = site.published.optional(PAPER)
    names = [each.name for each in MEASURES if each.name in HEADLINE]
    about = [MEASURE_BY_NAME[name] for name in names]
    return {
        "title": THEIRS.name,
        "kind": THEIRS.id,
        "sources": list(dict.fromkeys(row["note"] for row in rows)),
        "fields": [
            {
                "column": each.name,
                "title": _their_title(each),
                "unit": each.unit,
                "better": each.better,
            }
            for each in about
        ],
        "rows": [
            {
                "setting": row["setting"],
                "player": row["player"],
                "games": row["agent_games"],
                "cells": [row[name] for name in names],
            }
            for row in rows
        ],
    }


def _their_title(measure: Measure) -> str:
    """Return what a column of theirs is called: they measured privacy loss by reflections."""
    is_privacy = measure.group == "privacy"
    return f"{measure.title}, {VPS_FIELDS['reflection']}" if is_privacy else measure.title


def _place(row: Row) -> tuple[bool, Decimal]:
    """Return what rows are sorted by; those without the first measure come last."""
    return not row[FIRST_MEASURE], decimal(row[FIRST_MEASURE] or "0")


def cell(row: Row, field: Field) -> str:
    """Return a row's number of a field, empty if it has none or one measured in another way."""
    return "" if field.vps and row["vps_kind"] != field.vps else row[field.column]


def _cells(row: Row, shown: Sequence[Field]) -> dict[str, Any]:
    """Return a row with its cells by field, its rank in the first measure, and its page."""
    rank = {part: row[f"{FIRST_MEASURE}_{part}"] for part in RANK}
    cells = {field.id: cell(row, field) for field in shown}
    parts = {f"{each.name}_partly": partly(row, each.name) for each in MEASURES}
    return {**row, **rank, **cells, **parts, "has_page": has_page(row)}


def _published(site: Site) -> dict[str, Any]:
    """Return the paper's models with their columns and sources."""
    rows = site.published.optional(PAPER)
    notes = list(dict.fromkeys(row["note"] for row in rows))
    titles = {each.name: _their_title(each) for each in MEASURES}
    columns = [replace(each, title=titles[each.name]) for each in plain_measures(HEADLINE)]
    return {"name": PAPER, "rows": rows, "note": "; ".join(notes), "columns": columns}
