"""DSM between its presets, as lines on the cost-privacy plane."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from calbench.report.columns import decimal
from calbench.report.setting import Setting
from calbench.report.site import Site
from calbench.report.tables import Row

WELFARE = "dsm-welfare"
"""The team from which each line starts."""

WELFARE_SETTINGS: Mapping[str, str] = {"theta": "0", "lmax": "12", "w": "1"}
"""What that team sets (paper, Table 9); every line changes one of these."""

SIGNS: Mapping[str, str] = {"theta": "θ", "lmax": "Lmax", "w": "w"}

NAMES: Mapping[str, str] = {
    "theta": "DSM, θ varies",
    "lmax": "DSM, Lmax varies",
    "w": "DSM, w varies, θ = {theta}",
}

TEAM = re.compile(
    r"dsm-(?:(?P<name>theta|lmax)-(?P<value>[0-9.]+)|theta-(?P<theta>[0-9.]+)-w-(?P<w>[0-9.]+))"
)
"""Team ids of the experiment say which setting they change, and to what."""


@dataclass(frozen=True, slots=True)
class Line:
    """One swept setting.

    Attributes:
        key: of its style.
        name: for people.
        points: label and row of the leaderboard, by the setting's value.
    """

    key: str
    name: str
    points: tuple[tuple[str, Row], ...]


def lines_of(site: Site, setting: Setting) -> list[Line]:
    """Return the swept settings, which are drawn beside the teams of a setting.

    Without the team from which a sweep starts, its line begins at the next point.
    """
    swept = [
        row
        for each in site.on("plane")
        if Setting(each, setting.name).suite_digest == setting.suite_digest
        for row in each.tables.rows("leaderboard.csv", setting=setting.name)
    ]
    points: dict[str, list[tuple[str, Row]]] = {"theta": [], "lmax": [], "w": []}
    held = ""
    for row in swept:
        match = TEAM.fullmatch(row["team"])
        if match is not None and match["w"]:
            held = match["theta"]
            points["w"].append((match["w"], row))
        elif match is not None:
            points[match["name"]].append((match["value"], row))
    starts = {"theta": WELFARE, "lmax": WELFARE, "w": f"dsm-theta-{held}"}
    by_team = {row["team"]: row for row in (*setting.leaderboard, *swept)}
    lines = []
    for key, found in points.items():
        if found and starts[key] in by_team:
            found.append((WELFARE_SETTINGS[key], by_team[starts[key]]))
        found.sort(key=lambda each: decimal(each[0]))
        named = tuple((f"{SIGNS[key]} = {value}", row) for value, row in found)
        lines.append(Line(key, NAMES[key].format(theta=held), named))
    return [line for line in lines if line.points]
