"""A measure of every job of a sweep: over the key that was swept, or job by job."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from calbench.report.columns import MEASURE_BY_NAME
from calbench.report.figures.charts import Series, dots
from calbench.report.figures.lines import line
from calbench.report.figures.style import Value, checked, drawing, series_styles
from calbench.report.tables import Row

if TYPE_CHECKING:
    import plotly.graph_objects as go


def swept(rows: Sequence[Row], measure: str, keys: Sequence[str] = ()) -> "go.Figure":
    """Return a measure with its interval for each team, in a sweep for each of each job.

    Args:
        rows: of a leaderboard, with ``team``, and those of a sweep with ``job`` and its keys.
        measure: a column of it.
        keys: that were swept. The one of them with the most numbers is the horizontal axis; a
            line joins what is equal in all others. Without one there is a row for each job.
    """
    about = MEASURE_BY_NAME[measure]
    title = f"{about.title} ({about.unit})"
    shown = [row for row in rows if row[measure] is not None]
    across = _across(shown, keys)
    if across is None:
        series = Series.of(about.title, shown, measure, name_of)
        return checked(dots(list(series.values), [series], title))
    found: dict[str, list[Row]] = {}
    for row in sorted(shown, key=lambda row: float(row[across])):
        others = [f"{key}={row[key]}" for key in keys if key != across]
        found.setdefault(" ".join([str(row["team"]), *others]), []).append(row)
    style_by_name = series_styles(list(found))
    traces = [
        line(
            name,
            [Value.of(row, measure) for row in each],
            style_by_name[name],
            place,
            x=[float(row[across]) for row in each],
        )
        for place, (name, each) in enumerate(found.items())
    ]
    return checked(drawing(traces, across, title, showlegend=len(found) > 1))


def name_of(row: Row) -> str:
    """Return what a row is of: a team, with its job in a sweep, or its experiment of several.

    A job that is called after its team, ``seed=0,teams=imap``, does not say it twice.
    """
    team, experiment = str(row["team"]), row.get("experiment")
    job = [part for part in str(row.get("job", "")).split(",") if part.partition("=")[2] != team]
    of = "" if experiment in (None, row["setting"]) else str(experiment)
    return " ".join(filter(None, (of, ",".join(job), team)))


def _across(rows: Sequence[Row], keys: Sequence[str]) -> str | None:
    """Return the key with the most numbers, if one has two."""
    values = {key: {row[key] for row in rows} for key in keys}
    numbers = [key for key in keys if all(isinstance(each, int | float) for each in values[key])]
    found = max(numbers, key=lambda key: len(values[key]), default=None)
    return None if found is None or len(values[found]) < 2 else found
