"""The page that says whether ranks depend on the fullness, blocks and slots of calendars."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.verdicts import DIFFERENT
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

MEASURES = ("adjusted_excess_cost", "excess_vps", "coordination", "messages")
"""Those whose ranks are shown, the first one openly."""

AXES: Mapping[str, Sequence[str]] = {
    "density": ("density-060", "density-075", "density-090"),
    "blocked errands": ("blocked-0", "density-075", "blocked-6"),
    "slots": ("slots-12", "density-075", "slots-24"),
}
"""What is changed, and the settings along it; they have one in common."""

REVERSED, AT_SOME = "reversed", "shown at some values only"


def content(site: Site) -> Content | None:
    """Return ranks by setting, and the pairs whose order changes; no page without the experiment.

    An order is *reversed* on an axis if the paired tests show each of two teams to be better at
    some value of it.
    """
    experiments = site.on("sensitivity")
    if not experiments:
        return None
    (study, *_) = experiments
    along = dict.fromkeys(chain.from_iterable(AXES.values()))
    rows = [row for row in study.tables.rows("standings.csv") if row["team"] in study.teams]
    pairs = _pairs(study.tables.rows("comparisons.csv"))
    return Content(
        {
            "shown": [name for name in along if name in study.settings],
            "axes": AXES,
            "measure_names": MEASURES,
            "teams": site.with_kinds({"team": name} for name in study.teams),
            "standings": {(row["team"], row["setting"]): row for row in rows},
            "pairs": pairs,
            "files": [f"{study.name}/{name}" for name in ("standings.csv", "comparisons.csv")],
        }
    )


def _pairs(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the pairs whose order is not the same along an axis, with the axis."""
    found = []
    own = [row for row in rows if row["measure"] in MEASURES]
    for (measure, one, other), each in grouped(own, "measure", "team_a", "team_b").items():
        better = {row["setting"]: _better(row) for row in each}
        for axis, settings in AXES.items():
            seen = {better.get(name, "") for name in settings}
            if len(seen) > 1:
                change = REVERSED if {one, other} <= seen else AT_SOME
                names = {"measure": measure, "one": one, "other": other}
                found.append({**names, "axis": axis, "change": change, "better": better})
    return found


def _better(row: Row) -> str:
    """Return the team that is shown to be better, or nothing."""
    if row["verdict"] != DIFFERENT:
        return ""
    is_first = (row["difference"] > 0) == (MEASURE_BY_NAME[row["measure"]].better == "higher")
    return str(row["team_a"] if is_first else row["team_b"])
