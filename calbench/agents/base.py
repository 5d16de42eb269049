"""The interface of every agent, and pure policies as agents."""

from dataclasses import dataclass
from typing import Protocol

from calbench.domain.actions import Turn
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import Reply


class Agent(Protocol):
    """A player that may wait, such as a language model."""

    def introduce(self, briefing: Briefing) -> str | None:
        """Take a seat; return the exact system prompt, if the agent has one."""
        ...

    async def act(self, observation: Observation) -> Reply:
        """Return the turn with its provenance."""
        ...


class Acting(Protocol):
    """A pure policy: a turn for an observation."""

    def act(self, observation: Observation) -> Turn:
        """Return the turn."""
        ...


@dataclass(frozen=True, slots=True)
class PolicyAgent:
    """Seats a pure policy where agents are expected."""

    policy: Acting

    def introduce(self, briefing: Briefing) -> None:
        """Policies need no introduction: observations tell them everything."""

    async def act(self, observation: Observation) -> Reply:
        """Answer at once."""
        return Reply(self.policy.act(observation))
