"""The page with the paper's tables and ours: published numbers apart from our own."""

from collections.abc import Iterator
from typing import Any

from calbench.analysis.audit_sample import SAMPLE
from calbench.report.experiment import confidence_of
from calbench.report.kind import VPS_KIND_NAMES
from calbench.report.pages import audits, judge
from calbench.report.pages.page import Content
from calbench.report.role import SETTINGS
from calbench.report.site import PAPER, Site
from calbench.report.tables import Row, grouped

TABLES = (
    "players.csv",
    "completion_regret.csv",
    "first_speaker.csv",
    "initiator.csv",
    "prior_moves.csv",
    "messages_by_meeting.csv",
    "audit_patterns.csv",
    "usage.csv",
    "audit_own_slot.csv",
)
"""The tables of each experiment that the page shows."""

ORDER = 5
"""Rows that the page shows of each way of measuring what the order of speakers brings [C]."""

ACCOUNTING = "excess_cost"
"""A quantity that the page leaves out: the paper's costs are taken for shown ones."""

SCHEDULED = "scheduled_by_player.csv"


def content(site: Site) -> Content | None:
    """Return our side of each table; no page without the published ones."""
    if not site.published.has(PAPER):
        return None
    return Content(
        {
            **audits.sample(site),
            "confidence": confidence_of(site.ranked),
            "players": _players(site),
            "regret": _ours(site, "completion_regret.csv"),
            "order_rows": ORDER,
            "first_speaker": _by_order(site, "first_speaker.csv"),
            "initiator": _by_order(site, "initiator.csv"),
            "audited": _audited(site),
            "own_slot_rows": audits.OWN_SLOT,
            "own_slot": _own_slot(site),
            "patterns": list(_patterns(site)),
            "judged": judge.of_models(site),
            "prior_moves": _ours(site, "prior_moves.csv"),
            "earlier": site.published.optional("earlier_moves.csv"),
            "talk": _talk(site),
            "usage": [row for each in site.ranked for row in each.tables.optional("usage.csv")],
            "files": _files(site),
        }
    )


def _ours(site: Site, table: str) -> list[Row]:
    """Return the rows of a table of every experiment, with the experiment's title."""
    return [
        {**row, "experiment": each.title, "run": each.name}
        for each in site.ranked
        for row in each.tables.optional(table)
    ]


def _by_order(site: Site, table: str) -> list[Row]:
    """Return the largest differences by order; each way of measuring VPS is one of its own."""
    rows = []
    for row in _ours(site, table):
        kind = row.get("vps_kind", "") if row["quantity"] == "vps" else ""
        if row["quantity"] != ACCOUNTING:
            by = f"VPS of the round, by {VPS_KIND_NAMES[kind]}" if kind else row["quantity"]
            size = None if row["difference"] is None else abs(row["difference"])
            rows.append({**row, "quantity": by, "size": size})
    by_quantity = grouped(rows, "quantity").values()
    return [r for own in by_quantity for r in audits.first(own, "size", ORDER, largest=True)]


def _own_slot(site: Site) -> list[Row]:
    """Return the largest shares of each experiment."""
    rows = [row for row in _ours(site, "audit_own_slot.csv") if row["player"]]
    return [row for own in grouped(rows, "run").values() for row in audits.own_slot(own)]


def _players(site: Site) -> dict[str, list[Row]]:
    """Return the columns of Table 1 by setting, with the mean number of scheduled meetings."""
    place = ("setting", "player", "teams")
    scheduled = {
        (row["experiment"], *(row[name] for name in place)): row["scheduled"]
        for row in site.summary.optional(SCHEDULED)
    }
    rows = [
        {**row, "scheduled": scheduled[row["run"], *(row[name] for name in place)]}
        for row in _ours(site, "players.csv")
    ]
    return grouped(rows, "setting")


def _audited(site: Site) -> list[Row]:
    """Return how many games and messages of each team and setting were audited."""
    rows = [row for row in _ours(site, "audit_patterns.csv") if not row["player"]]
    return [own[0] for own in grouped(rows, "run", "setting", "team").values()]


def _patterns(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the patterns of every setting; of experiments that share a page, of the first."""
    for each in audits.spoken(site):
        if each.role.page == SETTINGS or each is site.on(each.role.page)[0]:
            for setting in each.settings:
                yield f"{each.title}, {setting}", audits.patterns(each, setting)


def _talk(site: Site) -> dict[str, Any]:
    """Return messages by place of the meeting, a row for each player and role."""
    shown = {each.name for each in site.on(SETTINGS)} or {each.name for each in site.ranked}
    rows = [row for row in _ours(site, "messages_by_meeting.csv") if row["run"] in shown]
    lines = grouped(rows, "run", "setting", "player", "teams", "role").values()
    return {
        "meetings": sorted({row["meeting_index"] for row in rows}),
        "rows": [{**own[0], "by_meeting": {r["meeting_index"]: r for r in own}} for own in lines],
    }


def _files(site: Site) -> list[str]:
    """Return the tables behind the page, below the site's folder of tables."""
    sample = [SAMPLE.path] if site.unattached.has(SAMPLE.path) else []
    published = [f"published/{name}" for name in site.published.names]
    ours = [
        f"{each.name}/{name}"
        for each in site.ranked
        for name in TABLES
        if each.tables.optional(name)
    ]
    judged = judge.files(site) if judge.of_models(site)["sums"] else []
    return [SCHEDULED, *sample, *published, *ours, *judged]
