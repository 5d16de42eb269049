"""What agents say: speech acts of protocols, text of language agents, one envelope for both.

A protocol's speech acts are the vocabulary of appendix D of the paper. ``kind`` is their name
in traces.
"""

from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from calbench.domain.frequent import frequent, passing, recorded
from calbench.domain.ids import AgentId, MeetingId, Slot

Channel = Literal["dm", "participant_groupchat", "all_agent_groupchat"]
CHANNELS: tuple[Channel, ...] = ("dm", "participant_groupchat", "all_agent_groupchat")

Route = Channel | Literal["sealed"]
"""How a message travels: over a channel, or sealed between an agent and the mediator [C]."""


OWN_NAME = r"^[a-z][a-z0-9_-]{0,63}$"
"""What a speech act of a protocol from elsewhere may be called [C]."""


@recorded
class Text:
    """Natural language (appendix A.2).

    >>> Text(text="Slot 3?")
    Text(kind='text', text='Slot 3?')

    Attributes:
        kind: names the content in a trace.
        text: what is said, in words.
    """

    kind: Literal["text"] = "text"
    text: str


@frequent
class CostRequest:
    """IMAP's initiator asks for the local cost of these slots (appendix D.1)."""

    kind: Literal["cost_request"] = field(default="cost_request", kw_only=True)
    slots: tuple[Slot, ...]


@frequent
class CostReport:
    """A vector of local costs, aligned with ``slots``; ``None`` is infeasible (appendix D.1).

    >>> CostReport(slots=(Slot(0), Slot(3)), costs=(1, None))
    CostReport(kind='costs', slots=(0, 3), costs=(1, None))

    Attributes:
        kind: names the content in a trace.
        slots: that the costs are of, from 0.
        costs: what giving each to a meeting takes, in shown cost; ``None``: it has no room.
    """

    kind: Literal["costs"] = field(default="costs", kw_only=True)
    slots: tuple[Slot, ...]
    costs: tuple[int | None, ...]


@frequent
class Decision:
    """The initiator announces the slot it chose (appendix D.1, D.3)."""

    kind: Literal["decision"] = field(default="decision", kw_only=True)
    slot: Slot


@recorded
class Share:
    """Secure sum: one uniform share of the sender's cost vector, a number for each slot [C]."""

    kind: Literal["share"] = "share"
    values: tuple[int, ...]


@recorded
class PartialSum:
    """Secure sum: the sum, by slot, of the shares that the sender holds [C]."""

    kind: Literal["partial_sum"] = "partial_sum"
    values: tuple[int, ...]


@recorded
class Announcement:
    """The slot chosen from a total: it vouches for every participant, not only the sender [C].

    The mediator's only message, and the ``decision`` of secure sum's initiator.
    """

    kind: Literal["announcement"] = "announcement"
    slot: Slot


SlotStatus = Literal["PENDING", "IMPOSSIBLE"]
"""SD-MAP's answer to a proposed slot: it is possible, or it is not (appendix D.2)."""


@frequent
class Propose:
    """SD-MAP's initiator proposes one slot for the new meeting (appendix D.2)."""

    kind: Literal["propose"] = field(default="propose", kw_only=True)
    slot: Slot


@frequent
class ProposeReply:
    """A responder says whether it can meet in the proposed slot (appendix D.2)."""

    kind: Literal["reply"] = field(default="reply", kw_only=True)
    slot: Slot
    status: SlotStatus


@recorded
class Confirm:
    """The slot is agreed (appendix D.2)."""

    kind: Literal["confirm"] = "confirm"
    slot: Slot


@recorded
class Fail:
    """No slot is left to propose (appendix D.2)."""

    kind: Literal["fail"] = "fail"


@recorded
class RescheduleRequest:
    """A bumper asks an old meeting's initiator to move it from the new one's ``slot``."""

    kind: Literal["reschedule_request"] = "reschedule_request"
    old_meeting_id: MeetingId
    slot: Slot


@recorded
class ProposeReschedule:
    """The old meeting's initiator proposes to move it to ``target`` (appendix D.2).

    ``slot`` is the new meeting's; nobody may use it as a target.
    """

    kind: Literal["propose_reschedule"] = "propose_reschedule"
    old_meeting_id: MeetingId
    slot: Slot
    target: Slot


