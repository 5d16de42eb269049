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
    slots = [Slot(slot) for slot in range(asked.num_slots or 0)]
    return {
        "beliefs": {
            str(agent): [_change(ledger, agent, slot) for slot in slots] for agent in asked.others
        }
    }


def _change(ledger: Ledger, agent: AgentId, slot: Slot) -> int:
    if ledger.votes.get(agent) == slot:
        return AGREED
    level = ledger.levels.get(agent, {}).get(slot)
    if level is not None:
        return CHANGES[level]
    return PROPOSED if slot in ledger.proposed.get(agent, ()) else 0
