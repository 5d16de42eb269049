"""What one agent knows about this round, derived from its transcript (paper, appendix D.2).

Only what was said and heard, in order, enters the memory. An agent that is asked again, or whose
turn is played again, therefore knows the same.

Marks prevent conflicts between the negotiations of one round [C]. An agent marks the slot it
proposes and each slot for which it answers PENDING. A mark belongs to one negotiation, about the
new meeting or the repair of one old meeting: a refusal removes the proposer's mark, and the end of
the negotiation or of the round removes all of them. Marks are never stored, because what was said
and heard determines them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from calbench.domain.calendars import Booking, Calendar, Meeting, first_free
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import (
    Fail,
    Propose,
    ProposeReschedule,
    RescheduleRequest,
    SlotStatus,
)
from calbench.domain.observations import Observation
from calbench.protocols.base import own_meeting, partners

Weights = tuple[float, ...]
"""Difficulty weights by agent id."""


def difficulty(meeting: Meeting, agent: AgentId, weights: Weights | None) -> float:
    """Return how hard a meeting is to schedule as one participant sees it [P].

    The sum of the weights of its *other* participants; without weights each weighs 1.
    """
    participants = meeting.participants
    if weights is None:
        return len(participants) - participants.count(agent)
    return sum([weights[other] for other in participants if other != agent])


def is_bumpable(existing: Meeting, new: Meeting, agent: AgentId, weights: Weights | None) -> bool:
    """Whether an own meeting may be displaced: only if it is strictly less difficult [P]."""
    return difficulty(existing, agent, weights) < difficulty(new, agent, weights)


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


class Memory:
    """Facts of this round and what follows from them.

    Attributes:
        has_free: whether a slot of the agent's calendar is free.
        meeting: the meeting under discussion; absent for an outsider.
        initiator: the agent that leads its negotiation; absent for an outsider.
        responders: the other participants, ascending, if this agent leads it.
        negotiation: the agreement on its slot.
        repairs: repairs this agent leads or was asked about, in the order they began.
    """

    __slots__ = (
        "_weights",
        "agent_id",
        "calendar",
        "earlier",
        "has_free",
        "initiator",
        "meeting",
        "negotiation",
        "repairs",
        "responders",
    )

    def __init__(self, observation: Observation, weights: Weights | None) -> None:
        """Begin with the agent's calendar, which does not change during the talk of a round."""
        self.earlier = observation.earlier
        self._weights = weights
        self.agent_id = observation.agent_id
        self.calendar: Calendar = observation.calendar
        self.has_free = first_free(self.calendar) is not None
        self.meeting = meeting = own_meeting(observation)
        self.initiator: AgentId | None = None
        self.responders: tuple[AgentId, ...] = ()
        if meeting is not None:
            self.initiator = meeting.initiator
            if self.initiator == self.agent_id:
                self.responders = self._partners(meeting)
        self.negotiation = Negotiation()
        self.repairs: dict[MeetingId, Repair] = {}

    @property
    def is_initiator(self) -> bool:
        """Whether this agent leads the negotiation of the new meeting."""
        return self.initiator == self.agent_id

    @property
    def agreed(self) -> Slot | None:
        """The slot the new meeting was confirmed for."""
        return self.negotiation.agreed

    @property
    def bumped(self) -> Meeting | None:
        """The agent's own meeting that has to leave the agreed slot."""
        return None if self.agreed is None else self.bumpable(self.agreed)

    def bumpable(self, slot: Slot) -> Meeting | None:
        """Return the meeting in a slot of the own calendar if the new one may displace it."""
        item = self.calendar[slot]
        if self.meeting is None or not isinstance(item, Booking):
            return None
        is_lighter = is_bumpable(item.meeting, self.meeting, self.agent_id, self._weights)
        return item.meeting if is_lighter else None

    def copy_of(self, meeting_id: MeetingId) -> tuple[Slot, Meeting] | None:
        """Return the agent's own copy of a meeting with its slot, if it holds one."""
        for index, item in enumerate(self.calendar):
            if isinstance(item, Booking) and item.meeting.meeting_id == meeting_id:
                return Slot(index), item.meeting
        return None

    def has(self, slot: Slot) -> bool:
        """Whether the slot exists (another agent may name anything)."""
        return 0 <= slot < len(self.calendar)

    def is_taken(self, slot: Slot, *, by_others_than: Negotiation) -> bool:
        """Whether another negotiation marks the slot, or a confirmed move ends there."""
        return any(
            repair.agreed == slot or slot in repair.marks()
            for repair in (self.negotiation, *self.repairs.values())
            if repair is not by_others_than
        )

    def is_target(self, slot: Slot, repair: Repair) -> bool:
        """Whether an old meeting could move to a slot of the own calendar."""
        return (
            self.calendar[slot] is None
            and slot not in (repair.new_slot, self.agreed)
            and not self.is_taken(slot, by_others_than=repair)
        )

    def agree(self, slot: Slot) -> bool:
        """Note that the new meeting is confirmed; return whether that is new.

        A repair that this agent has to lead begins here.
        """
        if not self.negotiation.end(slot):
            return False
        old = self.bumped
        if old is not None and old.initiator == self.agent_id:
            self._begin(old.meeting_id, self._partners(old), slot)
        return True

    def begin_on_request(self, sender: AgentId, request: RescheduleRequest) -> bool:
        """Note that a participant asks for a repair; only the first request counts."""
        partners = self._partners_led(request.old_meeting_id)
        if request.old_meeting_id in self.repairs or sender not in partners:
            return False
        self._begin(request.old_meeting_id, partners, request.slot)
        return True

    def follow(self, sender: AgentId, proposal: ProposeReschedule) -> bool:
        """Note that a repairer proposes a target; return whether it needs an answer."""
        repair = self.repairs.get(proposal.old_meeting_id)
        if repair is None:
            copy = self.copy_of(proposal.old_meeting_id)
            if copy is not None and copy[1].initiator != sender:
                return False
            repair = self.repairs[proposal.old_meeting_id] = Repair(
                meeting_id=proposal.old_meeting_id, repairer=sender, new_slot=proposal.slot
            )
        return repair.repairer == sender and not repair.is_over and self.has(proposal.target)

    def led_repair(self, meeting_id: MeetingId) -> Repair | None:
        """Return the repair of this meeting if this agent leads it."""
        repair = self.repairs.get(meeting_id)
        return repair if repair is not None and repair.repairer == self.agent_id else None

    def close_talk(self) -> None:
        """Let repairs fail that all accepted too late to be confirmed [C]."""
        for repair in self.repairs.values():
            if repair.is_answered(repair.others) and not repair.is_refused:
                repair.end(None)

    def _begin(self, meeting_id: MeetingId, partners: tuple[AgentId, ...], slot: Slot) -> None:
        if meeting_id not in self.repairs:
            self.repairs[meeting_id] = Repair(
                meeting_id=meeting_id, repairer=self.agent_id, others=partners, new_slot=slot
            )

    def _partners(self, meeting: Meeting) -> tuple[AgentId, ...]:
        return partners(meeting.participants, self.agent_id)

    def _partners_led(self, meeting_id: MeetingId) -> tuple[AgentId, ...]:
        """Return the other participants of a meeting that this agent initiated.

        If its own copy failed, they are those with which it negotiated [C].
        """
        copy = self.copy_of(meeting_id)
        if copy is not None:
            return self._partners(copy[1]) if copy[1].initiator == self.agent_id else ()
        partners: set[AgentId] = set()
        for message in self.earlier:
            if (
                message.meeting_id == meeting_id
                and message.sender == self.agent_id
                and isinstance(message.content, Propose | Fail)
            ):
                partners.update(message.recipients)
        return tuple(sorted(partners))