@recorded
class RescheduleReply:
    """A participant of the old meeting says whether it can move there (appendix D.2)."""

    kind: Literal["reschedule_reply"] = "reschedule_reply"
    old_meeting_id: MeetingId
    target: Slot
    status: SlotStatus


@recorded
class ConfirmReschedule:
    """All participants of the old meeting move it to ``target`` (appendix D.2)."""

    kind: Literal["confirm_reschedule"] = "confirm_reschedule"
    old_meeting_id: MeetingId
    target: Slot


@recorded
class FailReschedule:
    """The old meeting stays where it is (appendix D.2)."""

    kind: Literal["fail_reschedule"] = "fail_reschedule"
    old_meeting_id: MeetingId


SdMapAct = (
    Propose
    | ProposeReply
    | Confirm
    | Fail
    | RescheduleRequest
    | ProposeReschedule
    | RescheduleReply
    | ConfirmReschedule
    | FailReschedule
)
"""SD-MAP's vocabulary (appendix D.2)."""


@frequent
class MeetingMove:
    """One meeting that moves in a DSM plan, and what that costs each participant."""

    meeting_id: MeetingId
    from_slot: Slot
    to_slot: Slot
    cost: int


@frequent
class OfferedPlan:
    """A DSM plan as one recipient sees it (appendix D.3).

    ``moves`` are those of its own meetings; ``vacated`` the slots that other meetings leave.
    """

    plan_id: int
    slot: Slot
    moves: tuple[MeetingMove, ...]
    vacated: tuple[Slot, ...]


@frequent
class Proposals:
    """DSM's initiator offers a batch of plans; ids continue over batches (appendix D.3)."""

    kind: Literal["proposals"] = field(default="proposals", kw_only=True)
    plans: tuple[OfferedPlan, ...]


@frequent
class Scores:
    """Satisfaction levels of all plans of an offer, 0 (infeasible) to 11 (appendix D.3)."""

    kind: Literal["scores"] = field(default="scores", kw_only=True)
    plan_ids: tuple[int, ...]
    scores: tuple[int, ...]


@frequent
class PlanDecision:
    """DSM's initiator announces a plan, with the moves of the recipient's own meetings."""

    kind: Literal["plan_decision"] = field(default="plan_decision", kw_only=True)
    plan_id: int
    slot: Slot
    moves: tuple[MeetingMove, ...]


DsmAct = Proposals | Scores | PlanDecision
"""DSM's vocabulary (appendix D.3)."""


@recorded
class Own:
    """A speech act of a protocol from elsewhere [C]: numbers, whose meaning its ``name`` says.

    >>> Own(name="bid", values=(3, None))
    Own(kind='own', name='bid', values=(3, None))

    Attributes:
        kind: names the speech act in a trace.
        name: of the speech act.
        values: what it says, in units of its own; ``None`` is absent.
    """

    kind: Literal["own"] = "own"
    name: Annotated[str, Field(pattern=OWN_NAME)]
    values: tuple[int | None, ...] = ()


Content = (
    Text
    | CostRequest
    | CostReport
    | Decision
    | Share
    | PartialSum
    | Announcement
    | SdMapAct
    | DsmAct
    | Own
)
"""Everything that can be said: words, or a speech act with fields of its own (appendix D).

>>> isinstance(Text(text="Slot 9?"), Content)
True

Attributes:
    kind: names the content in a trace, and says which it is.
    text: what is said, in words.
"""

RecordedContent = Annotated[Content, Field(discriminator="kind")]
"""The same, read from a file: the kind says which class it is."""


@passing
class Message:
    """A delivered message (appendix A.4).

    >>> said: Message = next(each.messages[0] for each in seen if each.messages)
    >>> said.sender, said.recipients, said.content.text
    (0, (1,), 'Let us take slot 0.')

    Attributes:
        sender: who said it; ``None`` if the mediator did.
        recipients: who received it; nobody if it is sealed.
        channel: how it was sent.
        meeting_id: of the meeting that was under discussion when it was sent, even if it is read
            in a later round.
        content: what is said.
    """

    sender: AgentId | None
    recipients: tuple[AgentId, ...]
    channel: Route
    meeting_id: MeetingId
    content: Content
