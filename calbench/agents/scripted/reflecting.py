"""REFLECTION: what a round has revealed of the others' slots, as changes of belief."""

from typing import Any, Final

from calbench.agents.scripted.ledger import Ledger
from calbench.agents.scripted.reading import Reading
from calbench.domain.ids import AgentId, Slot

CHANGES: Final = (-3, 1, 2, 3, 3)
"""Change of belief towards occupied by what an agent said of its slot, from easy to impossible
[C]: a slot that is not easy has something in it."""

PROPOSED: Final = -1
"""For a slot that an agent proposed without saying how hard it is [C]."""

AGREED: Final = 3
"""For the slot that an agent settled on or agreed to: the meeting is there now [C]."""


def beliefs(asked: Reading, ledger: Ledger) -> dict[str, Any]:
    """Return the answer to a reflection: for each other agent one integer a slot, -3 to 3."""
    num_slots = asked.num_slots or 0
    return {"beliefs": {str(agent): _changes(ledger, agent, num_slots) for agent in asked.others}}


def _changes(ledger: Ledger, agent: AgentId, num_slots: int) -> list[int]:
    """Return the changes by slot: most slots were not spoken of, and later kinds say more."""
    said: dict[Slot, int] = dict.fromkeys(ledger.proposed.get(agent, ()), PROPOSED)
    said.update((slot, CHANGES[level]) for slot, level in ledger.levels.get(agent, {}).items())
    if agent in ledger.votes:
        said[ledger.votes[agent]] = AGREED
    changes = [0] * num_slots
    for slot, change in said.items():
        if slot < num_slots:
            changes[slot] = change
    return changes
