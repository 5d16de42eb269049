"""What an agent need not fold again: its memory at the end of its last turn.

A policy stays a function of the observation. What is kept stands with all it was folded from,
and serves only an observation that begins with exactly that; any other is folded from its
beginning, with the same result.
"""

from collections.abc import Sequence

from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.messages import Message
from calbench.domain.observations import Observation
from calbench.protocols.sd_map.memory import Memory, Weights
from calbench.protocols.sd_map.notes import note_all


class MemoryCache:
    """Folds transcripts, from where the last turn ended if that is where one goes on."""

    __slots__ = ("_meeting", "_memory", "_noted", "_said", "_weights")

    def __init__(self, weights: Weights | None) -> None:
        """Begin with nothing kept; ``weights`` are the agents' for every fold."""
        self._weights = weights
        self._memory: Memory | None = None
        self._meeting: Meeting | HiddenMeeting | None = None
        self._noted: tuple[Message, ...] = ()
        self._said: Sequence[DirectMessage] = ()

    def recall(self, observation: Observation, *, unhandled: int = 0) -> Memory:
        """Fold this round's transcript, but for its last ``unhandled`` messages.

        The memory is the caller's, to alter: what was kept is handed out only once.
        """
        messages = observation.messages
        handled = len(messages) - unhandled
        memory, self._memory = self._memory, None
        if memory is not None:
            noted = len(self._noted) + len(self._said)
            if noted <= handled and self._begins(observation, memory):
                if noted < handled:
                    note_all(memory, messages[noted:handled])
                return memory
        memory = Memory(observation, self._weights)
        note_all(memory, messages[:handled])
        return memory

    def keep(self, memory: Memory, observation: Observation, said: Sequence[DirectMessage]) -> None:
        """Keep a memory in which all messages of an observation are noted, then what was said.

        In that order, and nothing else: what is kept has to be what folding would give.
        """
        self._memory = memory
        self._meeting = observation.meeting
        self._noted = observation.messages
        self._said = said

    def _begins(self, observation: Observation, memory: Memory) -> bool:
        """Whether all that entered the memory is the observation's own, in the same order.

        By identity, which can only be too strict; the prefix of messages also by value.
        """
        if (
            observation.meeting is not self._meeting
            or observation.calendar is not memory.calendar
            or observation.earlier is not memory.earlier
            or observation.agent_id != memory.agent_id
        ):
            return False
        messages = observation.messages
        length = len(self._noted)
        if messages[:length] != self._noted:
            return False
        for action in self._said:
            message = messages[length]
            if message.content is not action.content or message.sender != memory.agent_id:
                return False
            length += 1
        return True
