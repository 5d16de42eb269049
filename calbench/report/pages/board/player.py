"""The page of a team: who it is, its numbers, its games, its leaks, its regret and its cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from calbench.analysis.measures import BEYOND, MEASURES
from calbench.report.columns import largest_of, losses
from calbench.report.experiment import Experiment
from calbench.report.kind import KINDS
from calbench.report.pages.board.leaderboard import FIRST_MEASURE, partly
from calbench.report.pages.board.views import VPS_FIELDS, Pool, View, Who, has_page, views_of, who
from calbench.report.pages.page import Content
from calbench.report.panels import Group, Panel, panels_by_group
from calbench.report.site import FRONT, LEAKING, REGRET, Site
from calbench.report.tables import Row
from calbench.scenarios.labels import TIERS

PARTS = {
    "slot_choice": "choice of slots",
    "avoidable_moves": "avoidable moves",
    "failed_rounds": "failed rounds",
}
"""Of excess cost (regret_by_team.csv)."""


MOST_PLANES = 4
"""Pictures on a page, those of the first views [C]."""

MOST_MESSAGES = 3
"""Revealing messages of a view that the page names [C]."""


@dataclass(frozen=True)
class Appearance:
    """A team in one view of the leaderboard."""

    view: View
    pool: Pool
    row: Row
    experiment: Experiment

    @property
    def title(self) -> str:
        """Setting and channel."""
        return f"{self.row['setting']}, {self.row['channel']}"

    @property
    def place(self) -> dict[str, str]:
        """What names it in tables over several experiments."""
        return {name: self.row[name] for name in ("experiment", "setting", "team")}


def teams_of(site: Site) -> dict[str, list[Appearance]]:
    """Return the teams that have a page with the views they are in, in the leaderboard's order."""
    by_name = {each.name: each for each in site.ranked}
    found: dict[str, list[Appearance]] = {}
    for view in views_of(site):
        for pool in view.pools:
            for row in (*pool.rows, *pool.apart):
                if has_page(row) and row["experiment"] in by_name:
                    seen = Appearance(view, pool, row, by_name[row["experiment"]])
                    found.setdefault(row["team"], []).append(seen)
    return found


def index(site: Site) -> Content | None:
    """Return all teams that have a page, by kind; no page without any."""
    teams = [_who(site, shown) for shown in teams_of(site).values()]
    by_kind = {kind: [each for each in teams if each.kind == kind] for kind in KINDS}
    return Content({"by_kind": {k: v for k, v in by_kind.items() if v}}) if teams else None


def pages(site: Site) -> Iterator[tuple[str, str, Callable[[], Content]]]:
    """Yield the page of every team that has one."""
    panels = panels_by_group(site)
    for team, shown in teams_of(site).items():
        yield team, team, partial(content, site, shown, panels)


def content(site: Site, shown: Sequence[Appearance], panels: Mapping[Group, Panel]) -> Content:
    """Return what the page of a team shows, with the panels of the plane that it is on."""
    about, seen = _who(site, shown), [_seen(site, each, panels) for each in shown]
    beyond = {BEYOND} - {*losses(each.row for each in shown)}
    return Content(
        {
            "who": about,
            "seen": seen,
            "planes": [each for each in seen if each["panel"]][:MOST_PLANES],
            "ways": VPS_FIELDS,
            "measures": [each for each in MEASURES if each.name not in beyond],
            "games": [row for each in shown for row in _games(site, each)],
            "leaks": [row for each in shown if (row := _leaks(each))],
            "messages": [row for each in shown for row in _messages(site, each)],
            "regret": [row for each in shown for row in _regret(site, each)],
            "used": [
                {**each.row, "where": each.title} for each in shown if each.row["calls"] is not None
            ],
            "files": _files(site, shown),
        }
    )


def _who(site: Site, shown: Sequence[Appearance]) -> Who:
    return who(site, shown[0].row["team"], shown[0].experiment)


