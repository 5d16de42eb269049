"""The page that says where excess cost comes from, and when the optimum became unreachable."""

from collections.abc import Sequence
from typing import Any

from calbench.report.experiment import Experiment
from calbench.report.pages.page import Content
from calbench.report.site import REGRET, Site
from calbench.report.tables import Row, grouped

ROUNDS = "optimum_unreachable_by_round.csv"
GAMES = "regret_by_game.csv"

SOURCES = ("regret.csv", "optimum_unreachable.csv")
"""The tables of each experiment that those over all of them are made of."""

WORST = 3
"""Games of a team that the page names [C]."""


def content(site: Site) -> Content | None:
    """Return the experiments whose excess was split; no page without any."""
    found = [each for each in site.ranked if site.summary.optional(REGRET, experiment=each.name)]
    if not found:
        return None
    made = [name for name in (REGRET, ROUNDS, GAMES) if site.summary.has(name)]
    sources = [f"{each.name}/{name}" for each in found for name in SOURCES]
    return Content(
        {"experiments": [_shown(site, each) for each in found], "files": [*made, *sources]}
    )


def _shown(site: Site, experiment: Experiment) -> dict[str, Any]:
    """Return the rows of an experiment's three tables."""
    rounds = site.summary.optional(ROUNDS, experiment=experiment.name)
    return {
        "title": experiment.title,
        "confidence": experiment.confidence,
        "rounds": sorted({row["round"] for row in rounds}),
        "phases": rounds,
        "teams": site.summary.rows(REGRET, experiment=experiment.name),
        "worst": _worst(site, site.summary.optional(GAMES, experiment=experiment.name)),
    }


def _worst(site: Site, games: Sequence[Row]) -> list[Row]:
    """Return the games of every team that paid most above the optimum, linked to the browser."""
    costly = [
        game
        for game in games
        if (game["excess"] > 0 or game["event_index"] is not None)
        and site.links.has(game["experiment"], game["team"], game["scenario_id"])
    ]
    return [
        {
            **site.links.to_event(game),
            "game": site.links.address(game["experiment"], game["team"], game["scenario_id"]),
        }
        for own in grouped(costly, "setting", "team").values()
        for game in sorted(own, key=lambda game: (-game["excess"], game["scenario_id"]))[:WORST]
    ]
