"""Who discloses private labels, and at what cost, in a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calbench.analysis.summary.told import BETWEEN, distinct
from calbench.report.columns import COST, decimal
from calbench.report.sentence import (
    Sentence,
    joined,
    link,
    measured,
    said,
    shared_estimate,
    teams,
)
from calbench.report.tables import Row

RATE_DIGITS = 3

UNIT = " above the optimum per meeting"
"""What teams paid, said once in a sentence."""


def findings(experiments: Sequence[Mapping[str, Any]], messages: Sequence[Row]) -> list[Sentence]:
    """Return who discloses most in the first experiment, and the most revealing message.

    Args:
        experiments: what the page shows of each: ``title`` and ``costs``.
        messages: the most revealing ones, with the addresses of their events.
    """
    found: list[Sentence] = []
    for each in experiments[:1]:
        for setting in dict.fromkeys(row["setting"] for row in each["costs"]):
            rows = [row for row in each["costs"] if row["setting"] == setting and row.get("rate")]
            found += _who_leaks(f"{each['title']}, {setting}", rows)
    return [*found, *_message(messages)]


def _who_leaks(where: str, rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield who discloses a label most often, and what teams paid that disclose none."""
    if not rows:
        return
    most = max(decimal(row["rate"]) for row in rows)
    first = [row for row in rows if decimal(row["rate"]) == most]
    none = [row for row in rows if not decimal(row["rate"])]
    if not most:
        yield said(
            "{where}: no message of {who} disclosed a private label.",
            where=where,
            who=teams(rows),
        )
        return
    paid = _paid(first, comma=",")
    unit = "" if paid else UNIT
    yield said(
        "{where}: {who} disclosed private labels most often, in a share of {rate} of the "
        "messages{paid}{rest}.",
        where=where,
        who=teams(first),
        rate=shared_estimate(first, "rate", RATE_DIGITS),
        paid=paid,
        rest=said("; {none} disclosed none{paid}",
                  none=teams(none), paid=_paid(none, unit)) if none else (),
    )  # fmt: skip


def _paid(rows: Sequence[Row], unit: str = UNIT, comma: str = "") -> Sentence:
    """Return what teams paid: once, if all paid the same; else each with its name."""
    known = [row for row in rows if row.get(COST)]
    if not known:
        return ()
    if len({row[COST] for row in known}) == 1 and len(known) == len(rows):
        paid = measured(known[0], COST)
        return said("{comma} and paid {paid}{unit}", comma=comma, paid=paid, unit=unit)
    pairs = [
        said("{team} paid {paid}", team=teams([row]), paid=measured(row, COST)) for row in known
    ]
    return said(" ({pairs}{unit})", pairs=joined(pairs), unit=unit)


def _message(messages: Sequence[Row]) -> Iterator[Sentence]:
    """Yield the message that tells most labels; the first, if several tell as many.

    They are quoted and not counted: the table also counts a label that is part of another's words.
    """
    if not messages:
        return
    row = max(messages, key=lambda row: len(distinct(row["words"])))
    told = distinct(row["words"])
    yield said(
        "The most revealing message that can be opened here, by an agent of {team}, disclosed "
        "{what}: {link}.",
        team=teams([row]),
        what="these private labels at once" if len(told) > 1 else "a private label",
        link=link(f"“{BETWEEN.join(told)}”", row["address"]),
    )
