"""Planes of cost and of fairness against privacy (paper, Figure 2, section 4), by instrument.

What DSM does between its presets is drawn as lines on them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calbench.analysis.measures import Measure, privacy_measure
from calbench.errors import CalbenchError
from calbench.report import columns
from calbench.report.columns import MEASURE_BY_NAME
from calbench.report.experiment import Setting
from calbench.report.figures.figure import Figure, columns_of
from calbench.report.figures.scatter import HEIGHT, Axis, Path, Point, scatter
from calbench.report.figures.style import Style, Styles, Value, checked, styles
from calbench.report.kind import TYPED, VPS_KIND_NAMES, kind_of
from calbench.report.panels import silence_of
from calbench.report.site import FRONT, Site
from calbench.report.tables import Row, grouped

if TYPE_CHECKING:
    import plotly.graph_objects as go

SILENCE = "silence: no message, no meeting"
"""What the legend calls the line of those that say nothing."""

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

# e.g. whole "dsm-theta-0.1", "dsm-theta-0.1-w-2"; not "dsm-private"
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

    def of(self, kind: str, measure: str) -> "Line":
        """Return its points with both measures by one instrument."""
        own = [(label, row) for label, row in self.points if _drawn([row], measure)]
        return replace(self, points=tuple(p for p in own if p[1]["vps_kind"] == kind))


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
        found.sort(key=lambda each: float(each[0]))
        named = tuple((f"{SIGNS[key]} = {value}", row) for value, row in found)
        lines.append(Line(key, NAMES[key].format(theta=held), named))
    return [line for line in lines if line.points]


@dataclass(frozen=True)
class Against:
    """What a plane sets against privacy, on its upward axis; less of it is better.

    Attributes:
        measure: its column.
        key: of its figures, before the setting.
        title: of its figures, before the setting.
        axis: with its unit.
    """

    measure: str
    key: str
    title: str
    axis: Axis


COST = Against(
    columns.COST,
    "plane",
    "Cost against privacy",
    Axis("↑ Adjusted excess per meeting, accounting cost", "adjusted excess cost"),
)
FAIRNESS = Against(
    "fairness",
    "fairness-plane",
    "Fairness against privacy",
    Axis("↑ Fairness in accounting cost (less is fairer)", "fairness cost"),
)


def planes_of(site: Site, setting: Setting) -> list[Figure]:
    """Return the planes of a setting; typed teams with the swept settings of DSM as lines."""
    lines, front = lines_of(site, setting), site.front(setting)
    swept = [f"{each.name}/leaderboard.csv" for each in site.on("plane")] if lines else []
    sources = [setting.source("leaderboard.csv"), *swept]
    rows = setting.leaderboard
    return planes(setting, setting.title, rows, site.styles, sources, lines, front=front)


def planes(
    setting: Setting,
    title: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    lines: Sequence[Line] = (),
    against: Against = COST,
    front: Sequence[Row] = (),
) -> list[Figure]:
    """Return a plane for each instrument that measured the VPS of rows, at least one.

    VPS by two instruments cannot be compared, so no plane has both. Arguments as in :func:`plane`;
    a line is in the plane of its points.
    """
    points = [row for line in lines for _, row in line.points]
    drawn = grouped(_drawn(rows, against.measure), "vps_kind")
    kinds = dict.fromkeys([*drawn, *grouped(_drawn(points, against.measure), "vps_kind")])
    found = []
    for kind in kinds or [""]:
        said_of = title if len(kinds) < 2 else f"{title}, VPS by {VPS_KIND_NAMES[kind]}"
        mine = [line.of(kind, against.measure) for line in lines]
        kept = [line for line in mine if line.points]
        own = drawn.get(kind, [])
        found.append(plane(setting, said_of, own, style_by_team, sources, kept, against, front))
    return found


def _drawn(rows: Iterable[Row], measure: str) -> list[Row]:
    """Return the rows with cost or fairness, and with the privacy of their instrument."""
    return [row for row in rows if None not in (row[_loss(row)], row[measure])]


def _loss(row: Row) -> str:
    return privacy_measure(row["vps_kind"])


def _rows_of(rows: Sequence[Row], lines: Sequence[Line]) -> list[Row]:
    """Return the rows of a plane's table: of points, then of lines."""
    return [
        *({**row, "line": "", "point": row["team"]} for row in rows),
        *({**r, "line": line.name, "point": label} for line in lines for label, r in line.points),
    ]


