"""The mediator: a trusted non-player that makes IMAP's choice from sealed vectors [C].

It is the ideal functionality of the cost-privacy plane: what coordination reveals if all agents
trust one party. A mediator exists for one meeting and knows only the vectors given to it. It is
part of the rules, so replaying a trace includes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from calbench.domain.calendars import all_slots
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CostReport
from calbench.protocols.costs import CostVector, cheapest_slot


@dataclass(frozen=True, slots=True)
class Mediator:
    """What the mediator of one meeting knows.

    Attributes:
        participants: of the meeting.
        num_slots: slots of every calendar.
        vectors: the vectors received so far, by participant.
    """

    participants: tuple[AgentId, ...]
    num_slots: int
    vectors: Mapping[AgentId, CostVector] = field(default_factory=dict)

    def objection(self, sender: AgentId, report: CostReport) -> str | None:
        """Return why a vector cannot be accepted; ``None`` if it can."""
        if sender not in self.participants:
            return "Only participants of the current meeting may hand a vector to the mediator"
        if sender in self.vectors:
            return "The mediator has this agent's vector already"
        if report.slots != all_slots(self.num_slots) or len(report.costs) != self.num_slots:
            return "The mediator takes whole vectors only: one cost for every slot in order"
        return None

    def taking(self, sender: AgentId, report: CostReport) -> "Mediator":
        """Return the mediator with one more vector."""
        return replace(self, vectors={**self.vectors, sender: report.costs})

    @property
    def choice(self) -> Slot | None:
        """IMAP's choice once all vectors are in; ``None`` before, or without a joint slot."""
        if len(self.vectors) < len(self.participants):
            return None
        return cheapest_slot(list(self.vectors.values()))
