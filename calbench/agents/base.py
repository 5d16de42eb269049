"""What every agent is, and how others are seated beside language models."""

import inspect
from collections.abc import Awaitable
from typing import Protocol

from calbench.domain.actions import Turn
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import Reply
from calbench.errors import ConfigError


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


class PolicyAgent:
    """Seats a pure policy where agents are expected."""

    def __init__(self, policy: Acting) -> None:
        self._policy = policy

    def introduce(self, briefing: Briefing) -> None:
        """Policies need no introduction: observations tell them everything."""

    async def act(self, observation: Observation) -> Reply:
        """Answer at once."""
        return Reply(self._policy.act(observation))


class OwnActing(Protocol):
    """An object of a user's own: it may wait or not, and may tell how its turn came about."""

    def act(self, observation: Observation) -> Turn | Reply | Awaitable[Turn | Reply]:
        """Return the turn, alone or in a reply, at once or later."""
        ...


class OwnAgent:
    """Seats a user's own object; its ``introduce(briefing)``, if it has one, is called too."""

    def __init__(self, own: OwnActing) -> None:
        self._own = own

    def introduce(self, briefing: Briefing) -> str | None:
        """Introduce the object, if it can be.

        Raises:
            ConfigError: if it answers with something that is no text.
        """
        introduce = getattr(self._own, "introduce", None)
        prompt = None if introduce is None else introduce(briefing)
        if prompt is None or isinstance(prompt, str):
            return prompt
        raise self._misfit("introduce", "a text or None", prompt)

    async def act(self, observation: Observation) -> Reply:
        """Ask the object, and wait if it asks to.

        Raises:
            ConfigError: if it answers with neither a turn nor a reply.
        """
        answer: object = self._own.act(observation)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, Turn):
            return Reply(answer)
        raise self._misfit("act", "a Turn or a Reply", answer)

    def _misfit(self, method: str, wanted: str, got: object) -> ConfigError:
        mine = type(self._own).__name__
        return ConfigError(f"{mine}.{method} returned {type(got).__name__}; return {wanted}")
