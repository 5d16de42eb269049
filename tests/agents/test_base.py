"""Whoever has ``act`` can sit beside language models."""

import asyncio

import pytest

from calbench.agents.base import Agent, PolicyAgent
from calbench.agents.own import OwnActing, OwnAgent
from calbench.domain.actions import PASS, Turn
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import Reply
from calbench.errors import AgentError
from calbench.protocols.registry import build_policy
from tests.golden.prompts.samples import briefing, observation


class AtOnce:
    def act(self, _observation: Observation) -> Turn:
        return Turn((), "quick")


class Later:
    def __init__(self) -> None:
        self.briefing: Briefing | None = None

    def introduce(self, briefing: Briefing) -> str:
        self.briefing = briefing
        return "You are me."

    async def act(self, _observation: Observation) -> Reply:
        await asyncio.sleep(0)
        return Reply(PASS, prompt="What now?")


class Odd:
    def introduce(self, _briefing: Briefing) -> int:
        return 5

    def act(self, _observation: Observation) -> Turn:
        return None  # type: ignore[return-value]


def act(agent: Agent) -> Reply:
    async def once() -> Reply:
        return await agent.act(observation())

    return asyncio.run(once())


def test_policy_is_seated_without_a_prompt() -> None:
    policy = build_policy("first-free", {})
    assert policy is not None
    agent: Agent = PolicyAgent(policy)
    assert agent.introduce(briefing("dm")) is None
    assert act(agent) == Reply(policy.act(observation()))


@pytest.mark.parametrize(
    ("own", "prompt", "reply"),
    [
        (AtOnce(), None, Reply(Turn((), "quick"))),
        (Later(), "You are me.", Reply(PASS, prompt="What now?")),
    ],
    ids=["at once", "later"],
)
def test_own_object_is_seated(own: OwnActing, prompt: str | None, reply: Reply) -> None:
    agent: Agent = OwnAgent(own)
    assert agent.introduce(briefing("dm")) == prompt
    assert act(agent) == reply


def test_own_object_that_answers_something_else_is_named() -> None:
    agent = OwnAgent(Odd())
    answer = r"^agent 0, round \d, [A-Z_]+: Odd\.act returned NoneType; return a Turn or a Reply$"
    with pytest.raises(AgentError, match=answer):
        act(agent)
    answer = (
        r"^agent 0, before the first round: Odd\.introduce returned int; return a text or None$"
    )
    with pytest.raises(AgentError, match=answer):
        agent.introduce(briefing("dm"))
