"""A game whose replies are not all there is what the whole game was until then, and no more."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from calbench.domain.actions import Action
from calbench.domain.observations import Observation, Phase
from calbench.domain.replies import Reply
from calbench.engine.fragment import Fragment, play_fragment
from calbench.errors import ReplayMissError
from calbench.traces.events import DecideEnd, GameEnd, Reflection, Resolution
from tests.engine.scripts import Ask, book, decide, dm, talk
from tests.engine.speakers import SCENARIO, Speaker, language_config, played

CONFIG = language_config("model")


@dataclass
class Forgetful(Speaker):
    """Has no reply from a moment on."""

    left: int = 10**9

    async def act(self, observation: Observation) -> Reply:
        self.left -= 1
        if self.left < 0:
            raise ReplayMissError("nothing is recorded")
        return await super().act(observation)


def speakers(*left: int) -> list[Forgetful]:
    lines: dict[Ask, tuple[Action, ...]] = {talk(): (dm(1), dm(3)), decide(): (book(1, 0),)}
    return [Forgetful(lines=lines, left=each) for each in left]


def fragment(agents: Sequence[Speaker]) -> Fragment:
    return asyncio.run(play_fragment(SCENARIO, CONFIG, agents))


WHOLE = played(CONFIG, speakers(*[10**9] * 4))
"""The game with all replies."""


def test_game_with_all_replies_is_the_whole_game() -> None:
    found = fragment(speakers(*[10**9] * 4))

    assert found == Fragment(WHOLE)


@pytest.mark.parametrize("left", range(5))
def test_game_that_waits_is_the_beginning_of_the_whole_one(left: int) -> None:
    found = fragment(speakers(left, *[10**9] * 3))

    events = [event for event in found.trace.events if event in WHOLE.events]
    assert events == list(found.trace.events)
    assert 0 in [observation.agent_id for observation in found.waiting]
    assert not any(isinstance(event, GameEnd) for event in found.trace.events)
    assert not found.trace.is_halted
    assert len(found.trace.final_state.round_outcomes) == sum(
        isinstance(event, Resolution) for event in found.trace.events
    )


def test_agents_asked_at_the_same_time_are_shown_if_their_replies_are_there() -> None:
    talks = next(
        left
        for left in range(10)
        if fragment(speakers(left, *[10**9] * 3)).waiting[0].phase is Phase.DECISION
    )
    decided = fragment(speakers(talks, *[10**9] * 3))
    reflected = fragment(speakers(talks + 1, *[10**9] * 3))

    ends = [
        event.agent_id
        for event in decided.trace.events
        if isinstance(event, DecideEnd) and event.phase is Phase.DECISION
    ]
    told = [event.agent_id for event in reflected.trace.events if isinstance(event, Reflection)]
    assert ends == [1, 2]
    assert [each.phase for each in reflected.waiting] == [Phase.REFLECTION]
    assert told == [1, 2, 3]
