"""The leaderboard's page: a table that reads without scripts, and the data of the one that sorts.

Numbers are those of ``leaderboard.csv`` of the tables over several experiments, as it writes them;
the page's script rounds them for the eye.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from calbench.analysis.measures import (
    BEYOND,
    HEADLINE,
    MEASURES,
    MIXED,
    REFLECTED,
    Measure,
    privacy_measure,
)
from calbench.analysis.summary import SUMMARY
from calbench.analysis.summary.table2 import HALVES
from calbench.analysis.tables import TABLES
from calbench.analysis.tables.standings import USAGE_COLUMNS
from calbench.domain.rules import RULES_VERSION
from calbench.report.columns import (
    COST,
    MEASURE_BY_NAME,
    NO_INTERVAL,
    VPS,
    Column,
    anchor,
    direction,
    is_known,
    number,
    plain_measures,
)
from calbench.report.kind import PUBLISHED as THEIRS
from calbench.report.pages.board.views import VPS_FIELDS, Pool, View, has_page, kinds_of, views_of
from calbench.report.pages.page import Content
from calbench.report.panels import on_tasks
from calbench.report.site import PAPER, Site
from calbench.report.tables import Row, cell_of, ordered

PRICE_PER_GAME = USAGE_COLUMNS[-1].name
"""Column of the price of a game."""

FIRST_MEASURE = COST
"""What the table is sorted by at first [C]: of all measures of cost it alone counts failures."""

LEADING = (FIRST_MEASURE, BEYOND, VPS)
"""Measures in the first columns [C]: a phone shows no more of them."""

SHOWN = (FIRST_MEASURE, "bits", "coordination", "messages", "fairness", PRICE_PER_GAME)
"""Columns that are there before anybody chooses, beside the privacy of each instrument."""

RATIO = "cost_ratio"
"""The ratio of realised to optimal cost, of all games together."""

COUNTED: Mapping[str, tuple[str, str]] = {
    RATIO: ("leaderboard.csv", "Realised to optimal cost"),
    "scenarios": ("leaderboard.csv", "Scenarios"),
    "games": ("leaderboard.csv", "Games"),
    "games_excluded": ("outcomes.csv", "Games excluded"),
    PRICE_PER_GAME: ("usage.csv", "US$ per game"),
    "calls": ("usage.csv", "Calls"),
    "input_tokens": ("usage.csv", "Tokens in"),
    "cached_tokens": ("usage.csv", "of these cached"),
    "output_tokens": ("usage.csv", "Tokens out"),
    "price_usd": ("usage.csv", "US$"),
}
"""Table and title of columns that are no measures."""

LINKED = ("comparisons.csv", *dict.fromkeys(table for table, _ in COUNTED.values()))
"""Tables of an experiment that the explanations of columns and ranks link."""

Field = Mapping[str, Any]
"""A column that can be shown, as the page's script reads it.

