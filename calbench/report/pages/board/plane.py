"""A team's place between cost and privacy: a small picture without scripts.

Only teams of one pool whose privacy was measured in one way are in one picture. As in the large
plane, equal steps to the right are equal factors of 1 + VPS.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from calbench.analysis.measures import MIXED
from calbench.report.columns import VPS, decimal
from calbench.report.kind import kind_of
from calbench.report.pages.board.fields import FIRST_MEASURE
from calbench.report.tables import Row

WIDTH, HEIGHT, MARGIN = 260, 170, 26
"""Of the picture, in its own units [C]."""


@dataclass(frozen=True)
class Mark:
    """A team in the picture: its place, its kind, and whether it is the one of the page."""

    team: str
    kind: str
    x: int
    y: int
    is_own: bool


def marks(rows: Sequence[Row], own: Row) -> list[Mark]:
    """Return the marks of a pool, that of the page's team last; none without its numbers."""
    if not _is_placed(own):
        return []
    alike = _alike(rows, own)
    across = [log1p(max(0.0, float(decimal(row[VPS])))) for row in alike]
    upwards = [float(decimal(row[FIRST_MEASURE])) for row in alike]
    found = [
        Mark(
            row["team"],
            kind_of(row["kind"]).id,
            MARGIN + _scaled(x, across, WIDTH),
            HEIGHT - MARGIN - _scaled(y, upwards, HEIGHT),
            row["team"] == own["team"],
        )
        for row, x, y in zip(alike, across, upwards, strict=True)
    ]
    return sorted(found, key=lambda mark: mark.is_own)


def limits(rows: Sequence[Row], own: Row) -> dict[str, str]:
    """Return the greatest cell on each axis of the picture: its ends, beside zero."""
    if not _is_placed(own):
        return {}
    alike = _alike(rows, own)
    return {
        "across": max((row[VPS] for row in alike), key=decimal),
        "up": max((row[FIRST_MEASURE] for row in alike), key=decimal),
    }


def _alike(rows: Sequence[Row], own: Row) -> list[Row]:
    return [row for row in rows if _is_placed(row) and row["vps_kind"] == own["vps_kind"]]


def _is_placed(row: Row) -> bool:
    return bool(row[FIRST_MEASURE] and row[VPS]) and row["vps_kind"] != MIXED


def _scaled(value: float, values: Sequence[float], length: int) -> int:
    """Return where a value is between 0 and the greatest one."""
    return round((length - 2 * MARGIN) * max(0.0, value) / (max(values) or 1.0))
