"""Measures over the number of agents."""

from collections.abc import Mapping, Sequence

from calbench.report.figures import words
from calbench.report.figures.figure import Figure
from calbench.report.figures.style import (
    DASHES,
    Style,
    Value,
    as_data,
    error_bars,
    new_figure,
    plain,
    set_x_title,
    trace,
)

COLUMNS = ("team", "agents", "value", "low", "high")


def curves(
    key: str,
    title: str,
    unit: str,
    lines: Mapping[str, Sequence[tuple[int, str, str, str]]],
    style_by_team: Mapping[str, Style],
    sources: Sequence[str],
    *,
    is_log: bool = False,
) -> Figure:
    """Return one measure over the number of agents, a curve for each team.

    Args:
        key: of the figure.
        title: of the measure.
        unit: of the measure.
        lines: by team, number of agents with a value and the ends of its range.
        style_by_team: how each team looks.
        sources: tables that the numbers are from.
        is_log: whether the measure's axis is logarithmic.
    """
    measured = unit.removeprefix(f"{title.lower()} ")
    figure = new_figure(f"{title} ({measured})" if unit else title)
    for place, (team, points) in enumerate(lines.items()):
        style = style_by_team[team]
        figure.add_trace(
            trace(
                "scatter",
                x=[agents for agents, *_ in points],
                y=[float(value) for _, value, _, _ in points],
                error_y=error_bars([Value(*p[1:]) for p in points], style.colour, thickness=1),
                name=plain(team),
                mode="lines+markers",
                line={"color": style.colour, "width": 2, "dash": DASHES[place % len(DASHES)]},
                marker={"color": style.colour, "symbol": style.symbol, "size": 9},
                hovertemplate=f"{plain(team)}, %{{x}} agents: %{{y}}<extra></extra>",
            )
        )
    sizes = sorted({agents for points in lines.values() for agents, *_ in points})
    set_x_title(figure, "Agents")
    figure.update_xaxes(type="log", tickvals=sizes, ticktext=[str(n) for n in sizes])
    scale = {"type": "log", "dtick": 1} if is_log else {"rangemode": "tozero"}
    figure.update_yaxes(automargin=True, **scale)
    return Figure(
        key=key,
        title=f"{title} over the number of agents",
        says=_says(title, lines),
        drawn=as_data(figure),
        columns=COLUMNS,
        rows=tuple(
            dict(zip(COLUMNS, (team, str(agents), *cells), strict=True))
            for team, points in lines.items()
            for agents, *cells in points
        ),
        sources=tuple(sources),
        note="Lines only guide the eye between the sizes.",
    )


def _says(title: str, lines: Mapping[str, Sequence[tuple[int, str, str, str]]]) -> str:
    said = [f"{title} of {len(lines)} teams, a curve each."]
    for pick, word in ((min, "fewest"), (max, "most")):
        sizes = {agents for points in lines.values() for agents, *_ in points}
        if sizes:
            size = pick(sizes)
            cells = {t: p[1] for t, points in lines.items() for p in points if p[0] == size}
            said.append(f"With the {word} agents, {size}: {words.extremes(cells, title.lower())}")
    return " ".join(said)
