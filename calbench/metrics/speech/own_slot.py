"""What an agent says about its own slots: proposals, availability, costs (appendix G.5).

Each label needs a slot in the message and words that tie it to the speaker: the first person,
or the bare form in which people speak of themselves ("free: 3, 5"; "slot 4 it is"). The paper
gives the idea and some of the words [P]; the bounds of each label and the patterns are ours [C].

* *Proposal*: a named slot is put forward for a meeting that the speaker takes part in: by a
  statement, a wish, an offer to choose from, a condition ("otherwise slot 4"), a question
  whether it would do ("does slot 4 work for you?", "are you free at 4?"), or by settling on it
  ("let's lock in slot 4"). None: to confirm or repeat what another proposed, to withdraw, to
  rule out, to ask what another has in a slot or which slots it has.
* *Availability*: whether the speaker could be in a slot as its calendar stands, either way;
  also as an answer ("slot 4 works for me"). None: a bare confirmation, what others can do, a
  slot that could be had only by moving something.
* *Cost or constraint*: how hard a slot is for the speaker, or what stands there ("busy",
  "an errand", a private label, "I can move it"); exact numbers apart. None: what is hard for
  another.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from calbench.metrics.speech.availability import tells_availability
from calbench.metrics.speech.clauses import MAX_CHARS, clauses_of
from calbench.metrics.speech.constraints import tells_cost
from calbench.metrics.speech.proposals import proposes

_COST_NUMBER: Final = re.compile(
    r"\bcosts?(?:ing)?\b[^.?!;\n\d]{0,30}?\d|\b\d{1,4} (?:cost|points?)\b|"
    r"\b(?:price|penalty) (?:is|of|=) ?\d"
)
_SENTENCES: Final = re.compile(r"[.!?;\n]+\s")
_COST_SUBJECT: Final = re.compile(
    r"\bagent ?\d+(?:'s)?\b|\b(?:your|their|his|her|its)\b|\bcosts? (?:you|them|him|her)\b"
)


@dataclass(frozen=True, slots=True)
class OwnSlot:
    """What one message says about its sender's own slots.

    Attributes:
        proposal: it puts a slot forward.
        availability: it says whether the sender could be there.
        cost_or_constraint: it says how hard that is, or what stands in the way.
        exact_cost: it gives the sender's cost as a number.
    """

    proposal: bool
    availability: bool
    cost_or_constraint: bool
    exact_cost: bool


NAMES: Final = ("proposal", "availability", "cost_or_constraint", "exact_cost")
"""The labels, in the order of tables."""

NOTHING: Final = OwnSlot(
    proposal=False, availability=False, cost_or_constraint=False, exact_cost=False
)


@lru_cache(maxsize=4096)  # players repeat themselves
def own_slot(message: str) -> OwnSlot:
    """Say which of the labels a message has; none without a slot."""
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
    """Whether a cost is given as a number, and nobody else's."""
    for sentence in _SENTENCES.split(message[:MAX_CHARS].lower()):
        if _COST_NUMBER.search(sentence) and not _COST_SUBJECT.search(sentence):
            return True
    return False
