"""The negotiations of a round: the new meeting, repairs, and the slots they mark [C].

Marks prevent conflicts between the negotiations of one round. An agent marks the slot it proposes
and each slot for which it answers PENDING. A mark belongs to one negotiation, about the new
meeting or the repair of one old meeting: a refusal removes the proposer's mark, and the end of the
negotiation or of the round removes all of them. Marks are never stored, because what was said and
heard determines them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import SlotStatus


@dataclass(slots=True)
class Negotiation:
    """One attempt to agree on a slot, as one agent knows it.

    Attributes:
        proposed: of a proposer: the slot it proposed last.
        replies: of a proposer: the answers to it, the first of each agent.
        promised: of a responder: the slots for which it answered PENDING.
        is_over: whether its end was announced.
        agreed: the slot of the announcement; absent if it failed.
    """

    proposed: Slot | None = None
    replies: dict[AgentId, SlotStatus] = field(default_factory=dict)
    promised: set[Slot] = field(default_factory=set)
    is_over: bool = False
    agreed: Slot | None = None

    def propose(self, slot: Slot) -> None:
        """Propose a slot; sent to several agents, it counts once."""
        if slot != self.proposed:
            self.proposed = slot
            self.replies = {}

    def end(self, agreed: Slot | None) -> bool:
        """Close the negotiation; return whether it was open before."""
        if self.is_over:
            return False
        self.is_over = True
        self.agreed = agreed
        return True

    def is_answered(self, asked: tuple[AgentId, ...]) -> bool:
        """Whether all agents asked have answered the open proposal."""
        return self.proposed is not None and len(self.replies) == len(asked)

    @property
    def is_refused(self) -> bool:
        """Whether an agent answered IMPOSSIBLE."""
        return "IMPOSSIBLE" in self.replies.values()

    def marks(self) -> Iterator[Slot]:
        """Yield the slots this negotiation marks on the agent's own calendar."""
        if self.is_over:
            return
        if self.proposed is not None and not self.is_refused:
            yield self.proposed
        yield from self.promised


@dataclass(slots=True)
class Repair(Negotiation):
    """The move of one old meeting; ``agreed`` is the target all its participants move to.

    Attributes:
        meeting_id: the old meeting.
        repairer: its initiator, which proposes targets.
        others: its other participants; known only to the repairer.
        new_slot: the slot of the new meeting.
        tried: the targets proposed so far.
    """

    meeting_id: MeetingId = field(kw_only=True)
    repairer: AgentId = field(kw_only=True)
    others: tuple[AgentId, ...] = field(kw_only=True, default=())
    new_slot: Slot = field(kw_only=True)
    tried: set[Slot] = field(kw_only=True, default_factory=set)
