"""The cost-privacy plane (paper, Figure 2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from calbench.report.columns import VPS_KIND_NAMES
from calbench.report.figures import words
from calbench.report.figures.figure import Figure, columns_of
from calbench.report.figures.frontier import Line, lines_of
from calbench.report.figures.scatter import HEIGHT, Axis, Path, Point, scatter
from calbench.report.figures.style import Style, Styles, Value
from calbench.report.setting import Setting
from calbench.report.site import Site
from calbench.report.tables import Row

COST = "adjusted_excess_cost"
VPS = "excess_vps"

TYPED = "protocol"

COLUMNS = columns_of("line", "point", "team", "vps_kind", measures=(VPS, COST))

UPWARD = Axis("↑ Adjusted excess per meeting, accounting cost", "adjusted excess cost")


def plane_of(site: Site, setting: Setting) -> Figure:
    """Return the cost-privacy plane of a setting, with the swept settings of DSM as lines."""
    lines = lines_of(site, setting)
    sources = [setting.source("leaderboard.csv")]
    sources += [f"{each.name}/leaderboard.csv" for each in site.on("plane")] if lines else []
    return plane(setting, setting.title, setting.leaderboard, site.styles, sources, lines)


def plane(
    setting: Setting,
    title: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    lines: Sequence[Line] = (),
) -> Figure:
    """Return the cost-privacy plane of one setting.

    Where VPS was not measured by typed messages alone, the axis or, if there are several ways,
    the legend says how; points whose VPS rests on reflections are then open.

    Args:
        setting: on whose page the figure is.
        title: of what is shown.
        rows: the setting's rows of the leaderboard; a team without both measures is left out.
        style_by_team: how each team looks, and each line.
        sources: tables that the rows are from.
        lines: teams that differ in one setting, joined in its order.
    """
    rows = [row for row in rows if _is_drawn(row)]
    lines = [
        replace(line, points=tuple(point for point in line.points if _is_drawn(point[1])))
        for line in lines
    ]
    kinds = dict.fromkeys(row["vps_kind"] for row in rows)
    points = [_point(row["team"], row, style_by_team[row["team"]], kinds) for row in rows]
    paths = [_path(line, style_by_team[line.key], kinds) for line in lines]
    marks = _marks(kinds) if len(kinds) > 1 else None
    return Figure(
        key=f"plane-{setting.slug}",
        title=f"Cost against privacy, {title}",
        says=_says(rows, [row["team"] + _suffix(row, kinds) for row in rows], lines),
        drawn=scatter(points, _across(kinds), UPWARD, paths, marks),
        columns=COLUMNS,
        rows=tuple(_rows(rows, lines)),
        sources=sources,
        height=HEIGHT + (70 if lines else 0),
    )


def _is_drawn(row: Row) -> bool:
    return bool(row[VPS] and row[COST])


def _across(kinds: Mapping[str, None]) -> Axis:
    """Return the axis of VPS, which says how it was measured where all were in one way."""
    is_told = len(kinds) == 1 and TYPED not in kinds
    by = f" by {VPS_KIND_NAMES[next(iter(kinds))]}" if is_told else ""
    return Axis(f"Excess VPS{by} (slot-equivalents) →", "excess VPS", is_log1p=True)


def _marks(kinds: Mapping[str, None]) -> tuple[str, str]:
    """Return what full and open points mean."""
    others = [VPS_KIND_NAMES[kind] for kind in kinds if kind != TYPED]
    return f"VPS by {VPS_KIND_NAMES[TYPED]}", f"by {' or '.join(others)}"


def _suffix(row: Row, kinds: Mapping[str, None]) -> str:
    return f" ({VPS_KIND_NAMES[row['vps_kind']]})" if len(kinds) > 1 else ""


def _path(line: Line, style: Style, kinds: Mapping[str, None]) -> Path:
    points = [_point(label, row, style, kinds) for label, row in line.points]
    return Path(line.name, tuple(points), style)


def _point(name: str, row: Row, style: Style, kinds: Mapping[str, None]) -> Point:
    is_open = len(kinds) > 1 and row["vps_kind"] != TYPED
    return Point(name, Value.of(row, VPS), Value.of(row, COST), style, is_open=is_open)


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
