"""The cost-privacy plane (paper, Figure 2), one for each instrument that measures VPS."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calbench.report.figures import words
from calbench.report.figures.figure import Figure, columns_of
from calbench.report.figures.frontier import Line, lines_of
from calbench.report.figures.instruments import TYPED, by_instrument, named, one_instrument
from calbench.report.figures.scatter import HEIGHT, Axis, Path, Point, scatter
from calbench.report.figures.style import Style, Styles, Value
from calbench.report.setting import Setting
from calbench.report.site import Site
from calbench.report.tables import Row

COST = "adjusted_excess_cost"
VPS = "excess_vps"

COLUMNS = columns_of("line", "point", "team", "vps_kind", measures=(VPS, COST))

UPWARD = Axis("↑ Adjusted excess per meeting, accounting cost", "adjusted excess cost")


def planes_of(site: Site, setting: Setting) -> list[Figure]:
    """Return the planes of a setting; typed teams with the swept settings of DSM as lines."""
    lines = lines_of(site, setting)
    swept = [f"{each.name}/leaderboard.csv" for each in site.on("plane")] if lines else []
    source = setting.source("leaderboard.csv")
    return planes(setting, setting.title, setting.leaderboard, site.styles, [source, *swept], lines)


def planes(
    setting: Setting,
    title: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    lines: Sequence[Line] = (),
) -> list[Figure]:
    """Return a plane for each instrument that measured the VPS of rows, at least one.

    VPS by two instruments cannot be compared, so no plane has both. Arguments as in :func:`plane`;
    a line is in the plane of its points.
    """
    drawn = by_instrument([row for row in rows if _is_drawn(row)])
    for line in lines:
        for kind in by_instrument(_drawn(line)):
            drawn.setdefault(kind, [])
    if not drawn:
        return [plane(setting, title, rows, style_by_team, sources, lines)]
    found = []
    for kind, own in drawn.items():
        mine = [_of_instrument(line, kind) for line in lines]
        said = title if len(drawn) == 1 else f"{title}, VPS by {named(kind)}"
        kept = [line for line in mine if line.points]
        found.append(plane(setting, said, own, style_by_team, sources, kept))
    return found


def _of_instrument(line: Line, kind: str) -> Line:
    own = tuple(point for point in line.points if point[1]["vps_kind"] == kind)
    return replace(line, points=own)


def _drawn(line: Line) -> list[Row]:
    return [row for _, row in line.points if _is_drawn(row)]


def plane(
    setting: Setting,
    title: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    lines: Sequence[Line] = (),
) -> Figure:
    """Return the cost-privacy plane of one setting and one instrument, which its axis names.

    Args:
        setting: on whose page the figure is.
        title: of what is shown.
        rows: the setting's rows of the leaderboard; a team without both measures is left out.
        style_by_team: how each team looks, and each line.
        sources: tables that the rows are from.
        lines: teams that differ in one setting, joined in its order.

    Raises:
        CalbenchError: VPS was measured by several instruments.
    """
    rows = [row for row in rows if _is_drawn(row)]
    lines = [
        replace(line, points=tuple(point for point in line.points if _is_drawn(point[1])))
        for line in lines
    ]
    measured = [*rows, *(row for line in lines for _, row in line.points)]
    kind = one_instrument(measured, f"Cost against privacy, {title}")
    points = [_point(row["team"], row, style_by_team[row["team"]]) for row in rows]
    return Figure(
        key=f"plane-{setting.slug}" + (f"-{kind}" if kind not in {"", TYPED} else ""),
        title=f"Cost against privacy, {title}",
        says=_says(rows, [row["team"] for row in rows], lines),
        drawn=scatter(
            points, _across(kind), UPWARD, [_path(line, style_by_team[line.key]) for line in lines]
        ),
        columns=COLUMNS,
        rows=tuple(_rows(rows, lines)),
        sources=sources,
        height=HEIGHT + (70 if lines else 0),
    )


def _is_drawn(row: Row) -> bool:
    return bool(row[VPS] and row[COST])


def _across(kind: str) -> Axis:
    """Return the axis of VPS, which says how it was measured unless by typed messages."""
    by = f" by {named(kind)}" if kind not in {"", TYPED} else ""
    return Axis(f"Excess VPS{by} (slot-equivalents) →", "excess VPS", is_log1p=True)


def _path(line: Line, style: Style) -> Path:
    points = [_point(label, row, style) for label, row in line.points]
    return Path(line.name, tuple(points), style)


def _point(name: str, row: Row, style: Style) -> Point:
    return Point(name, Value.of(row, VPS), Value.of(row, COST), style)


def _rows(rows: Sequence[Row], lines: Sequence[Line]) -> Iterator[Row]:
    """Yield what is drawn, as a table: teams first, then the points of each line."""
    for row in rows:
        yield {**row, "line": "", "point": row["team"]}
    for line in lines:
        for label, row in line.points:
            yield {**row, "line": line.name, "point": label}


def _says(rows: Sequence[Row], names: Sequence[str], lines: Sequence[Line]) -> str:
    measured = [
        (dict(zip(names, (row[measure] for row in rows), strict=True)), what)
        for measure, what in ((VPS, "excess VPS"), (COST, "adjusted excess cost"))
    ]
    about = "by how much of their calendars they gave away and what their meetings cost"
    said = [
        f"{len(names)} teams {about} beyond the optimum.",
        *(words.extremes(cells, what) for cells, what in measured),
    ]
    for line in lines:
        if line.points:
            first, last = line.points[0], line.points[-1]
            said.append(
                f"{line.name}: from {first[0]} to {last[0]} VPS goes from "
                f"{words.number(first[1][VPS])} to {words.number(last[1][VPS])} and cost from "
                f"{words.number(first[1][COST])} to {words.number(last[1][COST])}."
            )
    return " ".join(said)
