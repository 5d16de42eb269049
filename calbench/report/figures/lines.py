"""Lines between points: over a whole number in panels, or over the number of agents."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

from calbench.report.figures.figure import Figure
from calbench.report.figures.style import (
    DASHES,
    QUIET,
    TEXT,
    Drawn,
    Style,
    Styles,
    Value,
    drawing,
    error_bars,
    plain,
    trace,
)
from calbench.report.labels import CHARACTER, LINE
from calbench.report.tables import Row, grouped

GAP = 0.12
"""Between panels, as a share of the plot's height [C]."""

SPREAD = 0.5
"""Over which the points of several names lie apart, in the numbers of the axis [C]."""

OTHERS = 98
"""Height of titles and ticks in pixels, about [C]."""

Panel = Mapping[str, Mapping[int, Value]]
"""``[name][number]``."""


def line(
    name: str, values: Sequence[Value], style: Style, place: int, *, thick: float = 1.5, **more: Any
) -> Drawn:
    """Return points of one name with intervals upward, joined by a line.

    Args:
        name: in the legend.
        values: upward.
        style: its colour and shape.
        place: among the names; dashes follow it.
        thick: of the line, in pixels.
        more: properties of Plotly.
    """
    return trace(
        "scatter",
        y=[value.number for value in values],
        error_y=error_bars(values, style.colour, thickness=1),
        name=plain(name),
        mode="lines+markers",
        line={"color": style.colour, "width": thick, "dash": DASHES[place % len(DASHES)]},
        **more,
    )


def lines(
    panels: Mapping[str, Panel], style_by_name: Styles, title: str, y_title: str, height: int
) -> Drawn:
    """Return lines over a whole number, in panels below each other, with names at their ends.

    Points of several names are a little apart, so that their intervals can be distinguished.

    Args:
        panels: by title.
        style_by_name: how each name looks; dashes follow the order of the names.
        title: of the horizontal axis.
        y_title: of the vertical axes.
        height: of the figure in pixels.
    """
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    first: dict[str, int] = {}
    for row, panel in enumerate(panels.values()):
        first = {**dict.fromkeys(panel, row), **first}
    traces = [
        _line(name, found, style_by_name[name], names, _axis(row), is_named=first[name] == row)
        for row, panel in enumerate(panels.values())
        for name, found in panel.items()
    ]
    numbers = sorted({at for panel in panels.values() for found in panel.values() for at in found})
    far = max(numbers, default=0) + SPREAD / 2
    axes, titles = _panels(panels)
    count = max(len(panels), 1)
    tall = (height - OTHERS) * (1 - GAP * (count - 1)) / count
    written: list[dict[str, Any]] = []
    for row, panel in enumerate(panels.values()):
        last = {name: (far, found[max(found)].number) for name, found in panel.items()}
        written += ends(last, axes[f"yaxis{_axis(row)[1:]}"]["range"], tall, _axis(row))
    return drawing(
        traces,
        title,
        y_title,
        below_title=18 if len(panels) > 1 else 0,
        right=room(written),
        showlegend=False,
        xaxis={
            "tickvals": numbers,
            "range": [min(numbers, default=0) - SPREAD, round(far + 0.08, 4)],
            "zeroline": False,
            "anchor": _axis(max(len(panels) - 1, 0)),
        },
        annotations=[*titles, *written],
        **axes,
    )


def ends(
    last: Mapping[str, tuple[float, float]], span: Sequence[float], tall: float, axis: str = "y"
) -> list[dict[str, Any]]:
    """Return the names of lines beside their ends, none on another.

    Args:
        last: where each line ends, on its axes.
        span: ends of the vertical axis.
        tall: height of the plot in pixels.
        axis: the vertical axis.
    """
    scale = tall / (span[1] - span[0])
    in_order = sorted(last, key=lambda name: last[name][1])
    wanted = [(last[name][1] - span[0]) * scale for name in in_order]
    places: list[float] = []
    for at in wanted:
        places.append(max(at, places[-1] + LINE) if places else at)
    excess = max(0.0, places[-1] - tall) if places else 0.0
    for place in reversed(range(len(places))):
        above = places[place + 1] - LINE if place + 1 < len(places) else places[place] - excess
        places[place] = min(places[place], above)
    far = max((x for x, _ in last.values()), default=0.0)
    return [
        {
            "x": far, "y": last[name][1], "xref": "x", "yref": axis, "text": plain(name),
            "showarrow": True, "arrowhead": 0, "arrowwidth": 0.8, "arrowcolor": QUIET,
            "xanchor": "left", "xshift": 8, "ax": 18, "ay": round(own - at, 1),
            "font": {"size": TEXT}, "borderpad": 0,
        }
        for name, at, own in zip(in_order, places, wanted, strict=True)
    ]  # fmt: skip


def room(written: Sequence[Mapping[str, Any]]) -> int:
    """Return how wide the margin for names beside lines is."""
    return round(CHARACTER * max((len(each["text"]) for each in written), default=0)) + 36


def _axis(row: int) -> str:
    return "y" if row == 0 else f"y{row + 1}"


