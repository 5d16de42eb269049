"""What the examples of a prompt name: slots, agents and meetings that this game has.

They follow from the shape of the game and the agent's number alone, so they tell nothing of any
calendar. The slots of two agents differ as long as there are enough of them: agents that copy an
example instead of the slot that was agreed do not meet by it.
"""

from typing import NamedTuple

from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.observations import Briefing

EXAMPLE_ITEM = ErrandId(100)
"""Number of the item in an example [C]: errands are numbered from 101."""


class Example(NamedTuple):
    """What the examples for one agent name.

    Attributes:
        first: a slot.
        second: another one; the same if a calendar has one slot only.
        recipient: the next agent; absent if there is no other.
        meeting_id: of the last meeting of the game.
    """

    first: Slot
    second: Slot
    recipient: AgentId | None
    meeting_id: MeetingId


def example_of(briefing: Briefing) -> Example:
    """Return what the examples for an agent name [C].

    Of S slots and n agents the k-th agent reads of slot ``k S // n`` and of the one after it,
    with the last followed by the first.
    """
    ids = briefing.agent_ids
    place = ids.index(briefing.agent_id)
    first = place * briefing.num_slots // len(ids)
    after = ids[(place + 1) % len(ids)]
    return Example(
        Slot(first),
        Slot((first + 1) % briefing.num_slots),
        None if after == briefing.agent_id else after,
        MeetingId(briefing.num_meetings),
    )
