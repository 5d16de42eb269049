"""The page of ratings: players who met in mixed teams, and how sure their order is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from calbench.analysis.ratings.pools import RATINGS
from calbench.report.experiment import Experiment, percent
from calbench.report.games.game import kind_words
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row

POOLS: Mapping[str, str] = {
    "models": "Models and custom agents",
    "scripted": "Scripted speakers",
}
"""Pools of players as the page calls them; nobody is rated against another pool."""

TITLES: Mapping[str, str] = {
    "coordination": "Coordination",
    "shown_excess_cost": "Shown excess cost",
    "excess_cost": "Excess cost",
    "excess_vps": "Excess VPS",
}
"""Of the measures that are rated."""


def content(site: Site) -> Content:
    """Return the standings of every pool, and the order of players that are never rated."""
    return Content(
        {
            "pools": [
                _pool(each, pool, rows)
                for each in site.ranked
                for pool, rows in _by(each.tables.rows("ratings.csv"), "pool").items()
            ],
            "ratings": {each.name: TITLES[each.name] for each in RATINGS},
            "unrated": [
                (each.name, setting, [_with_kind(row) for row in rows])
                for each in site.ranked
                for setting, rows in _by(each.tables.rows("ratings_unrated.csv"), "setting").items()
            ],
        }
    )


def _by(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    """Return rows by a cell, in its order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def _pool(experiment: Experiment, pool: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the page shows of one pool of an experiment."""
    tables = experiment.tables
    return {
        "id": f"{experiment.name}-{pool}",
        "title": POOLS.get(pool, pool),
        "experiment": experiment.name,
        "confidence": percent(experiment.made_with.analysis.ratings.confidence),
        "is_rated": any(row["mmr"] for row in rows),
        "games": [row for row in rows if row["setting"] != "all"],
        "standings": [_standings(name, own) for name, own in _by(rows, "setting").items()],
        "met": tables.rows("ratings_pairs.csv", pool=pool),
        "margins": tables.rows("ratings_margins.csv", pool=pool),
    }


def _standings(setting: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the players of one setting, and what makes their order mean less than it seems to.

    Players of one name are distinguished by their settings.
    """
    named = Counter(row["player"] for row in rows)
    return {
        "setting": setting,
        "never_met": [
            (row["player"], row["never_met"].split()) for row in rows if row["never_met"]
        ],
        "is_parted": len({row["component"] for row in rows if row["mmr"]}) > 1,
        "alone": [row["player"] for row in rows if not row["mmr"]],
        "rows": [
            {
                **_with_kind(row),
                "digest": row["settings_digest"] if named[row["player"]] > 1 else "",
            }
            for row in rows
        ],
    }


def _with_kind(row: Row) -> dict[str, str]:
    return {**row, "kind": kind_words([row["kind"]])}
