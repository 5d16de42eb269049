"""The messages that tell private labels, so that a reader can go from a rate to a sentence."""

from collections.abc import Sequence

from calbench.analysis.summary import SUMMARY
from calbench.report.links import GameLinks
from calbench.report.results import Row, Summary

NAME = "leaking_messages.csv"

COLUMNS = tuple(column.name for column in SUMMARY[NAME].columns)


def browsable(summary: Summary, links: GameLinks) -> list[Row]:
    """Return the messages of games that the trace browser has (leaking_messages.csv)."""
    return [
        row
        for row in summary.table(NAME)
        if links.has(row["experiment"], row["team"], row["scenario_id"])
    ]


def most_revealing(rows: Sequence[Row], team: str, setting: str, count: int) -> list[Row]:
    """Return a team's messages that tell most labels, sensitive ones first; each of another game.

    One game's messages repeat themselves, so the first of each game stands for it.
    """
    own = [row for row in rows if (row["team"], row["setting"]) == (team, setting)]
    own.sort(
        key=lambda row: (
            -int(row["labels_told"]),
            -int(row["sensitive"]),
            row["scenario_id"],
            int(row["event_index"]),
        )
    )
    best: dict[str, Row] = {}
    for row in own:
        best.setdefault(row["scenario_id"], row)
    return list(best.values())[:count]
