"""The page of scripted speakers that err: what comes of it, and one case of everything found."""

from collections.abc import Mapping, Sequence
from typing import Any

from calbench.metrics.speech.cases import NAMES_BY_KIND, OUTCOMES
from calbench.report.experiment import Experiment, confidence_of
from calbench.report.figures.plane import COST, FAIRNESS, planes
from calbench.report.pages.language import spoken
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import Site, settings_of
from calbench.report.tables import Row

CASES = "audit_cases.csv"

TITLES: Mapping[str, str] = {
    "pattern": "Patterns of behaviour",
    "outcome": "Outcomes of meetings",
    "leak": "Private labels told, by tier",
    "statement": "Statements about own slots",
    "limit": "Limits run into",
}
"""What a case is of, as captions say it."""


def content(site: Site) -> Content | None:
    """Return what speakers that err did, with a link to one case of everything; or no page."""
    shown = site.on("erring")
    if not shown:
        return None
    drawn = [_planes(site, each) for each in settings_of(shown)]
    return Content(
        {
            **spoken(site, shown),
            "outcomes": [
                (each, site.with_kinds(each.rows("outcomes.csv"))) for each in settings_of(shown)
            ],
            "outcome_names": OUTCOMES,
            "planes": drawn,
            "cases": [
                (title, _rows(site, shown, kind, NAMES_BY_KIND[kind]))
                for kind, title in TITLES.items()
            ],
            "confidence": confidence_of(shown),
        },
        figures=[figure for each in drawn for figure in each["figures"]],
    )


def _planes(site: Site, setting: Setting) -> dict[str, Any]:
    """Return fairness and cost of a setting's teams against what they disclosed."""
    rows = site.with_kinds(setting.counted)
    source = [setting.source("leaderboard.csv")]
    title = f"speakers that err, {setting.name}"
    figures = [
        figure
        for against in (FAIRNESS, COST)
        for figure in planes(setting, title, rows, site.styles, source, against=against)
    ]
    return {"name": setting.name, "figures": figures, "rows": rows}


def _rows(site: Site, shown: Sequence[Experiment], kind: str, names: Sequence[str]) -> list[Row]:
    """Return a row for each name of a kind: how often it was found, and the case to look at.

    The case is of the first scenario by its id that has a plain one; where several teams have one
    there, of the first team.
    """
    every = [
        {**row, "experiment": each.name}
        for each in shown
        for row in each.tables.optional(CASES, kind=kind)
    ]
    return [_row(site, name, [row for row in every if row["name"] == name]) for name in names]


def _row(site: Site, name: str, rows: Sequence[Row]) -> Row:
    sums = {key: str(sum(int(row[key]) for row in rows)) for key in ("found", "plain", "games")}
    if not rows:
        return {"name": name, **sums, "team": "", "event": "", "address": ""}
    first = min(rows, key=lambda row: (row["plain"] == "0", row["scenario_id"]))
    return {**site.links.to_event(first), **sums}
