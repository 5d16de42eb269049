"""Agents as users write them: seated by import path, and failing where their settings say."""

import asyncio
from typing import ClassVar

from calbench.domain.actions import DirectMessage, Turn
from calbench.domain.messages import Text
from calbench.domain.observations import Briefing, Observation


def look_up(key: str) -> Turn:
    """Stands for the depths of somebody's code."""
    return {"known": Turn()}[key]


class Failing:
    """Wakes everybody once a round; fails in a phase of the second one, or where it is made."""

    is_mended: ClassVar[bool] = False

    def __init__(self, at: str) -> None:
        self.at = at
        self.fail_at("construction")

    def fail_at(self, place: str) -> None:
        if self.at == place and not self.is_mended:
            look_up("no such\nkey")

    def introduce(self, _briefing: Briefing) -> None:
        self.fail_at("introduction")

    def act(self, observation: Observation) -> Turn:
        if observation.round_index == 1:
            self.fail_at(observation.phase)
        if observation.phase == "CHEAP_TALK" and not observation.has_said(Text):
            others = set(observation.agent_ids) - {observation.agent_id}
            return Turn(
                tuple(DirectMessage(agent, Text(text="Hello.")) for agent in sorted(others))
            )
        return Turn()


class FailingLater(Failing):
    """The same for an agent that waits."""

    async def act(self, observation: Observation) -> Turn:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().act(observation)
