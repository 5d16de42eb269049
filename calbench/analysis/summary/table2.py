"""Our draws of the canonical suites compared with published numbers of the paper's Table 2."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import pandas as pd

from calbench.analysis.summary.runs import (
    EXPERIMENT,
    Runs,
    RunTables,
    summary,
    together,
    without_version,
)
from calbench.analysis.tables.draws import DRAW, ENDS, HEADLINE
from calbench.errors import FileError
from calbench.facts.columns import DIGITS, SETTING, TEAM, number, text
from calbench.facts.frames import read_text, rounded

TIES = "fairness_over_ties"
"""Range of fairness over all optimal schedules, in addition to the measures."""


def published_protocol(team: str, published: "pd.Series[str]") -> str | None:
    """Return the published protocol of a team; names of variants begin with the protocol's."""
    fits = [name for name in published if team == name or team.startswith(f"{name}-")]
    return max(fits, key=len, default=None)


@summary(
    "table2.csv",
    (EXPERIMENT, *without_version("draws.csv")),
    key="experiment setting team measure",
)
def table2(runs: Runs) -> pd.DataFrame:
    """The paper's protocols on several draws of each suite, in the order of its Table 2."""
    rows = together("draws.csv", runs.drawn)
    published = _published(runs)
    if rows.empty or published.empty:
        return pd.DataFrame()
    names = published["team"].drop_duplicates(ignore_index=True)
    order = {name: place for place, name in enumerate(names)}
    protocols = rows["team"].map(lambda team: order.get(published_protocol(team, names) or ""))
    rows = rows.assign(protocol=protocols).dropna(subset="protocol")
    return rows.sort_values(["setting", "protocol"], kind="stable")


def _published(runs: Runs) -> pd.DataFrame:
    """Return the published rows of Table 2 as printed."""
    path = runs.published / "table2.csv"
    return read_text(path) if path.is_file() else pd.DataFrame()


class _Ours(NamedTuple):
    """Our results of a published protocol by one of our teams in one setting."""

    run: RunTables
    team: str
    setting: str
    ranges: pd.DataFrame

    def range_of(self, measure: str) -> tuple[Decimal, Decimal] | None:
        """Return the least and the greatest of our draws; for ties, over all optimal schedules."""
        low, high = ENDS if measure == TIES else (measure, measure)
        if not {low, high} <= set(self.ranges.index):
            return None
        least, greatest = self.ranges["least"], self.ranges["greatest"]
        return _decimal(least[low]), _decimal(greatest[high])

    def intervals_of(self, measure: str) -> Iterator[tuple[Decimal, Decimal]]:
        """Yield the intervals of the draws."""
        board = self.run.table("leaderboard.csv")
        drawn = board["setting"].str.extract(DRAW)[0] == self.setting
        rows = board[drawn & (board["team"] == self.team)]
        for low, high in zip(rows[f"{measure}_low"], rows[f"{measure}_high"], strict=True):
            if pd.notna(low) and pd.notna(high):
                yield _decimal(low), _decimal(high)


def _decimal(value: float) -> Decimal:
    return Decimal(rounded(value, DIGITS))


@summary(
    "table2_places.csv",
    (
        text("source", "paper or release"),
        SETTING,
        text("published_team", "protocol of the published row"),
        EXPERIMENT,
        TEAM,
        text("measure", "a measure, or fairness_over_ties: over all optimal schedules"),
        text("published", "the number as printed", "P, R"),
        number("least", "of the measure", "of our draws"),
        number("greatest", "of the measure", "of our draws"),
        text("place", "among ours, in an interval of a draw, below ours or above ours", "C"),
    ),
    key="source setting published_team experiment team measure",
)
def table2_places(runs: Runs) -> pd.DataFrame:
    """Position of each published number of Table 2 relative to our draws."""
    ours, published = table2(runs), _published(runs)
    if ours.empty:
        return ours
    names = published["team"].drop_duplicates()
    by_name = {run.name: run for run in runs.drawn}
    found = []
    for names_of, rows in ours.groupby(["setting", "protocol", "experiment", "team"], sort=False):
        setting, _, experiment, team = map(str, names_of)
        played = _Ours(by_name[experiment], team, setting, rows.set_index("measure"))
        protocol = published_protocol(team, names)
        theirs = published[(published["setting"] == setting) & (published["team"] == protocol)]
        found += [
            {"experiment": experiment, "team": team, "published_team": protocol, **place}
            for _, row in theirs.iterrows()
            for place in _places(played, row)
        ]
    return pd.DataFrame(found)


def _places(ours: _Ours, published: "pd.Series[str]") -> Iterator[dict[str, object]]:
    """Yield the positions of the numbers of a published row."""
    for measure in (*HEADLINE, TIES):
        printed = published["fairness" if measure == TIES else measure]
        ends = ours.range_of(measure)
        if isinstance(printed, str) and ends is not None:
            yield {
                "source": published["source"],
                "setting": published["setting"],
                "measure": measure,
                "published": printed,
                "least": float(ends[0]),
                "greatest": float(ends[1]),
                "place": _place(ours, measure, _printed(printed), ends),
            }


def _printed(text: str) -> Decimal:
    """Return a published number; a :class:`FileError` if it is none."""
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise FileError(f"a published table holds {text!r:.40} where a number should be") from error
    if not value.is_finite():
        raise FileError(f"a published table holds {text!r:.40} where a finite number should be")
    return value


def _place(ours: _Ours, measure: str, value: Decimal, ends: tuple[Decimal, Decimal]) -> str:
    """Return the position of a published number, which is known to half of its last digit."""
    half = Decimal((0, (5,), int(value.as_tuple().exponent) - 1))

    def holds(low: Decimal, high: Decimal) -> bool:
        return low - half <= value <= high + half

    if holds(*ends):
        return "among ours"
    if measure != TIES and any(holds(*interval) for interval in ours.intervals_of(measure)):
        return "in an interval"
    return "below ours" if value < ends[0] else "above ours"
