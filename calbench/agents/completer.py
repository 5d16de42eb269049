"""Who answers a language agent: a model, a recorded reply, a scripted speaker or a function.

All of them are a :class:`Completer`; the agent cannot tell which one it asks.
"""

from typing import NamedTuple, Protocol

from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.llm.completion import Completion, Request


class CallSite(NamedTuple):
    """Where in a run a call is made: for errors and progress, never for the reply."""

    player: str
    game_id: str
    agent_id: AgentId
    round_index: int
    phase: Phase
    turn_index: int
    attempt: int

    def __str__(self) -> str:
        """Say it in one line."""
        where = f"turn {self.turn_index}" if self.phase == "CHEAP_TALK" else str(self.phase)
        retry = f", attempt {self.attempt}" if self.attempt else ""
        return (
            f"model {self.player}, game {self.game_id}, agent {self.agent_id}, "
            f"round {self.round_index}, {where}{retry}"
        )


class Completer(Protocol):
    """A source of text."""

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Return the completion of a request.

        Raises:
            UnavailableError: if there is none; the game ends there, unscored.
        """
        ...
