"""A game as far as its replies are recorded: for looking at it, never for scores."""

from collections.abc import Sequence
from dataclasses import dataclass

from calbench.agents.base import Agent
from calbench.domain.ids import AgentId
from calbench.domain.observations import Observation
from calbench.domain.replies import Reply
from calbench.engine.game import briefings, play
from calbench.engine.talk import Asks, UnfinishedError
from calbench.errors import ReplayMissError
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Trace


@dataclass(frozen=True)
class Fragment:
    """A game so far.

    Attributes:
        trace: its events; without an end, unless all replies are there.
        waiting: what the agents were shown whose replies are not there; empty: it is whole.
    """

    trace: Trace
    waiting: tuple[Observation, ...] = ()


async def play_fragment(
    scenario: Scenario, config: GameConfig, agents: Sequence[Agent]
) -> Fragment:
    """Play a game until an agent has no reply (:class:`ReplayMissError`).

    Of agents asked at the same time, those that have one still give it.
    """
    prompts = [
        agent.introduce(briefing)
        for agent, briefing in zip(agents, briefings(scenario, config), strict=True)
    ]
    game = play(scenario, config, system_prompts=prompts)
    waiting: tuple[Observation, ...] = ()
    try:
        asks = next(game)
        while True:
            answers, waiting = await _answers(agents, asks)
            asks = game.throw(UnfinishedError(answers)) if waiting else game.send(answers)
    except StopIteration as end:
        return Fragment(end.value, waiting)


async def _answers(
    agents: Sequence[Agent], asks: Asks
) -> tuple[dict[AgentId, Reply], tuple[Observation, ...]]:
    answers: dict[AgentId, Reply] = {}
    waiting = []
    for agent, observation in asks.items():
        try:
            answers[agent] = await agents[agent].act(observation)
        except ReplayMissError:
            waiting.append(observation)
    return answers, tuple(waiting)
