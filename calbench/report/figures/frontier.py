"""DSM between its presets, as lines on the cost-privacy plane."""

import re
from collections.abc import Mapping, Sequence
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
    """Return what is drawn beside the teams of a setting."""
    swept = [
        row
        for each in site.on("plane")
        for row in each.tables.rows("leaderboard.csv", setting=setting.name)
    ]
    return lines(swept, setting.leaderboard)


def lines(frontier: Sequence[Row], leaderboard: Sequence[Row]) -> list[Line]:
    """Return the swept settings of one setting of scenarios.

    Args:
        frontier: its rows of the experiment's leaderboard.
        leaderboard: its rows of the leaderboard that lists DSM-Welfare, where every sweep
            starts; without that team lines start at their next point.
    """
    points: dict[str, list[tuple[str, Row]]] = {"theta": [], "lmax": [], "w": []}
    by_team = {row["team"]: row for row in (*leaderboard, *frontier)}
    held = ""
    for row in frontier:
        match = TEAM.fullmatch(row["team"])
        if match is None:
            continue
        if match["w"]:
            held = match["theta"]
            points["w"].append((match["w"], row))
        else:
            points[match["name"]].append((match["value"], row))
    for name in ("theta", "lmax"):
        if points[name] and WELFARE in by_team:
            points[name].append((WELFARE_SETTINGS[name], by_team[WELFARE]))
    if points["w"] and f"dsm-theta-{held}" in by_team:
        points["w"].append((WELFARE_SETTINGS["w"], by_team[f"dsm-theta-{held}"]))
    return [
        Line(
            key,
            NAMES[key].format(theta=held),
            tuple(
                (f"{SIGNS[key]} = {value}", row)
                for value, row in sorted(found, key=lambda each: decimal(each[0]))
            ),
        )
        for key, found in points.items()
        if found
    ]
