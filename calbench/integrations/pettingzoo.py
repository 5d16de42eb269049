"""A suite's games as an environment of PettingZoo, in which agents are asked one after the other.

An agent gets numbers (:mod:`calbench.integrations.spaces` says which) and beside them
``info["observation"]``, the :class:`Observation` they are made from, and ``info["action_mask"]``,
which actions make sense. It answers with a number, or with any ``Turn`` or ``Reply``.

The reward is 0 before the end, since no agent is told earlier whether a meeting was placed: then
it is ``worth`` for each own meeting that was placed, less what the agent paid in accounting cost.
"""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv

from calbench import load_suite, play
from calbench.errors import ConfigError
from calbench.integrations.spaces import GREATEST, Numbers, length_of, mask_of, turn_of, vector_of
from calbench.types import AgentId, Player, Reply, Trace, Turn

WORTH = 10.0
"""What a placed meeting is worth, in accounting cost [C]: more than moving three errands costs."""

Action = int | Turn | Reply | None


class CalendarEnv(AECEnv):
    """Agents ``agent_0``, ... of a suite's games; ``trace`` is a game once it is over.

    ``reset(seed=...)`` draws a scenario, ``options={"scenario": ID}`` names one. Those asked
    together answer before they see each other's answers.
    """

    metadata = {"name": "calbench_v0", "render_modes": []}  # noqa: RUF012 - PettingZoo's own way
    agent_selection: str

    def __init__(
        self,
        suite: str | os.PathLike[str] = "varied",
        *,
        partners: Mapping[int, Player] | None = None,
        worth: float = WORTH,
        **rules: Any,
    ) -> None:
        """Read a suite.

        Args:
            suite: its name or path, as :func:`calbench.load_suite` takes it.
            partners: who answers for itself, by agent id; the others are agents here.
            worth: of a placed meeting, in accounting cost.
            rules: further arguments of :func:`calbench.play`.

        Raises:
            ConfigError: the suite is unknown, its games differ in agents, or none is left here.
        """
        self.scenarios = {each.scenario_id: each for each in load_suite(suite)}
        counts = {each.num_agents for each in self.scenarios.values()}
        if len(counts) != 1:
            raise ConfigError(f"suite: games of {sorted(counts)} agents; give one of one size")
        self._size = (counts.pop(), max(each.num_slots for each in self.scenarios.values()))
        here = [AgentId(each) for each in range(self._size[0]) if each not in (partners or ())]
        self._ids = {f"agent_{each}": each for each in here}
        if not self._ids:
            raise ConfigError("partners: they have every seat; leave one")
        self._rules = {"players": "pettingzoo", **rules, "seats": partners}
        self._worth, self._chance = worth, np.random.default_rng()
        self._game: Any = None
        self.possible_agents = list(self._ids)
        box = (-1, GREATEST, (length_of(*self._size),), np.float32)
        self.observation_spaces = {name: Box(*box) for name in self._ids}
        self.action_spaces = {name: Discrete(1 + self._size[1]) for name in self._ids}

    def observation_space(self, agent: str) -> Box:
        """Return the space of an agent's numbers."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions; a ``Turn`` or ``Reply`` does as well."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Raises:
            ConfigError: the suite has no scenario of the name in ``options``.
        """
        self.close()
        if seed is not None:
            self._chance = np.random.default_rng(seed)
        drawn = list(self.scenarios)[self._chance.integers(len(self.scenarios))]
        name = (options or {}).get("scenario", drawn)
        if name not in self.scenarios:
            raise ConfigError(f"scenario: the suite has no {name!r}; give one as {drawn!r}")
        self.agents = list(self._ids)
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self._ids, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self._ids, False) for _ in range(2))
        self.infos: dict[str, dict[str, Any]] = {each: {} for each in self._ids}
        self.trace: Trace | None = None
        self._game = play(self.scenarios[name], **self._rules)
        self._go_on(None)

    def observe(self, agent: str) -> Numbers:
        """Return what an agent was shown last; only who it is if it was not asked yet."""
        if seen := self.infos.get(agent, {}).get("observation"):
            return vector_of(seen, *self._size)
        unasked: Numbers = np.eye(1, length_of(*self._size), self._ids[agent], np.float32)[0]
        return unasked

    def step(self, action: Action) -> None:
        """Take the answer of ``agent_selection``; when all who were asked answered, go on.

        Raises:
            ConfigError: no game was begun.
        """
        if self._game is None:
            raise ConfigError("step: no game was begun; call reset first")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        if not isinstance(action, (Turn, Reply)):
            action = turn_of(action or 0, self.infos[agent]["observation"])
        self._answers[self._ids[agent]] = action
        if self._waiting:
            self.agent_selection = self._waiting.pop(0)
        else:
            self._go_on(self._answers)

    def _go_on(self, answers: Mapping[AgentId, Turn | Reply] | None) -> None:
        """Play until somebody here is asked, or to the end, when everybody is paid."""
        try:
            asked = self._game.send(answers)
        except StopIteration as end:
            self.trace, ended = end.value, end.value.final_state
            placed_by = [each.slot_by_agent for each in ended.round_outcomes if each.coordinated]
            for name, agent in self._ids.items():
                placed = sum(str(agent) in people for people in placed_by)
                self.rewards[name] = self._worth * placed - ended.cost_by_agent[agent]
                self.terminations[name] = True
            self._accumulate_rewards()
            self.agent_selection = self.agents[0]
            return
        self._answers: dict[AgentId, Turn | Reply] = {}
        self._waiting = [f"agent_{each}" for each in asked]
        for name, seen in zip(self._waiting, asked.values(), strict=True):
            self.infos[name] = {"observation": seen, "action_mask": mask_of(seen, self._size[1])}
        self.agent_selection = self._waiting.pop(0)

    def close(self) -> None:
        """Leave the game that is being played."""
        if self._game is not None:
            self._game.close()
