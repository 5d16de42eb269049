"""Who comes first by a measure, as the rank ranges of a table say it."""

from collections.abc import Iterator, Sequence

from calbench.report.columns import MEASURE_BY_NAME, decimal
from calbench.report.sentence import (
    Sentence,
    joined,
    names,
    said,
    shared_estimate,
    teams,
    text,
)
from calbench.report.tables import Row

DOES = {
    "coordination": "schedules the largest share of meetings, in percent",
    "adjusted_excess_cost": "pays least above the optimum per meeting",
    "excess_cost": "pays least above the optimum per agent and game",
    "excess_vps": "discloses least of its calendars (excess VPS)",
}
"""What the best of a measure does."""

DO = {
    "coordination": "schedule the largest share of meetings, in percent",
    "adjusted_excess_cost": "pay least above the optimum per meeting",
    "excess_cost": "pay least above the optimum per agent and game",
    "excess_vps": "disclose least of their calendars (excess VPS)",
}
"""What several of them do."""


def best(rows: Sequence[Row], measure: str) -> list[Row]:
    """Return the ranked rows with the best value of a measure; several if they share it."""
    ranked = [row for row in rows if row.get(measure) and row.get(f"{measure}_rank_low")]
    if not ranked:
        return []
    values = [decimal(row[measure]) for row in ranked]
    top = max(values) if MEASURE_BY_NAME[measure].better == "higher" else min(values)
    return [row for row, value in zip(ranked, values, strict=True) if value == top]


def leader(rows: Sequence[Row], measure: str) -> Sentence | None:
    """Return who is best by a measure and whether the tables set it apart from all others.

    Args:
        rows: of one setting and pool, with the ranges of ranks (standings.csv).
        measure: its name.
    """
    found = best(rows, measure)
    if not found:
        return None
    digits = MEASURE_BY_NAME[measure].digits
    return said(
        "{who} {verb}: {value}{each}{rank}",
        who=teams(found),
        verb=(DOES if len(found) == 1 else DO)[measure],
        value=shared_estimate(found, measure, digits),
        each=" each" if len(found) > 1 else "",
        rank=_rank(found, rows, measure),
    )


def _rank(first: Sequence[Row], rows: Sequence[Row], measure: str) -> Sentence:
    """Say which other teams are not significantly worse, as letters and ranges of ranks have it.

    Nothing is said of all that come first if it does not hold of each of them.
    """
    teams = {row["team"] for row in first}
    others = [row for row in rows if row["team"] not in teams and row.get(f"{measure}_rank_low")]
    alike = {tuple(_alike(row, others, measure)) for row in first}
    if not others or len(alike) > 1:
        return ()
    (found,) = alike
    if not found:
        return text(", significantly better than all other ranked teams")
    if len(found) == len(others):
        return text(", not significantly better than any other ranked team")
    return said(", not significantly better than {who}", who=names(found))


def _alike(row: Row, others: Sequence[Row], measure: str) -> list[str]:
    """Return the teams that a team is not told apart from: they share a letter with it."""
    own = set(row[f"{measure}_letters"].split())
    return [each["team"] for each in others if own & set(each[f"{measure}_letters"].split())]


def leaders(where: str, rows: Sequence[Row], measures: Sequence[str]) -> list[Sentence]:
    """Return a sentence for each instrument and measure of which somebody is ranked.

    Args:
        where: the games, in words that begin a sentence.
        rows: of one setting.
        measures: their names. Excess VPS is asked once per instrument.
    """
    return [said("{where}, {found}.", where=where, found=found) for found in _each(rows, measures)]


def leaders_of(where: str, rows: Sequence[Row], measures: Sequence[str]) -> list[Sentence]:
    """Return the same as one sentence; none if nobody is ranked."""
    found = joined([*_each(rows, measures)], last="; ", between="; ")
    return [said("{where}, {found}.", where=where, found=found)] if found else []


def _each(rows: Sequence[Row], measures: Sequence[str]) -> Iterator[Sentence]:
    for measure in measures:
        kinds = dict.fromkeys(row.get("vps_kind", "") for row in rows)
        groups = (
            [[row for row in rows if row.get("vps_kind", "") == kind] for kind in kinds]
            if measure == "excess_vps"
            else [list(rows)]
        )
        for own in groups:
            found = leader(own, measure)
            if found is not None:
                yield found
