"""Planes of cost and of fairness against privacy (paper, Figure 2, section 4), by instrument."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from calbench.report import columns
from calbench.report.columns import VPS
from calbench.report.figures import finding, words
from calbench.report.figures.figure import Figure, columns_of
from calbench.report.figures.frontier import Line, lines_of
from calbench.report.figures.instruments import TYPED, by_instrument, named, one_instrument
from calbench.report.figures.scatter import HEIGHT, Axis, Path, Point, scatter
from calbench.report.figures.style import Style, Styles, Value
from calbench.report.setting import Setting
from calbench.report.site import FRONT, Site
from calbench.report.tables import Row


@dataclass(frozen=True)
class Against:
    """What a plane sets against privacy, on its upward axis; less of it is better.

    Attributes:
        measure: its column.
        key: of its figures, before the setting.
        title: of its figures, likewise.
        axis: with its unit.
        about: what points show, in words.
        ends: what a title says of those with the least, and of those with the most.
    """

    measure: str
    key: str
    title: str
    axis: Axis
    about: str
    ends: tuple[tuple[str, str], str]


COST = Against(
    columns.COST,
    "plane",
    "Cost against privacy",
    Axis("↑ Adjusted excess per meeting, accounting cost", "adjusted excess cost"),
    "by how much of their calendars they gave away and what their meetings cost beyond the optimum",
    (("pays least", "pay least"), "most"),
)
FAIRNESS = Against(
    "fairness",
    "fairness-plane",
    "Fairness against privacy",
    Axis("↑ Fairness in accounting cost (less is fairer)", "fairness cost"),
    "by how much of their calendars they gave away and how unevenly they bore the cost",
    (("shares the cost most evenly", "share the cost most evenly"), "least evenly"),
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
    drawn = by_instrument(_drawn(rows, against))
    for line in lines:
        for kind in by_instrument(_drawn(_rows_of(line), against)):
            drawn.setdefault(kind, [])
    if not drawn:
        return [plane(setting, title, rows, style_by_team, sources, lines, against, front)]
    found = []
    for kind, own in drawn.items():
        mine = [_of_instrument(line, kind) for line in lines]
        said = title if len(drawn) == 1 else f"{title}, VPS by {named(kind)}"
        kept = [line for line in mine if line.points]
        found.append(plane(setting, said, own, style_by_team, sources, kept, against, front))
    return found


def _of_instrument(line: Line, kind: str) -> Line:
    own = tuple(point for point in line.points if point[1]["vps_kind"] == kind)
    return replace(line, points=own)


def _drawn(rows: Iterable[Row], against: Against) -> list[Row]:
    """Return the rows with both measures."""
    return [row for row in rows if row[VPS] and row[against.measure]]


def _rows_of(line: Line) -> list[Row]:
    return [row for _, row in line.points]


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
    rows, lines = _drawn(rows, against), [_drawn_line(line, against) for line in lines]
    kind = one_instrument(list(_rows(rows, lines)), f"{against.title}, {title}")
    points = [_point(row["team"], row, style_by_team[row["team"]], against) for row in rows]
    paths = [_path(line, style_by_team[line.key], against) for line in lines]
    competing = _competing(rows, kind, front) if against is COST else []
    best = {row["team"] for row in competing if row["is_on_front"] == "true"}
    return Figure(
        key=f"{against.key}-{setting.slug}" + (f"-{kind}" if kind not in {"", TYPED} else ""),
        title=f"{against.title}, {title}",
        says=_says(rows, [row["team"] for row in rows], lines, against),
        finding=_finding(rows, competing, against, style_by_team),
        drawn=scatter(
            points,
            _across(kind),
            against.axis,
            paths,
            [point for point in points if point.name in best],
            is_lower_left_better=True,
        ),
        columns=columns_of("line", "point", "team", "vps_kind", measures=(VPS, against.measure)),
        rows=tuple(_rows(rows, lines)),
        sources=[*sources, *([FRONT] if competing else [])],
        height=HEIGHT + (70 if lines else 0),
        measured=(VPS, against.measure),
    )


def _drawn_line(line: Line, against: Against) -> Line:
    """Return a line with its points that have both measures."""
    return replace(line, points=tuple(p for p in line.points if _drawn([p[1]], against)))


def _competing(rows: Sequence[Row], kind: str, front: Sequence[Row]) -> list[Row]:
    """Return the rows of the front's table of teams that are drawn and compete."""
    drawn = {row["team"] for row in rows}
    return [
        row
        for row in front
        if row["vps_kind"] == kind and row["team"] in drawn and row["is_on_front"]
    ]


def _finding(
    rows: Sequence[Row], competing: Sequence[Row], against: Against, style_by_team: Styles
) -> str:
    """Return the title: of the front, or else who is at the ends of both axes."""
    if competing:
        costs, leaks = ({r["team"]: r[name] for r in competing} for name in (against.measure, VPS))
        best = [row["team"] for row in competing if row["is_on_front"] == "true"]
        return finding.of_front(costs, leaks, best)
    values = {row["team"]: Value.of(row, against.measure) for row in rows}
    return finding.spread(
        finding.competing(values, style_by_team), against.axis.short, *against.ends
    )


def _across(kind: str) -> Axis:
    """Return the axis of VPS, which says how it was measured unless by typed messages."""
    by = f" by {named(kind)}" if kind not in {"", TYPED} else ""
    return Axis(f"Excess VPS{by} (slot-equivalents) →", "excess VPS", is_log1p=True)


def _path(line: Line, style: Style, against: Against) -> Path:
    points = [_point(label, row, style, against) for label, row in line.points]
    return Path(line.name, tuple(points), style)


def _point(name: str, row: Row, style: Style, against: Against) -> Point:
    return Point(name, Value.of(row, VPS), Value.of(row, against.measure), style)


def _rows(rows: Sequence[Row], lines: Sequence[Line]) -> Iterator[Row]:
    """Yield what is drawn, as a table: teams first, then the points of each line."""
    for row in rows:
        yield {**row, "line": "", "point": row["team"]}
    for line in lines:
        for label, row in line.points:
            yield {**row, "line": line.name, "point": label}


def _says(
    rows: Sequence[Row], names: Sequence[str], lines: Sequence[Line], against: Against
) -> str:
    measured = [
        (dict(zip(names, (row[measure] for row in rows), strict=True)), what)
        for measure, what in ((VPS, "excess VPS"), (against.measure, against.axis.short))
    ]
    said = [
        f"{len(names)} teams {against.about}.",
        *(words.extremes(cells, what) for cells, what in measured),
    ]
    for line in lines:
        if line.points:
            first, last = line.points[0], line.points[-1]
            moved = " and ".join(
                f"{what} {words.change(first[1][measure], last[1][measure])}"
                for measure, what in ((VPS, "excess VPS"), (against.measure, against.axis.short))
            )
            said.append(f"{line.name}: from {first[0]} to {last[0]} {moved}.")
    return " ".join(said)