def _panels(panels: Mapping[str, Panel]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the vertical axes of panels below each other, and the titles above them."""
    gap = GAP if len(panels) > 1 else 0.0
    tall = (1 - gap * (len(panels) - 1)) / max(len(panels), 1)
    tops = [1 - row * (tall + gap) for row in range(len(panels))]
    axes: dict[str, Any] = {
        f"yaxis{_axis(row)[1:]}": {
            "domain": [round(max(0.0, top - tall), 4), round(top, 4)],
            "range": _span(
                [e for found in panel.values() for v in found.values() for e in v.reach]
            ),
        }
        for row, (top, panel) in enumerate(zip(tops, panels.values(), strict=True))
    }
    titles = [
        {
            "text": plain(title), "x": 0, "xref": "paper", "xanchor": "left", "xshift": 6,
            "y": round(top, 4), "yref": "paper", "yanchor": "bottom", "showarrow": False,
            "font": {"size": TEXT},
        }
        for title, top in zip(panels, tops, strict=True)
    ]  # fmt: skip
    return axes, titles if len(titles) > 1 else []


def _span(reached: Sequence[float]) -> list[float]:
    """Return the ends of a vertical axis from zero, with room above."""
    low, high = min([0.0, *reached]), max([0.0, *reached]) or 1.0
    return [round(low - 0.04 * (high - low), 6), round(high + 0.06 * (high - low), 6)]


def _line(
    name: str,
    found: Mapping[int, Value],
    style: Style,
    names: Sequence[str],
    axis: str,
    *,
    is_named: bool,
) -> Drawn:
    place = names.index(name)
    shift = (place - (len(names) - 1) / 2) * SPREAD / max(len(names), 4)
    return line(
        name,
        list(found.values()),
        style,
        place,
        x=[round(at + shift, 4) for at in found],
        legendgroup=plain(name),
        marker={"color": style.colour, "symbol": style.symbol, "size": 8},
        customdata=list(found),
        hovertemplate=f"{plain(name)}, %{{customdata}}: %{{y}}<extra></extra>",
        yaxis=axis,
        showlegend=is_named,
    )


HEIGHT = 420
"""Of a figure in pixels, without what it says itself [C]."""

COLUMNS = ("team", "agents", "scenarios", "value", "low", "high")
"""Of a row: a team's value with the ends of its range, by the number of agents, and of how many
scenarios it is the mean."""


def over_agents(
    key: str,
    title: str,
    unit: str,
    rows: Sequence[Row],
    style_by_team: Styles,
    sources: Sequence[str],
    *,
    is_log: bool = False,
) -> Figure:
    """Return one measure over the number of agents, a curve for each team.

    Args:
        key: of the figure.
        title: of the measure.
        unit: of the measure.
        rows: what is drawn, with :data:`COLUMNS`; each team's from the fewest agents up.
        style_by_team: how each team looks.
        sources: tables that the numbers are from.
        is_log: whether the measure's axis is logarithmic.
    """
    measured = unit.removeprefix(f"{title.lower()} ")
    return Figure(
        key=key,
        measured=("value",),
        title=f"{title} over the number of agents",
        drawn=_drawing(
            rows, f"{title} ({measured})" if unit else title, style_by_team, is_log=is_log
        ),
        columns=COLUMNS,
        rows=rows,
        sources=sources,
    )


def _drawing(rows: Sequence[Row], y_title: str, looks: Styles, *, is_log: bool) -> Drawn:
    """Return the curves, with the name of each at its end."""
    sizes = sorted({row["agents"] for row in rows})
    curves = grouped(rows, "team")
    reached = [end for row in rows for end in _value(row).reach]
    span = _log_span(reached) if is_log else _span(reached)
    edges = list(zip((sizes[:1] or [1]) + (sizes[-1:] or [1]), (-0.06, 0.03), strict=True))
    written = ends(_last(curves, is_log=is_log), span, HEIGHT - OTHERS)
    return drawing(
        [_curve(own, looks[team], place) for place, (team, own) in enumerate(curves.items())],
        "Agents",
        y_title,
        xaxis={
            "type": "log",
            "range": [round(log10(size) + end, 4) for size, end in edges],
            "tickvals": sizes,
            "ticktext": [str(size) for size in sizes],
        },
        yaxis={"range": span, **({"type": "log", "dtick": 1} if is_log else {})},
        annotations=written,
        right=room(written),
        showlegend=False,
    )


def _last(curves: Mapping[str, Sequence[Row]], *, is_log: bool) -> dict[str, tuple[float, float]]:
    """Return where curves end; Plotly takes the logarithm of places on logarithmic axes."""
    found = {}
    for team, rows in curves.items():
        value = rows[-1]["value"]
        upward = log10(value) if is_log and value > 0 else value
        found[team] = (round(log10(rows[-1]["agents"]), 6), upward)
    return found


def _log_span(reached: Sequence[float]) -> list[float]:
    """Return the ends of a logarithmic axis."""
    powers = [log10(each) for each in reached if each > 0]
    return [round(min(powers, default=0.0) - 0.1, 4), round(max(powers, default=1.0) + 0.1, 4)]


def _value(row: Row) -> Value:
    return Value(row["value"], row["low"], row["high"])


def _curve(rows: Sequence[Row], style: Style, place: int) -> Drawn:
    team = rows[0]["team"]
    return line(
        team,
        list(map(_value, rows)),
        style,
        place,
        thick=2,
        x=[row["agents"] for row in rows],
        marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        hovertemplate=f"{plain(team)}, %{{x}} agents: %{{y}}<extra></extra>",
    )
