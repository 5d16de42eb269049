"""What an agent says in a turn, noted at once as if it had been said before."""

from collections.abc import Iterable

from calbench.domain.actions import Action, DirectMessage, Turn
from calbench.domain.ids import AgentId
from calbench.domain.messages import SdMapAct
from calbench.protocols.sd_map.memory import Memory, note_said


class Voice:
    """Collects the messages of one turn; what is handled later in the turn knows of them."""

    __slots__ = ("_actions", "_memory", "is_last_sweep")

    def __init__(self, memory: Memory, *, is_last_sweep: bool) -> None:
        """Begin a turn in which nothing is said yet."""
        self._memory = memory
        self._actions: list[Action] = []
        self.is_last_sweep = is_last_sweep

    def say(self, recipients: Iterable[AgentId], content: SdMapAct) -> None:
        """Send the same to each recipient, by one direct message each."""
        for recipient in recipients:
            self._actions.append(DirectMessage(to=recipient, content=content))
            note_said(self._memory, content)

    @property
    def turn(self) -> Turn:
        """Everything said."""
        return Turn(tuple(self._actions))
