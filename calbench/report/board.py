"""What the leaderboard shows: every team of every comparable set of games, and the oracle.

Teams stand in one view if they played the same scenarios over the same channels. All of it stands
in ``leaderboard.csv`` of the tables over several runs, cell by cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calbench.analysis.summary import SUMMARY
from calbench.analysis.tables.standings import USAGE_COLUMNS
from calbench.report.results import ExperimentResults, Row, confidence_of, level_of

COLUMNS = tuple(column.name for column in SUMMARY["leaderboard.csv"].columns)
"""Of ``tables/leaderboard.csv``. ``_n`` are agent-games, ``_letters`` the letter display."""

*USAGE, PRICE_PER_GAME = (column.name for column in USAGE_COLUMNS)
"""What teams asked of models, and what a game cost."""


@dataclass(frozen=True)
class View:
    """Rows that may stand beside each other.

    Attributes:
        setting: of the scenarios.
        channel: in words.
        experiments: whose teams these are.
        rows: by column of :data:`COLUMNS`, the oracle's last.
        confidence: of the intervals, as pages say it.
        level: p-values below it tell teams apart, likewise.
    """

    setting: str
    channel: str
    experiments: tuple[str, ...]
    rows: tuple[Row, ...]
    confidence: str
    level: str


def views_of(rows: Sequence[Row], experiments: Sequence[ExperimentResults]) -> tuple[View, ...]:
    """Return what can be chosen on the leaderboard.

    Args:
        rows: of the leaderboard of all runs.
        experiments: those that it has.
    """
    by_name = {results.name: results for results in experiments}
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["setting"], row["channel"]), []).append(row)
    return tuple(_view(*place, own, by_name) for place, own in groups.items())


def _view(
    setting: str, channel: str, rows: Sequence[Row], by_name: Mapping[str, ExperimentResults]
) -> View:
    names = tuple(dict.fromkeys(row["experiment"] for row in rows if row["experiment"]))
    shown = [by_name[name] for name in names if name in by_name]
    return View(setting, channel, names, tuple(rows), confidence_of(shown), level_of(shown))