def _further(setting: Setting, has_front: bool, has_silence: bool) -> list[str]:
    """Return the tables of what is drawn beside the teams."""
    return [FRONT] * has_front + [setting.source("standings.csv")] * has_silence


def _by(kind: str) -> str:
    """Return what measured privacy, behind a measure's name; nothing of typed messages."""
    return "" if kind in {"", TYPED} else f" by {VPS_KIND_NAMES[kind]}"


def plane(
    setting: Setting,
    title: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    lines: Sequence[Line] = (),
    against: Against = COST,
    front: Sequence[Row] = (),
) -> Figure:
    """Return the plane of one setting and one instrument, which its axis names.

    Args:
        setting: on whose page the figure is.
        title: of what is shown.
        rows: the setting's rows of the leaderboard; a team without both measures is left out.
        style_by_team: how each team looks, and each line.
        sources: tables that the rows are from.
        lines: teams that differ in one setting, joined in its order.
        against: what is set against privacy.
        front: of its setting, rows of ``front.csv``, which are about cost.

    Raises:
        CalbenchError: VPS was measured by several instruments.
    """
    table = _rows_of(rows, lines)
    kind = _one_instrument(table, f"{against.title}, {title}")
    points = [_point(row["team"], row, style_by_team[row["team"]], against) for row in rows]
    best = _best(front, rows, kind) if against is COST else []
    silence = silence_of(setting.rows("standings.csv")) if against is COST else None
    loss, by = MEASURE_BY_NAME[privacy_measure(kind)], _by(kind)
    measured = loss.name, against.measure
    return Figure(
        key=f"{against.key}-{setting.slug}" + (f"-{kind}" if by else ""),
        title=f"{against.title}, {title}",
        drawn=scatter(
            points,
            _across(loss, kind),
            against.axis,
            [_path(line, style_by_team[line.key], against) for line in lines],
            [point for point in points if point.name in best],
            None if silence is None else (SILENCE, silence),
        ),
        columns=columns_of("line", "point", "team", "vps_kind", measures=measured),
        rows=table,
        sources=[*sources, *_further(setting, bool(best), silence is not None)],
        height=HEIGHT + (70 if lines else 0 if silence is None and not best else 22),
        measured=measured,
    )


def plane_of(rows: Sequence[Row]) -> "go.Figure":
    """Return the plane of cost against privacy of any teams.

    Args:
        rows: of a leaderboard; a team without both measures is left out.

    Raises:
        CalbenchError: VPS was measured by several instruments.
    """
    drawn = _drawn([row for row in rows if row["vps_kind"]], COST.measure)
    kind = _one_instrument(drawn, COST.title)
    looks = styles({row["team"]: kind_of(row.get("kind", "")) for row in drawn})
    points = [_point(row["team"], row, looks[row["team"]], COST) for row in drawn]
    loss = MEASURE_BY_NAME[privacy_measure(kind)]
    return checked(scatter(points, _across(loss, kind), COST.axis))


def _across(loss: Measure, kind: str) -> Axis:
    """Return the axis of privacy by an instrument."""
    title = f"{loss.title}{_by(kind)} ({loss.unit}) →"
    return Axis(title, loss.title, is_log1p=kind in {"", TYPED})


def _best(front: Iterable[Row], rows: Iterable[Row], kind: str) -> list[str]:
    """Return the teams of rows on the front of an instrument."""
    teams = {row["team"] for row in rows}
    found = [row["team"] for row in front if row["is_on_front"] and row["vps_kind"] == kind]
    return [team for team in found if team in teams]


def _one_instrument(rows: Iterable[Row], title: str) -> str:
    """Return the instrument that measured the VPS of all rows; empty without rows."""
    found = list(grouped(rows, "vps_kind"))
    if len(found) > 1:
        kinds = " and ".join(VPS_KIND_NAMES[kind] for kind in found)
        raise CalbenchError(
            f"{title}: VPS by {kinds} cannot be drawn on one axis; each has a figure of its own"
        )
    return found[0] if found else ""


def _path(line: Line, style: Style, against: Against) -> Path:
    points = [_point(label, row, style, against) for label, row in line.points]
    return Path(line.name, tuple(points), style)


def _point(name: str, row: Row, style: Style, against: Against) -> Point:
    return Point(name, Value.of(row, _loss(row)), Value.of(row, against.measure), style)
