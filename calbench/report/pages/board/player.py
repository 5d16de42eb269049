"""The page of a team: who it is, its numbers, its games, its leaks, its regret and its cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Any
from urllib.parse import quote, urlencode

from calbench.analysis.measures import MEASURES, MIXED
from calbench.report.columns import VPS, decimal, largest_of
from calbench.report.experiment import Experiment
from calbench.report.kind import KINDS, kind_of
from calbench.report.pages.board.fields import FIRST_MEASURE, VPS_FIELDS, partly
from calbench.report.pages.board.pools import Pool, View, views_of
from calbench.report.pages.board.who import Who, has_page, who
from calbench.report.pages.page import Content
from calbench.report.site import FRONT, REGRET, Site
from calbench.report.tables import Row

WIDTH, HEIGHT, MARGIN = 260, 170, 26
"""Of the picture, in its own units [C]."""


@dataclass(frozen=True)
class Mark:
    """A team in the picture: its place, its kind, and whether it is the one of the page."""

    team: str
    kind: str
    x: int
    y: int
    is_own: bool


def marks(rows: Sequence[Row], own: Row) -> list[Mark]:
    """Return the marks of a pool, that of the page's team last; none without its numbers."""
    if not _is_placed(own):
        return []
    alike = _alike(rows, own)
    across = [log1p(max(0.0, float(decimal(row[VPS])))) for row in alike]
    upwards = [float(decimal(row[FIRST_MEASURE])) for row in alike]
    found = [
        Mark(
            row["team"],
            kind_of(row["kind"]).id,
            MARGIN + _scaled(x, across, WIDTH),
            HEIGHT - MARGIN - _scaled(y, upwards, HEIGHT),
            row["team"] == own["team"],
        )
        for row, x, y in zip(alike, across, upwards, strict=True)
    ]
    return sorted(found, key=lambda mark: mark.is_own)


def limits(rows: Sequence[Row], own: Row) -> dict[str, str]:
    """Return the greatest cell on each axis of the picture: its ends, beside zero."""
    if not _is_placed(own):
        return {}
    alike = _alike(rows, own)
    return {
        "across": max((row[VPS] for row in alike), key=decimal),
        "up": max((row[FIRST_MEASURE] for row in alike), key=decimal),
    }


def _alike(rows: Sequence[Row], own: Row) -> list[Row]:
    return [row for row in rows if _is_placed(row) and row["vps_kind"] == own["vps_kind"]]


def _is_placed(row: Row) -> bool:
    return bool(row[FIRST_MEASURE] and row[VPS]) and row["vps_kind"] != MIXED


def _scaled(value: float, values: Sequence[float], length: int) -> int:
    """Return where a value is between 0 and the greatest one."""
    return round((length - 2 * MARGIN) * max(0.0, value) / (max(values) or 1.0))


PARTS = {
    "slot_choice": "choice of slots",
    "avoidable_moves": "avoidable moves",
    "failed_rounds": "failed rounds",
}
"""Of excess cost (regret_by_team.csv)."""

TIERS = ("public", "neutral", "sensitive")

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


def pages(site: Site) -> Iterator[tuple[str, Content]]:
    """Yield every team that has a page, with what the page shows."""
    for team, shown in teams_of(site).items():
        yield team, content(site, shown)


def content(site: Site, shown: Sequence[Appearance]) -> Content:
    """Return what the page of a team shows."""
    about, seen = _who(site, shown), [_seen(site, each) for each in shown]
    return Content(
        {
            "who": about,
            "seen": seen,
            "planes": [each for each in seen if each["marks"]][:MOST_PLANES],
            "ways": VPS_FIELDS,
            "measures": MEASURES,
            "width": WIDTH,
            "height": HEIGHT,
            "margin": MARGIN,
            "games": [row for each in shown for row in _games(site, each)],
            "leaks": [row for each in shown if (row := _leaks(each))],
            "messages": [row for each in shown for row in _messages(site, each)],
            "regret": [row for each in shown for row in _regret(site, each)],
            "used": [{**each.row, "where": each.title} for each in shown if each.row["calls"]],
            "files": _files(site, shown),
        }
    )


