"""The forms that figures take: dots with intervals, stacked bars, lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calbench.report.figures.style import (
    COLOURS,
    DASHES,
    LEGEND,
    PATTERNS,
    QUIET,
    SYMBOLS,
    Drawing,
    Style,
    Value,
    as_data,
    error_bars,
    new_figure,
    plain,
    set_x_title,
    trace,
    wrapped,
)

NAME_WIDTH = 16
"""Characters of a line of a row's name, which leave a phone room for the plot [C]."""

ROW_TITLE_WIDTH = 34
"""Characters of a line of an axis title beside which names of rows stand [C]."""

BELOW_BAR = 0.42
"""Where a sum's interval lies, off its bar's colours."""

LEGEND_LINE = 22
"""Height of a line of a legend in pixels."""


@dataclass(frozen=True)
class Series:
    """Numbers of one kind, one for each name that has it.

    Attributes:
        name: in the legend.
        values: by name on the other axis.
    """

    name: str
    values: Mapping[str, Value]


def height(rows: int, legend: int = 0, each: int = 30) -> int:
    """Return a height in pixels that gives every row its room."""
    return 110 + each * max(rows, 2) + LEGEND_LINE * legend


def dots(
    names: Sequence[str],
    series: Sequence[Series],
    title: str,
    *,
    style_by_name: Mapping[str, Style] | None = None,
    ranges: Series | None = None,
    is_share: bool = False,
    is_close: bool = False,
) -> dict[str, Any]:
    """Return a row of dots with intervals for each name; series lie below each other in it.

    Args:
        names: of the rows, from above.
        series: what to show; those after the first differ in colour and shape.
        title: of the horizontal axis.
        style_by_name: how each name looks, or each series where there are several.
        ranges: broad bars behind the dots, from one end of each value to the other.
        is_share: whether numbers are shares from 0 to 1.
        is_close: whether the axis ends where the shares do, so that small ones can be read.
    """
    figure = new_figure()
    if ranges is not None:
        figure.add_trace(_ranges(names, ranges))
    is_shared = any(sum(name in each.values for each in series) > 1 for name in names)
    step = 0.8 / len(series) if is_shared else 0.0
    for place, each in enumerate(series):
        if not each.values:
            continue
        rows = [(at, name) for at, name in enumerate(names) if name in each.values]
        values = [each.values[name] for _, name in rows]
        known = style_by_name or {}
        by_place = Style(COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)])
        style = known.get(each.name, by_place)
        own = [known.get(name, style) if len(series) == 1 else style for _, name in rows]
        shift = (place - (len(series) - 1) / 2) * step
        figure.add_trace(
            trace(
                "scatter",
                x=[value.number for value in values],
                y=[round(at + shift, 4) for at, _ in rows],
                error_x=error_bars(values, style.colour if len(series) > 1 else QUIET),
                name=plain(each.name),
                mode="markers",
                marker={
                    "color": [one.colour for one in own],
                    "symbol": [one.symbol for one in own],
                    "size": 10,
                },
                text=[plain(name) for _, name in rows],
                hovertemplate=f"%{{text}}, {plain(each.name)}: %{{x}}<extra></extra>",
            )
        )
    _name_rows(figure, names)
    figure.update_layout(showlegend=len(series) > 1 or ranges is not None)
    spans = [value for each in (*series, ranges) if each for value in each.values.values()]
    _measure(figure, title, spans, is_share=is_share, is_close=is_close)
    return as_data(figure)


def _measure(
    figure: Drawing,
    title: str,
    values: Sequence[Value],
    *,
    is_share: bool,
    is_close: bool = False,
) -> None:
    """Set up the horizontal axis, with room for markers at its ends."""
    set_x_title(figure, title, ROW_TITLE_WIDTH)
    low = min([0.0, *(value.ends[0] for value in values)])
    high = max([0.0, *(value.ends[1] for value in values)]) or 1.0
    if is_share:
        figure.update_xaxes(tickformat=".1~%")
    if is_share and not is_close:
        low, high = 0.0, 1.0
    room = 0.05 * (high - low)
    figure.update_xaxes(range=[round(low - room, 6), round(high + room, 6)], zeroline=True)


def _ranges(names: Sequence[str], ranges: Series) -> dict[str, Any]:
    rows = [(at, name) for at, name in enumerate(names) if name in ranges.values]
    ends = [ranges.values[name].ends for _, name in rows]
    return trace(
        "bar",
        x=[round(high - low, 10) for low, high in ends],
        base=[low for low, _ in ends],
        y=[at for at, _ in rows],
        width=0.55,
        orientation="h",
        name=plain(ranges.name),
        marker={"color": "rgba(140,140,140,0.35)", "line": {"color": QUIET, "width": 1}},
        customdata=[list(pair) for pair in ends],
        text=[plain(name) for _, name in rows],
        textposition="none",
        hovertemplate="%{text}: %{customdata[0]} to %{customdata[1]}<extra></extra>",
    )


