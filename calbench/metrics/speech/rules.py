"""What grammar finds about an agent's own slots (appendix G.5) [C]: features of the trained detectors.

Each label needs a slot in the message and words that refer to the speaker: the first person, or
the short form in which people speak about themselves ("free: 3, 5"; "slot 4 it is").
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from calbench.metrics.speech.availability import tells_availability, tells_cost
from calbench.metrics.speech.clauses import MAX_CHARS, clauses_of
from calbench.metrics.speech.proposals import proposes

# e.g. "it would cost me 4", "4 points"; not "a high cost. slot 4 is free"
_COST_NUMBER: Final = re.compile(
    r"\bcosts?(?:ing)?\b[^.?!;\n\d]{0,30}?\d|\b\d{1,4} (?:cost|points?)\b|"
    r"\b(?:price|penalty) (?:is|of|=) ?\d"
)
# e.g. "slot 3 works. thanks"; not "about 2.5 hours"
_SENTENCES: Final = re.compile(r"[.!?;\n]+\s")
# e.g. "it costs you 4", "agent 2's cost is 4"; not "it costs me 4"
_COST_SUBJECT: Final = re.compile(
    r"\bagent ?\d+(?:'s)?\b|\b(?:your|their|his|her|its)\b|\bcosts? (?:you|them|him|her)\b"
)


class OwnSlot(NamedTuple):
    """What one message says about its sender's own slots.

    Attributes:
        proposal: it proposes a slot.
        availability: it says whether the sender can be there.
        cost_or_constraint: it says how hard that is, or what is there.
        exact_cost: it gives the sender's cost as a number.
    """

    proposal: bool = False
    availability: bool = False
    cost_or_constraint: bool = False
    exact_cost: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that the message has, in the order of tables."""
        return tuple([name for name, is_found in zip(NAMES, self, strict=True) if is_found])


NAMES: Final = OwnSlot._fields
"""The labels, in the order of tables."""

NOTHING: Final = OwnSlot()


@lru_cache(maxsize=4096)  # players repeat themselves
def ruled_slot(message: str) -> OwnSlot:
    """Return which of the labels the rules find in a message; none without a slot."""
    clauses = clauses_of(message)
    if not any(clause.slots for clause in clauses):
        return NOTHING
    cost_number = _tells_own_cost(message)
    return OwnSlot(
        proposal=proposes(clauses),
        availability=any(tells_availability(clause) for clause in clauses),
        cost_or_constraint=cost_number or any(map(tells_cost, clauses)),
        exact_cost=cost_number,
    )


def _tells_own_cost(message: str) -> bool:
    """Whether a cost is given as a number, and is the speaker's."""
    for sentence in _SENTENCES.split(message[:MAX_CHARS].lower()):
        if _COST_NUMBER.search(sentence) and not _COST_SUBJECT.search(sentence):
            return True
    return False
