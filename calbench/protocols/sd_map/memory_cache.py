"""A cache of an agent's memory at the end of its last turn.

A policy remains a function of the observation. The memory is kept together with everything it was
made from, and is used only for an observation that begins with exactly that. For any other
observation it is made again, with the same result.
"""

from collections.abc import Sequence

from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.messages import Message
from calbench.domain.observations import Observation
from calbench.protocols.sd_map.memory import Memory, Weights
from calbench.protocols.sd_map.notes import note_all


class MemoryCache:
    """Makes memories from transcripts; continues the last one if the transcript does."""

    __slots__ = ("_meeting", "_memory", "_noted", "_said", "_weights")

    def __init__(self, weights: Weights | None) -> None:
        """Begin empty; ``weights`` are the agents' difficulty weights."""
        self._weights = weights
        self._memory: Memory | None = None
        self._meeting: Meeting | HiddenMeeting | None = None
        self._noted: tuple[Message, ...] = ()
        self._said: Sequence[DirectMessage] = ()

    def recall(self, observation: Observation, *, unhandled: int = 0) -> Memory:
        """Return the memory of this round's transcript without its last ``unhandled`` messages.

        The caller may change it: a kept memory is returned only once.
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
        """Keep a memory that contains all messages of an observation and then what was said.

        It must contain nothing else, and in this order: it has to equal a memory made anew.
        """
        self._memory = memory
        self._meeting = observation.meeting
        self._noted = observation.messages
        self._said = said

    def _begins(self, observation: Observation, memory: Memory) -> bool:
        """Whether the memory was made from the beginning of this observation.

        Compared by identity, which can only be too strict; the messages also by value.
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
