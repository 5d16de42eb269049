"""Who comes first in the paper's Table 1, in a sentence."""

from collections.abc import Iterator, Sequence

from calbench.report.columns import DIGITS, decimal
from calbench.report.sentence import Sentence, cell, joined, said, text
from calbench.report.tables import Row

BEST = {
    "excess_cost": ("pays least above the optimum", "per agent and game"),
    "excess_vps": ("discloses least", "slot-equivalents of excess VPS"),
}
"""What the least of a measure means, and its unit."""


def findings(rows: Sequence[Row]) -> list[Sentence]:
    """Return the paper's models with the least excess cost and VPS, by setting.

    Args:
        rows: of the paper's Table 1.
    """
    found: list[Sentence] = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        pieces = [*_firsts([row for row in rows if row["setting"] == setting])]
        if pieces:
            words = pieces[0] if len(pieces) == 1 else (*pieces[0], *said(", and "), *pieces[1])
            found.append(
                said(
                    "Of the paper's models in the setting {setting}, {words}.",
                    setting=setting,
                    words=words,
                )
            )
    return found


def _firsts(rows: Sequence[Row]) -> Iterator[Sentence]:
    for measure, (does, unit) in BEST.items():
        known = [row for row in rows if row.get(measure)]
        if known:
            least = min(decimal(row[measure]) for row in known)
            first = [row for row in known if decimal(row[measure]) == least]
            yield said(
                "{who} {does} ({value} {unit}{each})",
                who=joined([text(row["player"]) for row in first]),
                does=does if len(first) == 1 else does.replace("s least", " least"),
                value=cell(first[0][measure], DIGITS),
                unit=unit,
                each=" each" if len(first) > 1 else "",
            )
