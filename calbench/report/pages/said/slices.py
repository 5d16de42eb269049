"""Who ranks first among players of several teams, in a sentence."""

from collections.abc import Sequence

from calbench.report.pages.said.sentence import Sentence, cell, names, said
from calbench.report.tables import Row


def findings(rows: Sequence[Row]) -> list[Sentence]:
    """Return the player of the first rank in each setting, with the range of its rank.

    Args:
        rows: of ``ratings_further.csv``.
    """
    found = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting and row["rank"] == "1"]
        if own and own[0]["rank_low"]:
            row = own[0]
            is_sure = row["rank_low"] == row["rank_high"]
            rank = (
                said("rank {low}", low=cell(row["rank_low"]))
                if is_sure
                else said("rank {low} to {high}", low=cell(row["rank_low"]),
                          high=cell(row["rank_high"]))
            )  # fmt: skip
            found.append(
                said(
                    "{where}: {who} {verb} rated best ({rank}{open}).",
                    where="All settings together" if setting == "all" else setting.capitalize(),
                    who=names(each["player"] for each in own),
                    verb="is" if len(own) == 1 else "are",
                    rank=rank,
                    open="" if is_sure else ", so others may be as good",
                )
            )
    return found
