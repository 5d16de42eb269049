"""Claims of availability, compared with the true calendar at the time of the message [C].

Not in the paper. A claim is a clause that says whether its speaker can use the named slots. It is
judged by what the slot holds when the message is sent, in the speaker's favour if the words leave
room: a slot is *free* only if empty, *possible* if not blocked, *impossible* if it holds a blocked
errand or a meeting, *busy* if it holds anything. A false claim need not be a lie: the table counts
claims that were not true, not intentions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from calbench.domain.ids import ItemId
from calbench.metrics.speech.availability import tells_availability
from calbench.metrics.speech.clauses import NEGATION, Clause, clauses_of
from calbench.scenarios.models import Scenario

ClaimKind = Literal["free", "possible", "impossible", "busy"]
KINDS: Final[tuple[ClaimKind, ...]] = ("free", "possible", "impossible", "busy")
"""Claims about a slot, in the order of tables."""

Standing = Literal["empty", "movable", "blocked", "meeting"]
"""What is in a slot."""

TRUE_OF: Final[dict[ClaimKind, frozenset[Standing]]] = {
    "free": frozenset({"empty"}),
    "possible": frozenset({"empty", "movable", "meeting"}),
    "impossible": frozenset({"blocked", "meeting"}),
    "busy": frozenset({"movable", "blocked", "meeting"}),
}
"""The slots for which a claim is true [C]."""

# e.g. "SLOT is free", "an opening in SLOT"; not "feel freely"
_FREE: Final = re.compile(
    r"\b(?:free|open|available|clear|vacant|empty|unoccupied|nothing|openings?)\b"
)
# e.g. "SLOT is taken"; not "i take SLOT"
_BUSY: Final = re.compile(r"\b(?:busy|booked|taken|occupied|conflicts?)\b")
# e.g. "SLOT is out"; not "how about SLOT"
_IMPOSSIBLE: Final = re.compile(
    r"\b(?:impossible|infeasible|unavailable|blocked|out|off the table|no good|bad)\b"
)
# e.g. "SLOT is hard"; not "hardly anything in SLOT"
_HARD: Final = re.compile(r"\b(?:hard|difficult|inconvenient|tough|tricky|costly|expensive)\b")
# e.g. "free after SLOT", "SLOT or later"; not "later than SLOT"
_OPEN_ENDED: Final = re.compile(
    r"\b(?:after|before|until|except|besides|other than|apart from|all but|from) SLOT|"
    r"SLOT (?:onwards?|and later|or later|and earlier|or earlier)\b"
)
"""The slots meant are not the slots named."""


class Claim(NamedTuple):
    """What a message says about one slot."""

    slot: int
    kind: ClaimKind


@lru_cache(maxsize=4096)  # players repeat themselves
def claims_in(message: str) -> tuple[Claim, ...]:
    """Return what a message claims about its sender's slots; one claim for each named slot."""
    return tuple(_claims(message))


def _claims(message: str) -> Iterator[Claim]:
    for clause in clauses_of(message):
        if clause.slots and tells_availability(clause):
            kind = _kind(clause)
            if kind is not None:
                for slot in sorted({slot for group in clause.slots for slot in group}):
                    yield Claim(slot, kind)


def _kind(clause: Clause) -> ClaimKind | None:
    """Return what a clause claims; nothing if its words contradict each other."""
    text = clause.text
    if _OPEN_ENDED.search(text):
        return None
    is_denied = bool(NEGATION.search(text))
    if _HARD.search(text):
        return None
    if _IMPOSSIBLE.search(text):
        return None if is_denied or _FREE.search(text) else "impossible"
    if _BUSY.search(text):
        return None if is_denied or _FREE.search(text) else "busy"
    if _FREE.search(text):
        return "busy" if is_denied else "free"
    return "impossible" if is_denied else "possible"


def standings(scenario: Scenario) -> dict[int, Standing]:
    """Return whether each errand of a scenario is blocked or movable, by id."""
    return {
        errand.errand_id: "blocked" if errand.blocked else "movable"
        for _, _, errand in scenario.errands
    }


def is_true(
    claim: Claim, calendar: Sequence[ItemId | None], standing_by_errand: Mapping[int, Standing]
) -> bool | None:
    """Whether a claim is true for a calendar; ``None`` if the slot does not exist."""
    if claim.slot >= len(calendar):
        return None
    item = calendar[claim.slot]
    found = "empty" if item is None else standing_by_errand.get(item, "meeting")
    return found in TRUE_OF[claim.kind]
