"""The home page: findings, the plane, one meeting of a real game, and the best teams."""

from collections.abc import Iterable
from typing import Any

from calbench.analysis.measures import privacy_measure
from calbench.analysis.tables.silence import NO_BETTER
from calbench.report.columns import COST
from calbench.report.experiment import Setting, confidence_of
from calbench.report.findings import findings
from calbench.report.games.picture import first_round
from calbench.report.kind import DEGENERATE, kind_of
from calbench.report.pages.page import Content
from calbench.report.panels import Panel, panels
from calbench.report.site import Site
from calbench.report.tables import Row

MOST_ROWS = 10
"""Of a setting [R]; the leaderboard has all."""

SPEAKING = {
    "language": "scripted speakers",
    "delegates": "open-weight models as assistants of a user",
    "smollm2": "a very small model",
}
"""Pages of agents that talk in plain language."""


def content(site: Site) -> Content:
    """Return what the page shows, of what this site has."""
    drawn = panels(site)
    return Content(
        {
            "findings_shown": findings(site),
            "panels": drawn,
            "confidence": confidence_of(site.ranked),
            "shown": first_round(site),
            "settings": [
                best(site, each) for each in site.settings if not is_drawn(site, each, drawn)
            ],
            "others": [(page, words) for page, words in SPEAKING.items() if site.on(page)],
        }
    )


def is_drawn(site: Site, setting: Setting, drawn: Iterable[Panel]) -> bool:
    """Return whether the plane has all teams of a setting, and none of a run of one's own."""
    teams = {row["team"] for row in setting.leaderboard}
    own = (each for each in drawn if each.setting == setting.name and each.is_adjusted)
    seen = {row["team"] for each in own for row in each.rows}
    return teams <= seen - set(site.unpublished)


def best(site: Site, setting: Setting) -> dict[str, Any]:
    """Return the first rows of a setting by cost, and its degenerate baselines apart.

    Teams of a run of one's own are there whatever their place; they alone are marked with a kind.
    """
    own = site.unpublished
    equal = {r["team"] for r in setting.rows("standings.csv") if r.get("no_better_than")}
    kinds = site.with_kinds(setting.leaderboard)
    noted = [{**r, "warning": f" {NO_BETTER}" if r["team"] in equal else ""} for r in kinds]
    rows = sorted(noted, key=_place)
    competing = [row for row in rows if kind_of(row["kind"]) is not DEGENERATE]
    return {
        "setting": setting,
        "rows": [
            row if row["team"] in own else {**row, "kind": ""}
            for place, row in enumerate(competing)
            if place < MOST_ROWS or row["team"] in own
        ],
        "degenerate": [row for row in rows if kind_of(row["kind"]) is DEGENERATE],
    }


def _place(row: Row) -> tuple[object, ...]:
    """Return what rows are sorted by: cost, then loss of privacy where there is one."""
    cost, loss = row[COST], row[privacy_measure(row["vps_kind"])]
    return cost is None, cost or 0.0, loss is None, loss or 0.0, row["team"]
