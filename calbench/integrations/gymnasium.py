"""One seat of a suite's games as an environment of Gymnasium, against named partners."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium

from calbench.errors import ConfigError
from calbench.integrations.pettingzoo import WORTH, Action, CalendarEnv
from calbench.integrations.spaces import Numbers
from calbench.types import Player, Trace


class SeatEnv(gymnasium.Env):
    """The one seat that ``partners`` leave; all else is as in :class:`CalendarEnv`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        suite: str | os.PathLike[str] = "varied",
        *,
        partners: Mapping[int, Player],
        worth: float = WORTH,
        **rules: Any,
    ) -> None:
        """Read a suite; arguments and errors of :class:`CalendarEnv`.

        Raises:
            ConfigError: the partners leave more than one seat.
        """
        self._games = CalendarEnv(suite, partners=partners, worth=worth, **rules)
        if len(self._games.possible_agents) != 1:
            left = ", ".join(self._games.possible_agents)
            raise ConfigError(f"partners: they leave {left}; leave one seat")
        (self._agent,) = self._games.possible_agents
        self.observation_space = self._games.observation_space(self._agent)
        self.action_space = self._games.action_space(self._agent)

    @property
    def trace(self) -> Trace | None:
        """The last game, once it is over."""
        return self._games.trace

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begin a game; return what the agent is shown."""
        super().reset(seed=seed)
        self._games.reset(seed, options)
        return self._games.observe(self._agent), self._games.infos[self._agent]

    def step(self, action: Action) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Answer; return what it is shown next, the reward, and whether the game is over."""
        self._games.step(action)
        seen, reward, is_over, is_cut, info = self._games.last()
        return seen, reward, is_over, is_cut, info

    def close(self) -> None:
        """Leave the game that is being played."""
        self._games.close()
