"""Charts with a row for each name: dots with intervals, and stacked bars."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from calbench.report.figures.style import (
    PATTERNS,
    QUIET,
    SERIES,
    SYMBOLS,
    Drawn,
    Style,
    Styles,
    Value,
    drawing,
    error_bars,
    plain,
    trace,
    wrapped,
)
from calbench.report.tables import Row

NAME_WIDTH = 16
"""Characters of a line of a row's name, which leave a phone room for the plot [C]."""

ROW_TITLE_WIDTH = 34
"""Characters of a line of an axis title beside names of rows [C]."""

BELOW_BAR = 0.42
"""Where a sum's interval is, in rows from its bar's middle: off the bar's colours [C]."""

LEGEND_LINE = 22
"""Height of a line of a legend in pixels [C]."""


@dataclass(frozen=True)
class Series:
    """Numbers of one kind, one for each name that has it.

    Attributes:
        name: in the legend.
        values: by name on the other axis.
        is_open: whether only the outlines of marks are drawn.
    """

    name: str
    values: Mapping[str, Value]
    is_open: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        rows: Iterable[Row],
        measure: str,
        name_of: Callable[[Row], str] = itemgetter("team"),
    ) -> "Series":
        """Return a measure of rows with its interval, by team if not by another name."""
        return cls(name, {name_of(row): Value.of(row, measure) for row in rows})

    def among(self, names: Sequence[str]) -> tuple[list[int], list[str], list[Value]]:
        """Return places, names and values of those names that have a value."""
        rows = [(at, name) for at, name in enumerate(names) if name in self.values]
        shown = [name for _, name in rows]
        return [at for at, _ in rows], shown, [self.values[name] for name in shown]


def height(rows: int, legend: int = 0, each: int = 30) -> int:
    """Return a height in pixels that gives every row its room."""
    return 110 + each * max(rows, 2) + LEGEND_LINE * legend


def dots(
    names: Sequence[str],
    series: Sequence[Series],
    title: str,
    *,
    style_by_name: Styles | None = None,
    ranges: Series | None = None,
    is_share: bool = False,
    is_close: bool = False,
) -> Drawn:
    """Return a row of dots with intervals for each name; series are below each other in it.

    Args:
        names: of the rows, from above.
        series: what to show; those after the first differ in colour and shape.
        title: of the horizontal axis.
        style_by_name: how each name looks, or each series where there are several.
        ranges: broad bars behind the dots, from one end of each value to the other.
        is_share: whether numbers are shares from 0 to 1.
        is_close: whether the axis ends where the shares do, so that small ones can be read.
    """
    looks = style_by_name or {}
    is_shared = any(sum(name in each.values for each in series) > 1 for name in names)
    is_by_row = len(series) == 1 or not any(each.name in looks for each in series)
    step = 0.8 / len(series) if is_shared else 0.0
    traces = [] if ranges is None else [_ranges(names, ranges)]
    for place, each in enumerate(series):
        if each.values:
            shift = (place - (len(series) - 1) / 2) * step
            by_place = Style(SERIES[place % len(SERIES)], SYMBOLS[place % len(SYMBOLS)])
            style = looks.get(each.name, by_place)
            own = {name: looks.get(name, style) for name in names} if looks and is_by_row else {}
            traces.append(_dots(names, each, shift, style, own))
    return _in_rows(
        traces,
        names,
        title,
        [value for each in (*series, ranges) if each for value in each.values.values()],
        is_share=is_share,
        is_close=is_close,
        showlegend=len(series) > 1 or ranges is not None,
    )


def _dots(
    names: Sequence[str], series: Series, shift: float, style: Style, style_by_name: Styles
) -> Drawn:
    """Return the dots of one series, in styles of their own or all in one."""
    places, shown, values = series.among(names)
    own = [style_by_name.get(name, style) for name in shown]
    return trace(
        "scatter",
        x=[value.number for value in values],
        y=[round(at + shift, 4) for at in places],
        error_x=error_bars(values, QUIET if style_by_name else style.colour),
        mode="markers",
        marker={
            "color": [one.colour for one in own],
            "symbol": [one.symbol + "-open" * series.is_open for one in own],
            "size": 10,
            "line": {"width": 2 if series.is_open else 0},
        },
        **_named(series, shown),
        customdata=[value.why for value in values],
    )