``id`` is its name in addresses and downloads, ``column`` that in ``leaderboard.csv``, ``table``
where its cells come from, ``shown`` whether it is there before anybody chooses, ``vps`` the only
way of measuring whose cells it has, ``interval`` whether its estimates have one.
"""


def fields(rows: Sequence[Row]) -> list[Field]:
    """Return every column that some rows can fill, what the table is sorted by at first."""
    measured = {row["vps_kind"] for row in rows}
    kinds = [kind for kind in VPS_FIELDS if kind in measured and kind != MIXED]
    is_asked = any(row["calls"] is not None for row in rows)
    by_place = sorted(MEASURES, key=lambda m: [*LEADING, m.name].index(m.name))
    return [
        *(
            _measure(measure, kind)
            for measure in by_place
            for kind in (kinds if measure.group == "privacy" else [""])
            if measure.name != BEYOND or kind in REFLECTED
        ),
        *(
            _counted(name, title, table)
            for name, (table, title) in COUNTED.items()
            if is_asked or table != "usage.csv"
        ),
    ]


def _measure(measure: Measure, kind: str) -> Field:
    is_paper = kind in REFLECTED and measure.name != BEYOND
    titled = f"{measure.title}, the paper's form" if is_paper else measure.title
    return {
        "id": f"{measure.name}.{kind}" if kind else measure.name,
        "column": measure.name,
        "title": f"{titled}, {VPS_FIELDS[kind]}" if kind else titled,
        "unit": measure.unit,
        "shown": measure.name in (SHOWN if not kind else {privacy_measure(kind)}),
        "digits": measure.digits,
        "better": measure.better,
        "vps": kind,
        "interval": True,
        "definition": f"mean of: {measure.definition}",
        "denominator": measure.denominator,
        "origin": measure.origin,
        "table": "leaderboard.csv",
        "link": f"method.html#{'reflection' if is_paper else anchor(measure.name)}",
    }


def _counted(name: str, title: str, table: str) -> Field:
    column = next(column for column in TABLES[table].columns if column.name == name)
    return {
        "id": name,
        "column": name,
        "title": title,
        "unit": column.unit,
        "shown": name in SHOWN,
        "digits": 2 if column.kind == "number" else None,
        "better": "lower" if name == RATIO else "",
        "vps": "",
        "interval": False,
        "definition": column.meaning,
        "denominator": column.denominator,
        "origin": column.origin,
        "table": table,
        "link": f"data.html#{table.removesuffix('.csv')}",
    }


def column_of(field: Field) -> Column:
    """Return the column of a table on the page."""
    name = field["column"] if field["interval"] else ""
    return number(
        field["id"],
        field["title"],
        field["digits"],
        units=(field["unit"], direction(field["better"])),
        link=field["link"],
        low=f"{name}_low",
        high=f"{name}_high",
        estimate=name,
        n=f"{name}_partly",
    )


def partly(row: Row, name: str) -> str:
    """Return of how many of its games' seats a measure is, in words; empty if it is of all.

    Others do not count, or their privacy loss was measured in another way.
    """
    counts = [row[f"{each.name}_n"] for each in MEASURES]
    own, seats = row[f"{name}_n"], max((n for n in counts if n is not None), default=None)
    return f"{own} of {seats} seats" if own and own != seats else ""


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
    filled = [each for each in fields(rows) if any(is_known(cell(row, each)) for row in rows)]
    shown = [field for field in filled if field["shown"]]
    return Content(
        {
            "view": views[0] if views else None,
            "pools": [_pool(pool, shown) for pool in (views[0].pools if views else ())],
            "kind_by_words": kinds_of(rows),
            "versions": versions(site),
            "published": _published(site),
            "same": [panel for half in HALVES for panel in on_tasks(site, half)],
        },
        data=page_data(site, views),
        tables=[f"{each.name}/{name}" for each in site.ranked for name in LINKED],
    )


def _pool(pool: Pool, shown: Sequence[Field]) -> dict[str, Any]:
    """Return the table of one pool: columns that somebody fills, and rows as they are sorted."""
    own = (*pool.rows, *pool.apart)
    filled = [field for field in shown if any(is_known(cell(row, field)) for row in own)]
    return {
        "title": pool.title,
        "columns": [column_of(field) for field in filled],
        "rows": [_cells(row, filled) for row in ordered(pool.rows, FIRST_MEASURE)],
        "apart": [_cells(row, filled) for row in ordered(pool.apart, FIRST_MEASURE)],
    }


def page_data(site: Site, views: Sequence[View]) -> dict[str, Any]:
    """Return what the page's script needs: by key, of which it reads the first one at once.

    Cells are text; 0 means an empty one, and columns without any cell are left out.
    """
    rows = [row for view in views for row in view.rows]
    columns = [name for name in COLUMNS if any(_needed(row, name) for row in rows)]
    known = fields(rows)
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
    return "" if is_idle else cell_of(row[name])


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
                "games": cell_of(row["agent_games"]),
                "cells": [cell_of(row[name]) for name in names],
            }
            for row in rows
        ],
    }


def _their_title(measure: Measure) -> str:
    """Return what a column of theirs is called: they measured privacy loss by reflections."""
    is_privacy = measure.group == "privacy"
    return f"{measure.title}, {VPS_FIELDS['reflection']}" if is_privacy else measure.title


def cell(row: Row, field: Field) -> Any:
    """Return a row's number of a field; ``None`` if it has none or one measured in another way."""
    return None if field["vps"] and row["vps_kind"] != field["vps"] else row[field["column"]]


def _cells(row: Row, shown: Sequence[Field]) -> dict[str, Any]:
    """Return a row with its cells by field, its rank in the first measure, and its page."""
    rank = {part: row[f"{FIRST_MEASURE}_{part}"] for part in RANK}
    cells = {field["id"]: cell(row, field) for field in shown}
    parts = {f"{each.name}_partly": partly(row, each.name) for each in MEASURES}
    return {**row, **rank, **cells, **parts, "has_page": has_page(row)}


def _published(site: Site) -> dict[str, Any]:
    """Return the paper's models with their columns and sources."""
    rows = site.published.optional(PAPER)
    notes = list(dict.fromkeys(row["note"] for row in rows))
    titles = {each.name: _their_title(each) for each in MEASURES}
    columns = [replace(each, title=titles[each.name]) for each in plain_measures(HEADLINE)]
    return {"name": PAPER, "rows": rows, "note": "; ".join(notes), "columns": columns}


def versions(site: Site) -> dict[str, str]:
    """Return the versions of the metrics of the rows, and of the rules of play."""
    tables = [each.tables.optional("standings.csv") for each in site.ranked]
    metrics = dict.fromkeys(str(row["metrics_version"]) for rows in tables for row in rows)
    return {"metrics": " and ".join(metrics), "rules": str(RULES_VERSION)}