def _name_rows(figure: Drawing, names: Sequence[str]) -> None:
    """Write the names beside their rows, the first one above."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[wrapped(name, NAME_WIDTH) for name in names],
        range=[len(names) - 0.45, -0.55],
        automargin=True,
        zeroline=False,
        ticklabelstandoff=4,
    )


def bars(
    names: Sequence[str],
    series: Sequence[Series],
    title: str,
    *,
    ends: Series | None = None,
    is_share: bool = False,
    colours: Sequence[str] = COLOURS,
) -> dict[str, Any]:
    """Return stacked bars, with the interval of a sum.

    Args:
        names: of the bars, from above.
        series: the segments, from the left; each has its colour and its pattern.
        title: of the horizontal axis.
        ends: sums with intervals, which are drawn below the bars.
        is_share: whether numbers are shares from 0 to 1.
        colours: of the segments.
    """
    figure = new_figure()
    for place, each in enumerate(series):
        look = colours[place % len(colours)], PATTERNS[place % len(PATTERNS)]
        figure.add_trace(_segments(names, each, *look))
    if ends is not None:
        figure.add_trace(_ends(names, ends))
    _name_rows(figure, names)
    figure.update_layout(barmode="relative", legend={**LEGEND, "traceorder": "normal"})
    sums = [] if ends is None else list(ends.values.values())
    _measure(figure, title, [*sums, *_sums(names, series)], is_share=is_share)
    return as_data(figure)


def _segments(names: Sequence[str], each: Series, colour: str, pattern: str) -> Any:
    """Return one segment of every bar."""
    rows = [(at, name) for at, name in enumerate(names) if name in each.values]
    return trace(
        "bar",
        x=[each.values[name].number for _, name in rows],
        y=[at for at, _ in rows],
        orientation="h",
        width=0.62,
        name=plain(each.name),
        marker={
            "color": colour,
            "line": {"color": QUIET, "width": 0.5},
            "pattern": {
                "shape": pattern,
                "fillmode": "overlay",
                "size": 7,
                "solidity": 0.22,
                "fgcolor": "#20242c",
                "fgopacity": 0.75,
            },
        },
        text=[plain(name) for _, name in rows],
        textposition="none",
        hovertemplate=f"%{{text}}, {plain(each.name)}: %{{x}}<extra></extra>",
    )


def _ends(names: Sequence[str], ends: Series) -> Any:
    """Return the sums with their intervals, below the bars."""
    rows = [(at, name) for at, name in enumerate(names) if name in ends.values]
    values = [ends.values[name] for _, name in rows]
    return trace(
        "scatter",
        x=[value.number for value in values],
        y=[at + BELOW_BAR for at, _ in rows],
        error_x=error_bars(values, QUIET, thickness=2),
        mode="markers",
        name=plain(ends.name),
        marker={"symbol": "line-ns-open", "size": 9, "color": QUIET},
        text=[plain(name) for _, name in rows],
        hovertemplate=f"%{{text}}, {plain(ends.name)}: %{{x}}<extra></extra>",
    )


def _sums(names: Sequence[str], series: Sequence[Series]) -> list[Value]:
    """Return how far the bars reach, right and left."""
    parts = [[s.values[name].number for s in series if name in s.values] for name in names]
    reach = [(sum(n for n in each if n > 0), sum(n for n in each if n < 0)) for each in parts]
    return [Value(f"{end:.10f}") for pair in reach for end in pair]


def lines(
    panels: Mapping[str, Mapping[str, Mapping[int, Value]]],
    style_by_name: Mapping[str, Style],
    title: str,
    y_title: str,
) -> dict[str, Any]:
    """Return lines over a whole number, in panels below each other.

    Points of several names lie a little apart, so that their intervals can be told.

    Args:
        panels: ``[panel][name][number]``.
        style_by_name: how each name looks; dashes follow the order of the names.
        title: of the horizontal axis.
        y_title: of the vertical axes.
    """
    figure = new_figure(y_title, below_title=18 if len(panels) > 1 else 0)
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    numbers = sorted({at for panel in panels.values() for line in panel.values() for at in line})
    gap = 0.12 if len(panels) > 1 else 0.0
    tall = (1 - gap * (len(panels) - 1)) / max(len(panels), 1)
    shown: set[str] = set()
    for row, (panel, found) in enumerate(panels.items()):
        axis = "y" if row == 0 else f"y{row + 1}"
        top = 1 - row * (tall + gap)
        figure.layout[f"yaxis{axis[1:]}"] = {
            "domain": [round(max(0.0, top - tall), 4), round(top, 4)],
            "rangemode": "tozero",
            "zeroline": True,
            "automargin": True,
        }
        if len(panels) > 1:
            figure.add_annotation(
                text=plain(panel), x=0, xref="paper", xanchor="left", xshift=6,
                y=round(top, 4), yref="paper", yanchor="bottom", showarrow=False,
                font={"size": 12},
            )  # fmt: skip
        for name, line in found.items():
            place = names.index(name)
            shift = (place - (len(names) - 1) / 2) * 0.5 / max(len(names), 4)
            drawn = _line(name, line, style_by_name[name], DASHES[place % len(DASHES)], shift)
            figure.add_trace({**drawn, "yaxis": axis, "showlegend": name not in shown})
            shown.add(name)
    set_x_title(figure, title)
    figure.update_xaxes(tickvals=numbers, zeroline=False)
    figure.update_xaxes(anchor="y" if len(panels) < 2 else f"y{len(panels)}")
    return as_data(figure)


def _line(
    name: str, line: Mapping[int, Value], style: Style, dash: str, shift: float
) -> dict[str, Any]:
    values = list(line.values())
    return trace(
        "scatter",
        x=[round(at + shift, 4) for at in line],
        y=[value.number for value in values],
        error_y=error_bars(values, style.colour, thickness=1),
        name=plain(name),
        legendgroup=plain(name),
        mode="lines+markers",
        line={"color": style.colour, "width": 1.5, "dash": dash},
        marker={"color": style.colour, "symbol": style.symbol, "size": 8},
        customdata=list(line),
        hovertemplate=f"{plain(name)}, %{{customdata}}: %{{y}}<extra></extra>",
    )