def _named(series: Series, names: Sequence[str]) -> dict[str, Any]:
    """Return what the legend and the pointer say of a series."""
    name = plain(series.name)
    return {
        "name": name,
        "text": [plain(each) for each in names],
        "hovertemplate": f"%{{text}}, {name}: %{{x}}%{{customdata}}<extra></extra>",
    }


def _ranges(names: Sequence[str], ranges: Series) -> Drawn:
    places, shown, values = ranges.among(names)
    ends = [value.reach for value in values]
    said = {"hovertemplate": "%{text}: %{customdata[0]} to %{customdata[1]}<extra></extra>"}
    return trace(
        "bar",
        x=[round(high - low, 10) for low, high in ends],
        base=[low for low, _ in ends],
        y=places,
        width=0.55,
        orientation="h",
        marker={"color": "rgba(140,140,140,0.35)", "line": {"color": QUIET, "width": 1}},
        customdata=ends,
        textposition="none",
        **{**_named(ranges, shown), **said},
    )


def bars(
    names: Sequence[str],
    series: Sequence[Series],
    title: str,
    *,
    ends: Series,
    is_share: bool = False,
) -> Drawn:
    """Return stacked bars, with the interval of a sum.

    Args:
        names: of the bars, from above.
        series: the segments, from the left; each has its colour and its pattern.
        title: of the horizontal axis.
        ends: sums with intervals, which are drawn below the bars.
        is_share: whether numbers are shares from 0 to 1.
    """
    segments = [
        _segments(names, each, SERIES[place % len(SERIES)], PATTERNS[place % len(PATTERNS)])
        for place, each in enumerate(series)
    ]
    return _in_rows(
        [*segments, _ends(names, ends)],
        names,
        title,
        [*ends.values.values(), *_sums(names, series)],
        is_share=is_share,
        barmode="relative",
        legend={"traceorder": "normal"},
    )


def _segments(names: Sequence[str], series: Series, colour: str, pattern: str) -> Drawn:
    """Return one segment of every bar."""
    places, shown, values = series.among(names)
    return trace(
        "bar",
        x=[value.number for value in values],
        y=places,
        orientation="h",
        width=0.62,
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
        textposition="none",
        customdata=[""] * len(shown),
        **_named(series, shown),
    )


def _ends(names: Sequence[str], ends: Series) -> Drawn:
    """Return the sums with their intervals, below the bars."""
    places, shown, values = ends.among(names)
    return trace(
        "scatter",
        x=[value.number for value in values],
        y=[at + BELOW_BAR for at in places],
        error_x=error_bars(values, QUIET, thickness=2),
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 9, "color": QUIET},
        customdata=[value.why for value in values],
        **_named(ends, shown),
    )


def _sums(names: Sequence[str], series: Sequence[Series]) -> list[Value]:
    """Return how far the bars reach, right and left."""
    parts = [[s.values[name].number for s in series if name in s.values] for name in names]
    reach = [(sum(n for n in each if n > 0), sum(n for n in each if n < 0)) for each in parts]
    return [Value(round(end, 10)) for pair in reach for end in pair]


def _in_rows(
    traces: Sequence[Any],
    names: Sequence[str],
    title: str,
    values: Sequence[Value],
    *,
    is_share: bool,
    is_close: bool = False,
    **layout: Any,
) -> Drawn:
    """Return a figure with names beside its rows, and room for markers at the ends of its axis."""
    low = min([0.0, *(value.reach[0] for value in values)])
    high = max([0.0, *(value.reach[1] for value in values)]) or 1.0
    if is_share and not is_close:
        low, high = 0.0, 1.0
    room = 0.05 * (high - low)
    across = {"range": [round(low - room, 6), round(high + room, 6)]}
    return drawing(
        traces,
        title,
        width=ROW_TITLE_WIDTH,
        xaxis={**across, **({"tickformat": ".1~%"} if is_share else {})},
        yaxis={
            "tickvals": list(range(len(names))),
            "ticktext": [wrapped(name, NAME_WIDTH) for name in names],
            "range": [len(names) - 0.45, -0.55],
            "zeroline": False,
            "ticklabelstandoff": 4,
        },
        **layout,
    )
