"""The page of one setting: every measure, how meetings ended, and what was disclosed."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from calbench.analysis.measures import BEYOND, MEASURES
from calbench.metrics.outcomes import OUTCOMES
from calbench.report.columns import losses
from calbench.report.experiment import Setting
from calbench.report.figures.plane import planes_of
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, wide

COST_MEASURES = frozenset(
    {"coordination", "excess_cost", "excess_cost_per_meeting", "adjusted_excess_cost"}
)
"""The measures of the first of the page's two tables."""


NAMED = 20
"""Excluded games of a team that the page names [C]."""


WARNING = " ⚠ many games excluded"

VPS_NOTES = {
    "reflection": "by the reflections of those it spoke to",
    "expected": "by the expected values of the reflections of those it spoke to",
    "mixed": "in several ways: typed messages, reflections or their expected values",
    "": "not at all: nobody was asked to reflect, or too few answers could be read",
}
"""How a team's VPS was measured, where it was not by typed messages alone."""


def pages(site: Site) -> Iterator[tuple[str, str, Callable[[], Content]]]:
    """Yield the page of every setting."""
    for each in site.settings:
        yield each.slug, each.title, partial(content, site, each)


def content(site: Site, setting: Setting) -> Content:
    """Return what the page of a setting shows."""
    planes = planes_of(site, setting)
    revealing = site.summary.optional(
        "revealing_messages.csv", experiment=setting.experiment.name, setting=setting.name
    )
    beyond = {BEYOND} - {*losses(setting.counted)}
    shown = [each.name for each in MEASURES if each.name not in beyond]
    return Content(
        {
            "setting": setting,
            "leaderboard": site.with_kinds(setting.counted),
            "cost_measures": [each.name for each in MEASURES if each.name in COST_MEASURES],
            "other_measures": [name for name in shown if name not in COST_MEASURES],
            "vps_notes": _vps_notes(setting),
            "definitions": [each for each in MEASURES if each.name in shown],
            "outcomes": _outcomes(site, setting),
            "outcome_names": OUTCOMES,
            "excluded": _excluded(site, setting),
            "sensitivity": site.with_kinds(setting.rows("sensitivity.csv")),
            "shares": site.with_kinds(setting.rows("vps_shares.csv")),
            "priors": site.with_kinds(wide(_priors(setting), ["team"], "prior", "excess_vps")),
            "orders": _orders(setting),
            "prior_names": list(dict.fromkeys(str(row["prior"]) for row in _priors(setting))),
            "revealing": site.with_kinds(map(site.links.to_event, revealing)),
            "planes": planes,
            "tables": setting.experiment.tables.names,
        },
        figures=planes,
    )


def _vps_notes(setting: Setting) -> dict[str, list[str]]:
    """Return the teams whose VPS was not measured by typed messages alone, by how it was."""
    teams: dict[str, list[str]] = {}
    for row in setting.leaderboard:
        if row["games"]:
            teams.setdefault(row["vps_kind"], []).append(row["team"])
    return {note: teams[kind] for kind, note in VPS_NOTES.items() if kind in teams}


def _priors(setting: Setting) -> list[Row]:
    """Return the VPS of typed teams under several priors; runs without messages have none."""
    tables = setting.experiment.tables
    return tables.optional("privacy/prior_sensitivity.csv", setting=setting.name)


def _orders(setting: Setting) -> list[Row]:
    """Return a row for each prior: how far it keeps the order of teams."""
    return list({row["prior"]: row for row in _priors(setting)}.values())


def _outcomes(site: Site, setting: Setting) -> list[Row]:
    """Return how meetings ended; teams of which many games are excluded carry a warning."""
    rows = site.with_kinds(setting.rows("outcomes.csv"))
    return [{**row, "warning": WARNING if row["is_flagged"] else ""} for row in rows]


def _excluded(site: Site, setting: Setting) -> list[dict[str, Any]]:
    """Return the teams of which games are excluded, with the first of these games."""
    games: dict[str, list[tuple[str, str]]] = {}
    for row in setting.rows("games.csv", is_excluded=True):
        address = site.links.address(setting.experiment.name, row["team"], row["scenario_id"])
        games.setdefault(row["team"], []).append((row["scenario_id"], address))
    return [
        {**row, "mark": row["warning"].strip(), "warning": "", "games": _named(games[row["team"]])}
        for row in _outcomes(site, setting)
        if row["games_excluded"]
    ]


def _named(games: list[tuple[str, str]]) -> list[tuple[str, str]]:
    rest = [("more, in games.csv", "")] if len(games) > NAMED else []
    return games[:NAMED] + rest
