"""How many of the paper's numbers our games reproduce, in a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from calbench.analysis.summary.table2 import LEVEL
from calbench.report.columns import DIGITS, decimal
from calbench.report.sentence import Sentence, cell, joined, said, text
from calbench.report.tables import Row

SURE = Decimal(str(LEVEL))
"""The level of the counts in ``table2_counts.csv``."""

PLAYED = {
    "release": "played as in the authors' release",
    "text": "played as in the paper's text",
}


def findings(
    counts: Sequence[Row], rows: Sequence[Row], protocols: Mapping[str, str]
) -> list[Sentence]:
    """Return how many numbers of the paper lie far from ours, and which rows do not.

    Args:
        counts: ``table2_counts.csv``.
        rows: ``table2_rows.csv``.
        protocols: titles of published teams.
    """
    found = [
        each
        for variant, words in PLAYED.items()
        for row in counts
        if (row["source"], row["variants"], row["ties"]) == ("paper", variant, "canonical")
        for each in _count(row, words)
    ]
    return [*found, *_rows(rows, protocols)]


def _count(row: Row, words: str) -> Iterator[Sentence]:
    if not int(row["cells"]):
        return
    below, expected = decimal(row["below"]), decimal(row["expected"])
    yield said(
        "Of the {cells} numbers of the paper's Table 2 that can vary, {below} {verb} from ours "
        "with p below {level} if protocols are {words}; that is {than} the {expected} to be "
        "expected by chance.",
        cells=cell(row["cells"]),
        below=cell(row["below"]),
        verb="differs" if below == 1 else "differ",
        level=f"{LEVEL:g}",
        words=words,
        than="more than" if below > expected else "no more than",
        expected=cell(row["expected"], DIGITS),
    )


def _rows(rows: Sequence[Row], protocols: Mapping[str, str]) -> Iterator[Sentence]:
    """Yield the rows of the paper that agree with ours as a whole, and those that do not."""
    held = [
        row
        for row in rows
        if (row["source"], row["ties"]) == ("paper", "canonical")
        and "release" in row["plays_as"].split()
        and row["p"]
    ]
    agree = [row for row in held if decimal(row["p"]) >= SURE]
    differ = [row for row in held if decimal(row["p"]) < SURE]

    def listed(found: Sequence[Row]) -> Sentence:
        return joined(
            [
                text(f"{protocols.get(row['published_team'], row['published_team'])} "
                     f"({row['setting']})")
                for row in found
            ]
        )  # fmt: skip

    if agree:
        yield said(
            "Tested as a whole, {rows} of the paper {verb} not differ significantly from "
            "ours played as in the release{rest}.",
            rows=said("the row{s} {who}", s="s" if len(agree) > 1 else "", who=listed(agree)),
            verb="do" if len(agree) > 1 else "does",
            rest=said("; {who} {verb}", who=listed(differ),
                      verb="do" if len(differ) > 1 else "does") if differ else (),
        )  # fmt: skip
    elif differ:
        yield said("Tested as a whole, every row differs significantly from ours.")
