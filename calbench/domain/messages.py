"""What agents say: typed speech acts for protocols, text for language, one envelope for both.

A protocol's speech acts are the vocabulary of appendix D of the paper. ``kind`` is the
name that stands in traces.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from pydantic import ConfigDict

from calbench.domain.ids import AgentId, MeetingId, Slot

Channel = Literal["dm", "participant_groupchat", "all_agent_groupchat"]
CHANNELS: tuple[Channel, ...] = ("dm", "participant_groupchat", "all_agent_groupchat")

STRICT = ConfigDict(extra="forbid", strict=True)
"""Values that reach a file are read back exactly: no unknown key, no conversion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Natural language."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["text"] = "text"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRequest:
    """IMAP's initiator asks for the local cost of these slots (appendix D.1)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["cost_request"] = "cost_request"
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """A vector of local costs, aligned with ``slots``; ``None`` is infeasible (appendix D.1)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["costs"] = "costs"
    slots: tuple[Slot, ...]
    costs: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The initiator announces the slot it chose (appendix D.1, D.3)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["decision"] = "decision"
    slot: Slot


Content = Text | CostRequest | CostReport | Decision


class Message(NamedTuple):
    """A delivered message.

    ``meeting_id`` is the meeting under discussion when it was sent, which stays the
    message's own even if it is read in a later round.
    """

    sender: AgentId
    recipients: tuple[AgentId, ...]
    channel: Channel
    meeting_id: MeetingId
    content: Content
