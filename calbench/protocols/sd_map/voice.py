"""What an agent says in a turn, noted at once as if it had been said before."""

from collections.abc import Sequence

from calbench.domain.actions import DirectMessage
from calbench.domain.ids import AgentId
from calbench.domain.messages import SdMapAct
from calbench.protocols.sd_map.memory import Memory, note_said


class Voice:
    """Collects the messages of one turn; what is handled later in the turn knows of them."""

    __slots__ = ("_memory", "is_last_sweep", "said")

    def __init__(self, memory: Memory, is_last_sweep: bool) -> None:
        """Begin a turn in which nothing is said yet."""
        self._memory = memory
        self.said: list[DirectMessage] = []
        self.is_last_sweep = is_last_sweep

    def say(self, recipients: Sequence[AgentId], content: SdMapAct) -> None:
        """Send the same to each recipient, by one direct message each."""
        for recipient in recipients:
            self.said.append(DirectMessage(recipient, content))
        if recipients:
            note_said(self._memory, content)