def _who(site: Site, shown: Sequence[Appearance]) -> Who:
    return who(site, shown[0].row["team"], shown[0].experiment)


def _seen(site: Site, each: Appearance) -> dict[str, Any]:
    """Return one view: the row, its place in the plane, and links to more."""
    row = each.row
    named = {"setting": row["setting"], "channel": row["channel"], "find": row["team"]}
    compared = {**each.place, "measure": FIRST_MEASURE}
    games = {"e": row["experiment"], "t": row["team"], "s": row["setting"]}
    is_played = site.has_games and each.experiment in site.played
    return {
        "title": each.title,
        "row": row,
        "is_apart": each.row in each.pool.apart,
        "confidence": each.view.confidence,
        "marks": marks((*each.pool.rows, *each.pool.apart), row),
        "limits": limits((*each.pool.rows, *each.pool.apart), row),
        "front": _front(site, row),
        "partly": {each.name: partly(row, each.name) for each in MEASURES},
        "board": f"leaderboard.html#{urlencode(named)}",
        "compared": f"results/comparisons.html#{urlencode(compared)}",
        "browsed": f"traces.html#find?{urlencode(games, quote_via=quote)}" if is_played else "",
    }


def _front(site: Site, row: Row) -> Row | None:
    """Return its row of the Pareto front; none if it competes with nobody there."""
    where = {name: row[name] for name in ("setting", "channel", "vps_kind")}
    rows = [each for each in site.summary.optional(FRONT, **where) if each["is_on_front"]]
    own = [r for r in rows if (r["experiment"], r["team"]) == (row["experiment"], row["team"])]
    return own[0] if own and len(rows) > 1 else None


def _games(site: Site, each: Appearance) -> list[dict[str, str]]:
    """Return its best, typical and worst game, linked if the trace browser has them."""
    rows = site.summary.optional("typical_games.csv", **each.place)
    return [
        {**row, "where": each.title, "address": _address(site, row)}
        for row in rows
        if row["channel"] == each.row["channel"]
    ]


def _address(site: Site, row: Row) -> str:
    return site.links.address(row["experiment"], row["team"], row["scenario_id"])


def _leaks(each: Appearance) -> dict[str, str] | None:
    """Return a row of labels told, by tier; none where nobody speaks in words."""
    place = {"setting": each.row["setting"], "team": each.row["team"]}
    rows = each.experiment.tables.optional("audit_leaks.csv", player="", **place)
    by_tier = {row["tier"]: row for row in rows}
    if "all" not in by_tier:
        return None
    told = {tier: by_tier[tier]["labels_told"] for tier in TIERS if tier in by_tier}
    return {**by_tier["all"], **dict.fromkeys(TIERS, ""), **told, "where": each.title}


def _messages(site: Site, each: Appearance) -> list[dict[str, str]]:
    """Return the messages that told most: labels, sensitive ones first, or calendars."""
    told = [row for row in site.leaking_messages if _is_of(row, each)]
    told.sort(key=lambda row: (-int(row["sensitive"] or 0), -int(row["labels_told"] or 0)))
    shown = told or site.summary.optional("revealing_messages.csv", **each.place)
    return [
        {"vps": "", "labels_told": "", "sensitive": "", "words": "", **site.links.to_event(row)}
        | {"where": each.title}
        for row in shown[:MOST_MESSAGES]
    ]


def _is_of(row: Row, each: Appearance) -> bool:
    return all(row[name] == cell for name, cell in each.place.items())


def _regret(site: Site, each: Appearance) -> list[dict[str, str]]:
    rows = site.summary.optional(REGRET, **each.place)
    return [{**row, "where": each.title, "largest": largest(row)} for row in rows]


def largest(row: Mapping[str, str]) -> str:
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