def _seen(site: Site, each: Appearance, panels: Mapping[Group, Panel]) -> dict[str, Any]:
    """Return one view: the row, its place in the plane, and links to more."""
    row = each.row
    named = {"setting": row["setting"], "channel": row["channel"], "find": row["team"]}
    compared = {**each.place, "measure": FIRST_MEASURE}
    games = {"e": row["experiment"], "t": row["team"], "s": row["setting"]}
    is_played = site.has_games and each.experiment in site.played
    panel = panels.get((row["setting"], row["channel"], row["vps_kind"]))
    return {
        "title": each.title,
        "row": row,
        "is_apart": each.row in each.pool.apart,
        "confidence": each.view.confidence,
        "panel": panel if panel and _is_placed(panel, row["team"]) else None,
        "front": _front(site, row),
        "partly": {each.name: partly(row, each.name) for each in MEASURES},
        "board": f"leaderboard.html#{urlencode(named)}",
        "compared": f"results/comparisons.html#{urlencode(compared)}",
        "browsed": f"traces.html#find?{urlencode(games, quote_via=quote)}" if is_played else "",
    }


def _is_placed(panel: Panel, team: str) -> bool:
    """Return whether a panel has a team's place among others: alone it would say nothing."""
    return len(panel.rows) > 1 and any(row["team"] == team for row in panel.rows)


def _front(site: Site, row: Row) -> Row | None:
    """Return its row of the Pareto front; none if it competes with nobody there."""
    where = {name: row[name] for name in ("setting", "channel", "vps_kind")}
    rows = [
        each for each in site.summary.optional(FRONT, **where) if each["is_on_front"] is not None
    ]
    own = [r for r in rows if (r["experiment"], r["team"]) == (row["experiment"], row["team"])]
    return own[0] if own and len(rows) > 1 else None


def _games(site: Site, each: Appearance) -> list[Row]:
    """Return its best, typical and worst game, linked if the trace browser has them."""
    rows = site.summary.optional("typical_games.csv", **each.place)
    return [
        {**row, "where": each.title, "address": _address(site, row)}
        for row in rows
        if row["channel"] == each.row["channel"]
    ]


def _address(site: Site, row: Row) -> str:
    return site.links.address(row["experiment"], row["team"], row["scenario_id"])


def _leaks(each: Appearance) -> Row | None:
    """Return a row of labels told, by tier; none where nobody speaks in words."""
    place = {"setting": each.row["setting"], "team": each.row["team"]}
    rows = each.experiment.tables.optional("audit_leaks.csv", player="", **place)
    by_tier = {row["tier"]: row for row in rows}
    if "all" not in by_tier:
        return None
    told: Row = {tier: by_tier.get(tier, {}).get("labels_told") for tier in TIERS}
    return {**by_tier["all"], **told, "where": each.title}


def _messages(site: Site, each: Appearance) -> list[Row]:
    """Return the messages that told most: labels, sensitive ones first, or calendars."""
    told = site.browsed(LEAKING, **each.place)
    told.sort(key=lambda row: (-(row["sensitive"] or 0), -(row["labels_told"] or 0)))
    shown = told or site.summary.optional("revealing_messages.csv", **each.place)
    return [
        {**dict.fromkeys(("toward", "vps", "labels_told", "sensitive")), "words": ""}
        | {**site.links.to_event(row), "where": each.title}
        for row in shown[:MOST_MESSAGES]
    ]


def _regret(site: Site, each: Appearance) -> list[Row]:
    rows = site.summary.optional(REGRET, **each.place)
    return [{**row, "where": each.title, "largest": largest(row)} for row in rows]


def largest(row: Row) -> str:
    """Return which parts of excess cost are the largest, in words; none above 0: nothing."""
    return " and ".join(PARTS[name] for name in largest_of(row, PARTS)) or "nothing"


def _files(site: Site, shown: Sequence[Appearance]) -> list[str]:
    """Return the tables that have its rows."""
    names = ("leaderboard.csv", "typical_games.csv", REGRET, FRONT)
    own = dict.fromkeys(each.experiment.name for each in shown)
    return [
        *(name for name in names if site.summary.has(name)),
        *(f"{name}/comparisons.csv" for name in own),
    ]
