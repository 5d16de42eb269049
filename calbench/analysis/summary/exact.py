"""The paper's Table 2 on its own tasks, cell by cell."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import pandas as pd

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import AS_RELEASED
from calbench.analysis.summary.runs import Runs, RunTables, summary
from calbench.analysis.summary.table2 import HALVES, SINGLE, published_rows

PLAYED = "table2"
"""The experiment that plays its protocols on the paper's own tasks."""

ENDS = ("least", "greatest")

OPEN = {
    "sd-map": "open: its printed row fits no rule that was tried; played as the text says",
    "excess_vps": "open: 23.55 if all offers are as wide as allowed, against the text's utility",
}
"""What is not explained, by protocol or measure."""


@summary(
    "table2_cells.csv",
    """
    setting
    team (text; P): of the published row
    measure (text; P): a measure of Table 2
    published (text; P): the number as printed
    ours (number, of the measure; R): on the same tasks, by the same settings and measures
    equal (truth; C): ours has the printed digits
    least (number, of the measure; C): over all best schedules; empty where they do not matter
    greatest (number, of the measure; C): over all best schedules
    cause (text; C): empty where equal; ties: the printed number lies between these; open: not
        explained
    """,
    key="setting team measure",
)
def table2_cells(runs: Runs) -> pd.DataFrame:
    """Each number of the paper's Table 2 beside ours on the paper's own 90 tasks."""
    published = published_rows(runs)
    own = [run for run in runs.drawn if run.name == PLAYED]
    found = [cell for run in own for half in HALVES for cell in _cells(run, half, published)]
    return pd.DataFrame(found)


def _cells(run: RunTables, half: str, published: pd.DataFrame) -> Iterator[dict[str, object]]:
    theirs, ours = (_by_team(run.named(path), half) for path in ("authors.csv", "leaderboard.csv"))
    if published.empty:
        return
    rows = published[(published["source"] == "paper") & (published["setting"] == half)]
    for row in rows.to_dict("records"):
        name = str(row["team"])
        team = SINGLE.get(name, name)
        if team in theirs:
            played = {measure: ours[team][measure] for measure in HEADLINE}
            played |= {name: theirs[team][column] for name, column in AS_RELEASED.items()}
            for measure, value in played.items():
                names = {"setting": half, "team": name, "measure": measure}
                ends = [theirs[team].get(f"{AS_RELEASED.get(measure)}_{end}") for end in ENDS]
                yield {**names, **_cell(name, measure, str(row[measure]), value, ends)}


def _by_team(rows: pd.DataFrame, half: str) -> dict[str, dict[Hashable, Any]]:
    """Return the rows on the paper's tasks of one half."""
    if rows.empty:
        return {}
    own = rows[rows["setting"] == half]
    return {str(row["team"]): row for row in own.to_dict("records")}


def _cell(
    team: str, measure: str, printed: str, ours: float, ends: Sequence[float | None]
) -> dict[str, object]:
    """Compare one number; ``ends`` are absent where best schedules do not matter."""
    digits = len(printed.partition(".")[2])
    is_equal = f"{ours:.{digits}f}" == printed
    cause = "" if is_equal else _cause(team, measure, float(printed), ends, 0.5 / 10**digits)
    shown = {"published": printed, "ours": ours, "equal": is_equal, "cause": cause}
    return {**shown, **dict(zip(ENDS, ends, strict=True))}


def _cause(
    team: str, measure: str, printed: float, ends: Sequence[float | None], rounding: float
) -> str:
    if team in OPEN:
        return OPEN[team]
    match ends:
        case float(least), float(greatest) if least - rounding <= printed <= greatest + rounding:
            return "ties"
    return OPEN.get(measure, "open")
