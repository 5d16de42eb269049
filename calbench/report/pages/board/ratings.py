"""The pages of ratings and of slices: players who met in mixed teams, and how sure that is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from calbench.analysis.measures import HEADLINE
from calbench.report.experiment import Experiment, confidence_of, percent
from calbench.report.games.files import kind_words
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

REFERENCE = "reference"
"""Kind of the silent seat beside the players."""


POOLS: Mapping[str, str] = {"models": "Models and custom agents", "scripted": "Scripted speakers"}
"""Pools of players as the page calls them; nobody is rated against another pool."""

RATING_TITLES: Mapping[str, str] = {
    "coordination": "Coordination",
    "adjusted_excess_cost": "Adjusted excess cost",
    "vps_per_meeting": "VPS per meeting",
    "shown_excess_cost": "Shown excess cost",
    "excess_cost": "Excess cost",
    "excess_vps": "Excess VPS, the paper's",
}
"""Of the measures that are rated; the first three make the MMR that ranks."""


def content(site: Site) -> Content:
    """Return the standings of every pool, and the order of players that are never rated."""
    return Content(
        {
            "pools": [
                _pool(each, pool, rows)
                for each in (*site.ranked, *_cohorts(site))
                for pool, rows in grouped(each.tables.rows("ratings.csv"), "pool").items()
            ],
            "ratings": RATING_TITLES,
            "unrated": [
                (each.name, setting, _named(rows))
                for each in site.ranked
                for setting, rows in grouped(
                    each.tables.rows("ratings_unrated.csv"), "setting"
                ).items()
            ],
        }
    )


SLICES = "slices"
"""Page of a cohort of players in several mixed teams."""

SLICE_TABLES = (
    "table1.csv",
    "further_slices.csv",
    "ratings_further.csv",
    "ratings_proposals.csv",
    "players.csv",
    "leaderboard.csv",
    "ratings.csv",
    "ratings_pairs.csv",
)
"""The tables behind the page of slices."""


def slices(site: Site) -> Content | None:
    """Return Table 1 of each cohort, and what a further slice or more scenarios would tell."""
    shown = site.on(SLICES)
    if not shown:
        return None
    return Content(
        {
            "cohorts": [_cohort(each) for each in shown],
            "confidence": confidence_of(shown),
            "files": [f"{each.name}/{name}" for each in shown for name in SLICE_TABLES],
        }
    )


def _cohorts(site: Site) -> Sequence[Experiment]:
    """Return the cohorts whose teams are ranked with nobody, but whose players are rated."""
    return [each for each in site.on(SLICES) if not each.role.is_ranked]


def _cohort(experiment: Experiment) -> dict[str, Any]:
    """Return what the page of slices shows of one cohort."""
    tables = experiment.tables
    further = [row for row in tables.rows("further_slices.csv") if row["measure"] in HEADLINE]
    return {
        "experiment": experiment,
        "teams": tables.rows("leaderboard.csv"),
        "table1": grouped([_with_kind(row) for row in tables.rows("table1.csv")], "setting"),
        "further": grouped(further, "setting"),
        "ranks": grouped(_named(tables.rows("ratings_further.csv")), "setting"),
        "proposals": grouped(tables.rows("ratings_proposals.csv"), "setting"),
    }


def _pool(experiment: Experiment, pool: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the page shows of one pool of an experiment."""
    tables = experiment.tables
    players = [row for row in rows if row["kind"] != REFERENCE]
    return {
        "id": f"{experiment.name}-{pool}",
        "title": POOLS.get(pool, pool),
        "experiment": experiment.name,
        "confidence": percent(experiment.made_with.analysis.ratings.confidence),
        "is_rated": any(row["mmr"] is not None for row in players),
        "games": [row for row in players if row["setting"] != "all"],
        "standings": {name: _named(own) for name, own in grouped(rows, "setting").items()},
        "met": tables.rows("ratings_pairs.csv", pool=pool),
        "margins": tables.rows("ratings_margins.csv", pool=pool),
    }


def _named(rows: Sequence[Row]) -> list[Row]:
    """Return players with what distinguishes those of one name: their settings."""
    count = Counter(row["player"] for row in rows)
    return [
        {**_with_kind(row), "digest": row["settings_digest"] if count[row["player"]] > 1 else ""}
        for row in rows
    ]


def _with_kind(row: Row) -> dict[str, Any]:
    kind = row["kind"]
    return {**row, "kind": kind if kind == REFERENCE else kind_words([kind])}
