"""The interfaces of every agent, and of what answers it.

A language agent asks a model, a recorded reply, a scripted speaker or a function. All of them are
a :class:`Completer`; it cannot tell which one it asks.
"""

from typing import NamedTuple, Protocol

from calbench.domain.ids import AgentId
from calbench.domain.observations import Briefing, Observation, Phase
from calbench.domain.replies import Reply
from calbench.llm.completion import Completion, Request


class Agent(Protocol):
    """A player that may wait, such as a language model."""

    def introduce(self, briefing: Briefing) -> str | None:
        """Take a seat; return the exact system prompt, if the agent has one."""
        ...

    async def act(self, observation: Observation) -> Reply:
        """Return the turn with its provenance."""
        ...


def place_of(asked: "Observation | CallSite") -> str:
    """Return where in a game an agent is asked, for errors."""
    return f"agent {asked.agent_id}, round {asked.round_index}, {asked.phase}"


class CallSite(NamedTuple):
    """Where in a run a call is made: for errors and progress, never for the reply [C].

    >>> CallSite("my-model", "6009909d", AgentId(0), 0, Phase.DECISION, 0, 1).attempt
    1

    Attributes:
        player: in the seat, by its name on the record.
        game_id: of the game.
        agent_id: who is asked.
        round_index: the round, from 0.
        phase: of the round.
        turn_index: the sweep of talk, from 0.
        attempt: batches of this decision before.
    """

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
