"""What an agent says about its own slots: proposals, availability, costs (appendix G.5).

Each label needs a slot in the message and words that refer to the speaker: the first person, or
the short form in which people speak about themselves ("free: 3, 5"; "slot 4 it is"). The paper
gives the idea and some of the words [P]; the limits of each label and the patterns are ours [C].

* *Proposal*: a named slot is proposed for a meeting of the speaker: by a statement, a wish, an
  offer of several slots, a condition ("otherwise slot 4"), a question whether it is possible
  ("does slot 4 work for you?", "are you free at 4?"), or a decision ("let's lock in slot 4"). Not
  included: confirming or repeating another agent's proposal, withdrawing, ruling out, asking what
  another agent has in a slot or which slots it has.
* *Availability*: whether the speaker can use a slot with its calendar as it is; also as an answer
  ("slot 4 works for me"). Not included: a bare confirmation, what others can do, a slot that is
  possible only after a move.
* *Cost or constraint*: how hard a slot is for the speaker, or what is there ("busy", "an errand", a
  private label, "I can move it"); exact numbers are a label of their own. Not included: what is
  hard for another agent.
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
        proposal: it proposes a slot.
        availability: it says whether the sender can be there.
        cost_or_constraint: it says how hard that is, or what is there.
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
    """Return which of the labels a message has; none without a slot."""
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
