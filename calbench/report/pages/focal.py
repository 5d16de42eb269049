"""The page of one assistant: what a player did in one seat, beside another in the same seat."""

from collections.abc import Iterator, Mapping
from typing import Any

from calbench.analysis.tables.focal import FOCAL
from calbench.analysis.verdicts import DIFFERENT
from calbench.report.experiment import Experiment, confidence_of, level_of
from calbench.report.pages.board.comparisons import would_be_found
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

EFFECTS, GAMES = "focal_effects.csv", "focal_games.csv"

OVERVIEW = ("adjusted_excess_cost", "coordination", "bits", "labels_told", "bits_learnt",
            "others_adjusted_excess_cost")  # fmt: skip
"""Measures of the table over all players, from the user's cost to that of the others."""

NAMED = 3
"""Games of a pair that the page names [C]."""


def content(site: Site) -> Content | None:
    """Return what players did in one seat, of every experiment with teams that differ in one.

    No page if there is none.
    """
    shown = [each for each in site.experiments if each.tables.optional(EFFECTS)]
    if not shown:
        return None
    return Content(
        {
            "experiments": [_shown(site, each) for each in shown],
            "overview": {name: FOCAL[name].title for name in OVERVIEW},
            "confidence": confidence_of(shown),
            "level": level_of(shown),
            "files": [f"{each.name}/{name}" for each in shown for name in (EFFECTS, GAMES)],
        }
    )


def _shown(site: Site, experiment: Experiment) -> dict[str, Any]:
    """Return the players of an experiment beside the first player of their seat."""
    pairs = list(_pairs(site, experiment))
    return {
        "title": experiment.title,
        "name": experiment.name,
        "pairs": pairs,
        "rows": [_overview(pair["rows"]) for pair in pairs],
    }


def _pairs(site: Site, experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Yield each team beside the first one that differs from it in one seat."""
    games = grouped(experiment.tables.optional(GAMES), "setting", "team", "base")
    seen = set()
    for (setting, team, base), rows in grouped(
        experiment.tables.rows(EFFECTS), "setting", "team", "base"
    ).items():
        if (setting, team) not in seen:
            seen.add((setting, team))
            own = games.get((setting, team, base), [])
            yield {
                "team": team,
                "base": base,
                "player": rows[0]["player"],
                "base_player": rows[0]["base_player"],
                "rows": [_said(row) for row in rows],
                "games": [_linked(site, experiment, row) for row in _deciding(own)],
            }


def _said(row: Row) -> Row:
    remark = f", {row['remark']}" if row["remark"] else ""
    return {
        **row,
        "named": FOCAL[row["measure"]].title,
        "said": f"{row['verdict']}{remark}{would_be_found(row)}",
    }


def _overview(rows: list[Row]) -> Row:
    """Return a pair's row of the table over all players: differences, and which are shown."""
    different = [row["named"].lower() for row in rows if row["verdict"] == DIFFERENT]
    return {
        **{name: rows[0][name] for name in ("setting", "player", "base_player", "scenarios")},
        **{row["measure"]: row["difference"] for row in rows},
        "shown": ", ".join(different) or "nothing",
    }


def _deciding(games: list[Row]) -> list[Row]:
    """Return the games that differ most in what the user paid, then in what was told."""

    def size(row: Row) -> tuple[float, ...]:
        gaps = (_gap(row, name) for name in ("adjusted_excess_cost", "labels_told", "bits"))
        return tuple(-abs(gap) for gap in gaps)

    return sorted(games, key=lambda row: (*size(row), row["scenario_id"]))[:NAMED]


def _gap(row: Mapping[str, Any], name: str) -> float:
    one, other = row[name], row[f"{name}_without"]
    return 0.0 if one is None or other is None else float(one - other)


def _linked(site: Site, experiment: Experiment, row: Row) -> Row:
    """Return a game with links to both teams' games, where the trace browser has them."""
    games = [
        (team, address)
        for team in (row["base"], row["team"])
        if (address := site.links.address(experiment.name, team, row["scenario_id"]))
    ]
    return {**row, "games": games}
