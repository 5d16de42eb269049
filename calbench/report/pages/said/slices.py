"""Who ranks first among players of several teams, and by what, in a sentence."""

from collections.abc import Mapping, Sequence

from calbench.report.columns import decimal
from calbench.report.sentence import Sentence, cell, joined, names, said, text
from calbench.report.tables import Row

PARTS = {
    "coordination": "coordination",
    "adjusted_excess_cost": "adjusted excess cost",
    "excess_vps_per_meeting": "excess VPS per meeting",
}
"""The ratings of which MMR is the mean."""

REFERENCE = "reference"
"""Kind of the silent seat beside the players."""


def findings(rows: Sequence[Row], ratings: Sequence[Row]) -> list[Sentence]:
    """Return the player of the first rank in each setting, with the range of its rank.

    Args:
        rows: of ``ratings_further.csv``.
        ratings: of ``ratings.csv``, of the same experiment.
    """
    found: list[Sentence] = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting and row["rank"] == "1"]
        if own and all(row["rank_low"] for row in own):
            players = [row for row in ratings if row["setting"] == setting]
            found.append(
                said(
                    "{where}: {who} {have} the highest MMR{mean}{leads}.",
                    where="All settings together" if setting == "all" else setting.capitalize(),
                    who=_ranked(own),
                    have="has" if len(own) == 1 else "have",
                    mean=_mean() if not found else "",
                    leads=_leads(own[0], players) if len(own) == 1 else (),
                )
            )
    return found


def _mean() -> Sentence:
    """Return what MMR is, for the first sentence that names it."""
    parts = joined([text(words) for words in PARTS.values()])
    return said(", the mean of the ratings of {parts}", parts=parts)


def _ranked(rows: Sequence[Row]) -> Sentence:
    """Return players with the range of their rank: once, if they share it."""
    if len({(row["rank_low"], row["rank_high"]) for row in rows}) == 1:
        who = names(row["player"] for row in rows)
        return said("{who} ({rank})", who=who, rank=_range(rows[0]))
    return joined(
        [said("{who} ({rank})", who=names([row["player"]]), rank=_range(row)) for row in rows]
    )


def _range(row: Row) -> Sentence:
    low, high = row["rank_low"], row["rank_high"]
    if low == high:
        return said("rank {low}", low=cell(low))
    return said("rank {low} to {high}, so others may be as good", low=cell(low), high=cell(high))


def _leads(first: Row, ratings: Sequence[Row]) -> Sentence:
    """Return in which of the ratings the first is above all others; nothing if these are absent."""
    same = ("player", "settings_digest", "pool")
    own = [row for row in ratings if all(row.get(key) == first.get(key) for key in same)]
    others = [
        row
        for row in ratings
        if row not in own and row["kind"] != REFERENCE and row.get("pool") == first.get("pool")
    ]
    if len(own) != 1 or not others:
        return ()
    parts = [text(PARTS[name]) for name in PARTS if _is_above(own[0], others, name)]
    if len(parts) == len(PARTS):
        return text("; it leads alone in each of these ratings")
    if not parts:
        return text("; it leads alone in none of these ratings")
    return said("; it leads alone only in the rating of {parts}", parts=joined(parts))


def _is_above(row: Mapping[str, str], others: Sequence[Row], name: str) -> bool:
    column = f"{name}_ordinal"
    known = [decimal(each[column]) for each in others if each[column]]
    return bool(row[column] and known) and decimal(row[column]) > max(known)
