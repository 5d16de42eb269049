"""How far a very small model gets, in a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calbench.report.columns import DIGITS, decimal
from calbench.report.sentence import Sentence, cell, estimate, said, teams
from calbench.report.tables import Row


def findings(outcomes: Sequence[Mapping[str, Any]], baselines: Sequence[Row]) -> list[Sentence]:
    """Return how many meetings its first team scheduled, and whether its beliefs are knowledge.

    Args:
        outcomes: how meetings ended, with the ``title`` of the games.
        baselines: what VPS would be without knowledge.
    """
    found = [_scheduled(row) for row in outcomes[:1]]
    for row in outcomes[:1]:
        own = [each for each in baselines if each["team"] == row["team"]]
        found += _knowledge([each for each in own if each["title"] == row["title"]])
    return found


def _scheduled(row: Mapping[str, Any]) -> Sentence:
    return said(
        "In games with the model in every seat ({title}), {scheduled} of {meetings} meetings "
        "were scheduled; {inconsistent} were not, because their participants chose "
        "different slots.",
        title=row["title"],
        scheduled=cell(row["scheduled"]),
        meetings=cell(row["meetings"]),
        inconsistent=cell(row["inconsistent_slots"]),
    )


def _knowledge(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield whether beliefs are nearer to the truth than the same answers at random."""
    for row in rows[:1]:
        low, high = row.get("vps_beyond_chance_low"), row.get("vps_beyond_chance_high")
        if not low or not high:
            continue
        if decimal(low) > 0:
            words = "are nearer to the truth"
        elif decimal(high) < 0:
            words = "are further from the truth"
        else:
            words = "cannot be shown to be nearer to the truth"
        yield said(
            "What its agents say they have learnt of each other's calendars in games of {team} "
            "{words} than the same answers given at random: the difference is {beyond} "
            "slot-equivalents.",
            team=teams([row]),
            words=words,
            beyond=estimate(row, "vps_beyond_chance", DIGITS),
        )
