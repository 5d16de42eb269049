"""The pages of ratings and of slices: players who met in mixed teams, and how sure that is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from calbench.report.columns import HEADLINE, decimal
from calbench.report.experiment import Experiment, confidence_of, percent
from calbench.report.games.files import kind_words
from calbench.report.pages.page import Content
from calbench.report.sentence import Sentence, cell, joined, names, said, text
from calbench.report.site import Site
from calbench.report.tables import Row

PARTS = {
    "coordination": "coordination",
    "adjusted_excess_cost": "adjusted excess cost",
    "excess_vps_per_meeting": "excess VPS per meeting",
}
"""The ratings of which MMR is the mean."""

REFERENCE = "reference"
"""Kind of the silent seat beside the players."""


def findings(rows: Sequence[Row], ratings: Sequence[Row]) -> list[Sentence]:
    """Return the player of the first rank in each setting, with the range of its rank.

    Args:
        rows: of ``ratings_further.csv``.
        ratings: of ``ratings.csv``, of the same experiment.
    """
    found: list[Sentence] = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting and row["rank"] == "1"]
        if own and all(row["rank_low"] for row in own):
            players = [row for row in ratings if row["setting"] == setting]
            found.append(
                said(
                    "{where}: {who} {have} the highest MMR{mean}{leads}.",
                    where="All settings together" if setting == "all" else setting.capitalize(),
                    who=_ranked(own),
                    have="has" if len(own) == 1 else "have",
                    mean=_mean() if not found else "",
                    leads=_leads(own[0], players) if len(own) == 1 else (),
                )
            )
    return found


def _mean() -> Sentence:
    """Return what MMR is, for the first sentence that names it."""
    parts = joined([text(words) for words in PARTS.values()])
    return said(", the mean of the ratings of {parts}", parts=parts)


def _ranked(rows: Sequence[Row]) -> Sentence:
    """Return players with the range of their rank: once, if they share it."""
    if len({(row["rank_low"], row["rank_high"]) for row in rows}) == 1:
        who = names(row["player"] for row in rows)
        return said("{who} ({rank})", who=who, rank=_range(rows[0]))
    return joined(
        [said("{who} ({rank})", who=names([row["player"]]), rank=_range(row)) for row in rows]
    )


def _range(row: Row) -> Sentence:
    low, high = row["rank_low"], row["rank_high"]
    if low == high:
        return said("rank {low}", low=cell(low))
    return said("rank {low} to {high}, so others may be as good", low=cell(low), high=cell(high))


def _leads(first: Row, ratings: Sequence[Row]) -> Sentence:
    """Return in which of the ratings the first is above all others; nothing if these are absent."""
    same = ("player", "settings_digest", "pool")
    own = [row for row in ratings if all(row.get(key) == first.get(key) for key in same)]
    others = [
        row
        for row in ratings
        if row not in own and row["kind"] != REFERENCE and row.get("pool") == first.get("pool")
    ]
    if len(own) != 1 or not others:
        return ()
    parts = [text(PARTS[name]) for name in PARTS if _is_above(own[0], others, name)]
    if len(parts) == len(PARTS):
        return text("; it leads alone in each of these ratings")
    if not parts:
        return text("; it leads alone in none of these ratings")
    return said("; it leads alone only in the rating of {parts}", parts=joined(parts))


def _is_above(row: Mapping[str, str], others: Sequence[Row], name: str) -> bool:
    column = f"{name}_ordinal"
    known = [decimal(each[column]) for each in others if each[column]]
    return bool(row[column] and known) and decimal(row[column]) > max(known)


POOLS: Mapping[str, str] = {
    "models": "Models and custom agents",
    "scripted": "Scripted speakers",
}
"""Pools of players as the page calls them; nobody is rated against another pool."""

RATING_TITLES: Mapping[str, str] = {
    "coordination": "Coordination",
    "adjusted_excess_cost": "Adjusted excess cost",
    "excess_vps_per_meeting": "Excess VPS per meeting",
    "shown_excess_cost": "Shown excess cost",
    "excess_cost": "Excess cost",
    "excess_vps": "Excess VPS",
}
"""Of the measures that are rated; the first three make the MMR that ranks."""


def content(site: Site) -> Content:
    """Return the standings of every pool, and the order of players that are never rated."""
    return Content(
        {
            "pools": [
                _pool(each, pool, rows)
                for each in (*site.ranked, *_cohorts(site))
                for pool, rows in _by(each.tables.rows("ratings.csv"), "pool").items()
            ],
            "ratings": RATING_TITLES,
            "unrated": [
                (each.name, setting, _named(rows))
                for each in site.ranked
                for setting, rows in _by(each.tables.rows("ratings_unrated.csv"), "setting").items()
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
            "found": [
                sentence
                for each in shown
                for sentence in findings(
                    each.tables.rows("ratings_further.csv"), each.tables.rows("ratings.csv")
                )
            ],
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
        "table1": _by([_with_kind(row) for row in tables.rows("table1.csv")], "setting"),
        "further": _by(further, "setting"),
        "ranks": _by(_named(tables.rows("ratings_further.csv")), "setting"),
        "proposals": _by(tables.rows("ratings_proposals.csv"), "setting"),
    }


def _by(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    """Return rows by a cell, in its order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def _pool(experiment: Experiment, pool: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the page shows of one pool of an experiment."""
    tables = experiment.tables
    players = [row for row in rows if row["kind"] != REFERENCE]
    return {
        "id": f"{experiment.name}-{pool}",
        "title": POOLS.get(pool, pool),
        "experiment": experiment.name,
        "confidence": percent(experiment.made_with.analysis.ratings.confidence),
        "is_rated": any(row["mmr"] for row in players),
        "games": [row for row in players if row["setting"] != "all"],
        "standings": {name: _named(own) for name, own in _by(rows, "setting").items()},
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


def _with_kind(row: Row) -> dict[str, str]:
    kind = row["kind"]
    return {**row, "kind": kind if kind == REFERENCE else kind_words([kind])}
