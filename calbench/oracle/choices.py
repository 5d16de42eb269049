"""Where each meeting may end, and who pays what for it: what every exact method starts from."""

from dataclasses import dataclass

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.problem import Problem


@dataclass(frozen=True, slots=True)
class Choice:
    """The final slots open to one meeting.

    Attributes:
        meeting_id: the meeting.
        participants: who holds it.
        original: where a prior meeting stands; ``None`` for an incoming meeting.
        charges_by_slot: for every slot where it may end, what each participant pays, aligned
            with ``participants``: the errand under the slot, and for a prior meeting that
            leaves its original slot also the cost of its own move.
    """

    meeting_id: MeetingId
    participants: tuple[AgentId, ...]
    original: Slot | None
    charges_by_slot: dict[Slot, tuple[int, ...]]

    @property
    def greatest_cost(self) -> int:
        """The most that this meeting can cost all its participants together."""
        return max((sum(charges) for charges in self.charges_by_slot.values()), default=0)

    def shares_agent_with(self, other: "Choice") -> bool:
        """Whether the two may not stand in one slot."""
        return not set(self.participants).isdisjoint(other.participants)


def choices_of(problem: Problem) -> tuple[Choice, ...]:
    """Return the choices in the order of the slot vector: incoming by id, then prior by id.

    The sum of the charges is the cost of a schedule, because at most one meeting of an
    agent ends in a slot: no errand is paid twice.
    """
    incoming = tuple(
        Choice(
            meeting_id,
            participants,
            None,
            {
                slot: problem.displaced_costs(participants, slot)
                for slot in problem.allowed_slots(participants)
            },
        )
        for meeting_id, participants in problem.meetings
    )
    prior = tuple(
        Choice(
            meeting_id,
            meeting.participants,
            meeting.slot,
            {
                slot: (0,) * len(meeting.participants)
                if slot == meeting.slot
                else tuple(
                    cost + meeting.cost
                    for cost in problem.displaced_costs(meeting.participants, slot)
                )
                for slot in problem.allowed_slots(meeting.participants)
            },
        )
        for meeting_id, meeting in problem.prior_meetings
    )
    return incoming + prior
