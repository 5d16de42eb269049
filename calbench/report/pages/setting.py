"""The page of one setting: every measure, how meetings ended, and where privacy was lost."""

from typing import Any

from calbench.analysis.measures import MEASURES
from calbench.metrics.outcomes import OUTCOMES
from calbench.report.columns import anchor
from calbench.report.figures.plane import plane_of
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import Site
from calbench.report.tables import Row

COST_MEASURES = frozenset(
    {"coordination", "excess_cost", "excess_cost_per_meeting", "adjusted_excess_cost"}
)
"""The measures of the first of the page's two tables."""

NAMED = 20
"""Excluded games of a team that the page names [C]."""

WARNING = " ⚠ many games excluded"

VPS_NOTES = {
    "reflection": "by the reflections of those it spoke to",
    "mixed": "in its typed seats by their messages, in the others by reflections",
    "": "not at all: nobody was asked to reflect, or no answer could be read",
}
"""How a team's VPS was measured, where it was not by typed messages alone."""


def content(site: Site, setting: Setting) -> Content:
    """Return what the page of a setting shows."""
    plane = plane_of(site, setting)
    revealing = site.summary.optional(
        "revealing_messages.csv", experiment=setting.experiment.name, setting=setting.name
    )
    return Content(
        {
            "setting": setting,
            "counts": {name: _numbers(setting, name) for name in ("scenarios", "games")},
            "leaderboard": [with_counts(setting, row) for row in with_kinds(site, setting)],
            "cost_measures": [each.name for each in MEASURES if each.name in COST_MEASURES],
            "other_measures": [each.name for each in MEASURES if each.name not in COST_MEASURES],
            "vps_notes": _vps_notes(setting),
            "definitions": [_definition(each) for each in MEASURES],
            "outcomes": _outcomes(site, setting),
            "outcome_names": OUTCOMES,
            "excluded": _excluded(site, setting),
            "sensitivity": [_kind(site, row) for row in setting.rows("sensitivity.csv")],
            "shares": [_share(site, row) for row in setting.rows("vps_shares.csv")],
            "revealing": [_revealing(site, row) for row in revealing],
            "plane": plane,
            "tables": setting.experiment.tables.names,
        },
        figures=[plane],
    )


def _kind(site: Site, row: Row) -> dict[str, str]:
    """Return a row with the kind of its team."""
    return {**row, "kind": site.kind_by_team.get(row["team"], "")}


def with_kinds(site: Site, setting: Setting) -> list[dict[str, str]]:
    """Return a setting's leaderboard with the kinds of its teams."""
    return [_kind(site, row) for row in setting.leaderboard]


def with_counts(setting: Setting, row: Row) -> dict[str, str]:
    """Return a row of the leaderboard with the number of agent-games of every measure."""
    counts = {
        f"{each.name}_n": setting.agent_games.get((row["team"], each.name), "") for each in MEASURES
    }
    return {**row, **counts}


def _numbers(setting: Setting, name: str) -> list[str]:
    return sorted({row[name] for row in setting.leaderboard}, key=int)


def _vps_notes(setting: Setting) -> dict[str, list[str]]:
    """Return the teams whose VPS was not measured by typed messages alone, by how it was."""
    teams: dict[str, list[str]] = {}
    for row in setting.leaderboard:
        if row["games"] != "0":
            teams.setdefault(row["vps_kind"], []).append(row["team"])
    return {note: teams[kind] for kind, note in VPS_NOTES.items() if kind in teams}


def _definition(measure: Any) -> dict[str, str]:
    return {
        "title": measure.title,
        "address": f"method.html#{anchor(measure.name)}",
        "definition": measure.definition,
        "denominator": measure.denominator,
        "origin": f"[{measure.origin}]",
    }


def _outcomes(site: Site, setting: Setting) -> list[dict[str, str]]:
    """Return how meetings ended; teams of which many games are excluded carry a warning."""
    return [
        {**_kind(site, row), "warning": WARNING if row["is_flagged"] == "true" else ""}
        for row in setting.rows("outcomes.csv")
    ]


def _excluded(site: Site, setting: Setting) -> list[dict[str, Any]]:
    """Return the teams of which games are excluded, with the first of these games."""
    games: dict[str, list[tuple[str, str]]] = {}
    for row in setting.rows("games.csv", is_excluded="true"):
        address = site.links.address(setting.experiment.name, row["team"], row["scenario_id"])
        games.setdefault(row["team"], []).append((row["scenario_id"], address))
    return [
        {
            **_kind(site, row),
            "mark": WARNING.strip() if row["is_flagged"] == "true" else "",
            "games": _named(games.get(row["team"], [])),
        }
        for row in setting.rows("outcomes.csv")
        if row["games_excluded"] != "0"
    ]


def _named(games: list[tuple[str, str]]) -> list[tuple[str, str]]:
    rest = [("more, in games.csv", "")] if len(games) > NAMED else []
    return games[:NAMED] + rest


def _share(site: Site, row: Row) -> dict[str, str]:
    words = {name: row[name].replace("_", " ") for name in ("source", "channel")}
    return {**_kind(site, row), **words}


def _revealing(site: Site, row: Row) -> dict[str, str]:
    place = (row["experiment"], row["team"], row["scenario_id"], row["event_index"])
    return {
        **_kind(site, row),
        "source": row["source"].replace("_", " "),
        "game": f"{row['scenario_id']}, event {row['event_index']}",
        "address": site.links.address(*place),
    }
