"""Instruments of VPS: what was measured by two of them is never on one axis.

Certainty about a slot is half a slot-equivalent for typed messages and a whole one for reflections,
and expected answers are not the integers that agents wrote. So a number by one instrument says
nothing about a number by another.
"""

from collections.abc import Iterable, Sequence

from calbench.errors import CalbenchError
from calbench.report.columns import VPS_KIND_NAMES
from calbench.report.tables import Row

TYPED = "protocol"
"""What typed messages mean."""


def named(kind: str) -> str:
    """Return an instrument in words."""
    return VPS_KIND_NAMES.get(kind, kind)


def instruments(rows: Iterable[Row]) -> list[str]:
    """Return the instruments that measured the VPS of rows (``vps_kind``), as they first come."""
    return list(dict.fromkeys(row["vps_kind"] for row in rows))


def by_instrument(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return rows by the instrument that measured their VPS."""
    return {kind: [row for row in rows if row["vps_kind"] == kind] for kind in instruments(rows)}


def one_instrument(rows: Iterable[Row], title: str) -> str:
    """Return the instrument that measured the VPS of all rows; empty without rows.

    Raises:
        CalbenchError: there are several, which a figure must not draw on one axis.
    """
    found = instruments(rows)
    if len(found) > 1:
        kinds = " and ".join(map(named, found))
        raise CalbenchError(
            f"{title}: VPS by {kinds} cannot be drawn on one axis; each has a figure of its own"
        )
    return found[0] if found else ""
