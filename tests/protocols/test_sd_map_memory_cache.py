"""The memory that SD-MAP keeps between turns never changes what it does."""

from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.actions import DirectMessage, Turn
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Fail, Message, Propose, ProposeReply
from calbench.domain.observations import Observation
from calbench.engine.drivers import run
from calbench.protocols.base import Policy
from calbench.protocols.sd_map.memory import Memory
from calbench.protocols.sd_map.notes import MemoryCache, note_said
from calbench.protocols.sd_map.policy import SdMap
from calbench.scenarios.models import Scenario
from tests.effort import examples
from tests.engine.scripts import game_config
from tests.properties.players import Liar, Talkative
from tests.protocols.observations import TRIO, message, observation
from tests.strategies import loose_scenarios, scenarios, seeds

WEIGHTS = (0.5, 2.0, 1.0, 1.0, 0.5, 3.0, 1.0, 2.0, 0.5, 1.0)


class Watched:
    """Passes everything on to a policy and remembers it."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.seen: list[Observation] = []

    def act(self, seen: Observation) -> Turn:
        self.seen.append(seen)
        return self._policy.act(seen)


def watch(
    scenario: Scenario, weights: tuple[float, ...] | None, cap: int | None, neighbour: Policy | None
) -> list[Observation]:
    """Return what every SD-MAP player of a game saw, agent by agent."""
    players = [Watched(SdMap(weights)) for _ in range(scenario.num_agents)]
    if neighbour is not None:
        players[-1] = Watched(neighbour)
    run(scenario, game_config("sd-map", max_turns=8, cap=cap), players)
    return [seen for player in players for seen in player.seen]


games = st.builds(
    watch,
    scenarios(max_slots=8) | loose_scenarios(),
    st.sampled_from([None, WEIGHTS]),
    st.none() | st.integers(0, 9),
    st.none() | st.builds(Liar, seeds) | st.builds(Talkative, seeds),
).filter(bool)


@given(seen=games, chance=st.randoms(use_true_random=False))
@settings(max_examples=examples(80), deadline=None)
def test_one_policy_answers_for_everybody_in_any_order(
    seen: list[Observation], chance: Random
) -> None:
    """Runs of neighbouring observations, which often continue a kept memory."""
    policy = SdMap(WEIGHTS)
    for _ in range(10):
        first = chance.randrange(len(seen))
        for asked in seen[first : first + chance.randrange(1, 12)]:
            assert policy.act(asked) == SdMap(WEIGHTS).act(asked)


@given(seen=games, chance=st.randoms(use_true_random=False))
@settings(max_examples=examples(80), deadline=None)
def test_an_altered_past_is_noticed(seen: list[Observation], chance: Random) -> None:
    """One message less, two in another order, or one with other words."""
    for before, after in pairwise(seen):
        if not after.messages:
            continue
        policy = SdMap()
        policy.act(before)
        altered = after._replace(messages=with_other_past(after.messages, chance))
        assert policy.act(altered) == SdMap().act(altered)


def with_other_past(messages: tuple[Message, ...], chance: Random) -> tuple[Message, ...]:
    place = chance.randrange(len(messages))
    other = messages[place]
    content = chance.choice((Propose(Slot(1)), ProposeReply(Slot(0), "IMPOSSIBLE"), Fail()))
    middle = chance.choice(((), (replace(other, content=content),), (other, messages[0])))
    return (*messages[:place], *middle, *messages[place + 1 :])


def kept_after_a_proposal() -> tuple[MemoryCache, Memory, Observation]:
    """Return a cache, its memory, and an observation that continues it."""
    proposal = Propose(Slot(0))
    first = observation(0, "....")
    cache = MemoryCache(None)
    memory = cache.recall(first)
    note_said(memory, proposal)
    cache.keep(memory, first, [DirectMessage(AgentId(1), proposal)])
    return cache, memory, first._replace(messages=(message(0, proposal, 1),))


def test_a_memory_is_continued_once() -> None:
    cache, memory, then = kept_after_a_proposal()
    cache.recall(then).negotiation.end(Slot(3))
    assert memory.agreed == 3, "it was the one that was kept"
    assert cache.recall(then).agreed is None


def unlike(then: Observation) -> list[Observation]:
    """Return observations that each differ in one thing from one to go on to."""
    (said,) = then.messages
    return [
        then._replace(messages=()),
        then._replace(messages=(replace(said, sender=AgentId(1)),)),
        then._replace(messages=(replace(said, content=Propose(Slot(1))),)),
        then._replace(agent_id=AgentId(1)),
        then._replace(calendar=observation(0, "...E1").calendar),
        then._replace(earlier=(message(1, Fail(), 0, meeting_id=7),)),
        then._replace(meeting=replace(TRIO, meeting_id=MeetingId(2))),
    ]


def test_a_memory_is_not_continued_if_anything_differs_or_it_knows_too_much() -> None:
    _, _, then = kept_after_a_proposal()
    for other in unlike(then):
        cache, memory, _ = kept_after_a_proposal()
        assert cache.recall(other) is not memory
    cache, memory, then = kept_after_a_proposal()
    assert cache.recall(then, unhandled=1) is not memory
