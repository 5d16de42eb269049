"""What every policy of this package promises, whatever the scenario, channels and limits."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.config.composition import compose_team
from calbench.config.groups import known_names
from calbench.domain.actions import PASS, Turn
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.messages import (
    CHANNELS,
    Announcement,
    Confirm,
    ConfirmReschedule,
    Content,
    CostReport,
    CostRequest,
    Decision,
    Fail,
    FailReschedule,
    MeetingMove,
    Message,
    OfferedPlan,
    PartialSum,
    PlanDecision,
    Proposals,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
    Scores,
    Share,
    Text,
)
from calbench.domain.observations import Observation, Phase
from calbench.engine.drivers import run
from calbench.engine.seating import team_of
from calbench.protocols.base import Policy, own_meeting
from calbench.protocols.registry import POLICIES, build_policy
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchRejected, InvalidToolCall, MessageSent, TurnStart
from calbench.traces.models import GameConfig, Limits, Team, Trace
from tests.effort import examples
from tests.properties.players import PROSE, Liar, Talkative
from tests.strategies import loose_scenarios, scenarios, seeds


@dataclass(frozen=True)
class Promise:
    """What a policy declares of itself.

    Attributes:
        vocabulary: kinds of content it sends.
        sweeps: after how many sweeps it has nothing more to say, the silent one included.
        outsiders_act: whether agents outside the meeting under discussion do anything.
    """

    vocabulary: tuple[type[Content], ...]
    sweeps: int
    outsiders_act: bool = False


PROMISES: dict[str, Promise] = {
    "imap": Promise((CostRequest, CostReport, Decision), sweeps=3),
    "sd-map": Promise(
        (
            Propose,
            ProposeReply,
            Confirm,
            Fail,
            RescheduleRequest,
            ProposeReschedule,
            RescheduleReply,
            ConfirmReschedule,
            FailReschedule,
        ),
        sweeps=99,
        outsiders_act=True,
    ),
    "dsm-welfare": Promise((Proposals, Scores, PlanDecision), sweeps=99, outsiders_act=True),
    "dsm-private": Promise((Proposals, Scores, PlanDecision), sweeps=3, outsiders_act=True),
    "dsm-welfare-single": Promise((Proposals, Scores, PlanDecision), sweeps=3, outsiders_act=True),
    "mediator": Promise((CostReport,), sweeps=2),
    "secure-sum": Promise((Share, PartialSum, Announcement), sweeps=4),
    "tell-all": Promise((CostReport,), sweeps=2),
    "first-free": Promise((), sweeps=1),
    "silent": Promise((), sweeps=1),
}

PRESETS = known_names("protocol")
"""Policies with the settings of ``conf/protocol``: they replace the bare policy."""

NAMES = sorted({*POLICIES, *PRESETS} - {"dsm"})
"""The policies as they are played; DSM has no settings of its own, only those of its presets."""

EMPTY_BATCH = "Expected exactly 1 schedule action, got 0"
"""The only conflict a protocol may run into: it had nothing to submit."""


class Twice:
    """Lets a policy answer twice, and a fresh one once, and holds them to the same turn."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._policy = build(name)
        self.turns: list[tuple[Observation, Turn]] = []

    def act(self, observation: Observation) -> Turn:
        turn = self._policy.act(observation)
        assert self._policy.act(observation) == turn
        assert build(self._name).act(observation) == turn
        self.turns.append((observation, turn))
        return turn


@cache
def preset(name: str) -> Team:
    return Team(team_id=name, seats=(compose_team(name).seats[0],))


def build(name: str) -> Policy:
    seat = preset(name).seats[0] if name in PRESETS else None
    policy = build_policy(seat.player, seat.settings) if seat else build_policy(name, {})
    assert policy is not None
    return policy


def team(name: str) -> Team:
    return preset(name) if name in PRESETS else team_of(name)


def config(name: str, channels: tuple[str, ...], limits: Limits) -> GameConfig:
    return GameConfig.model_validate({"team": team(name), "channels": channels, "limits": limits})


CHANNEL_SETS = [opened for count in (3, 2, 1, 0) for opened in combinations(CHANNELS, count)]
limits = st.builds(
    Limits,
    max_turns_per_round=st.integers(1, 15),
    decision_retries=st.integers(0, 4),
    dm_cap=st.none() | st.integers(0, 9),
)
any_scenarios = scenarios(max_slots=8) | loose_scenarios()
FEW = settings(max_examples=examples(40, nightly=600), deadline=None)
OF_EACH_CHANNEL_SET = settings(max_examples=examples(40, nightly=75), deadline=None)

every_policy = pytest.mark.parametrize("name", NAMES)
every_channel_set = pytest.mark.parametrize("channels", CHANNEL_SETS, ids="+".join)


def keeps_its_promises(
    name: str, scenario: Scenario, channels: tuple[str, ...], limits: Limits
) -> None:
    """Play a policy against itself and hold it to everything it promises."""
    players = [Twice(name) for _ in range(scenario.num_agents)]
    trace = run(scenario, config(name, channels, limits), players)
    is_lawful(trace, seats=range(scenario.num_agents))
    speaks_its_vocabulary(trace, name)
    ends_by_itself(trace, name)
    for player in players:
        for observation, turn in player.turns:
            if own_meeting(observation) is None and not PROMISES[name].outsiders_act:
                assert turn == PASS


def is_lawful(trace: Trace, seats: range | list[int]) -> None:
    """No action of these seats was refused, save messages by the cap; no batch but an empty."""
    cap = trace.config.limits.dm_cap
    for event in trace.events:
        if isinstance(event, InvalidToolCall) and event.agent_id in seats:
            assert event.reason == f"The cap of {cap} messages in this round is reached"
        elif isinstance(event, BatchRejected) and event.agent_id in seats:
            assert (event.conflict, event.actions) == (EMPTY_BATCH, ())
            assert event.phase is Phase.DECISION


def speaks_its_vocabulary(trace: Trace, name: str) -> None:
    for event in trace.events:
        if isinstance(event, MessageSent):
            assert isinstance(event.content, PROMISES[name].vocabulary)


def ends_by_itself(trace: Trace, name: str) -> None:
    sweeps = min(PROMISES[name].sweeps, trace.config.limits.max_turns_per_round)
    assert all(event.turn < sweeps for event in trace.events if isinstance(event, TurnStart))


def stays_lawful_beside(
    make: Callable[[int], Policy], name: str, scenario: Scenario, seed: int
) -> None:
    """Seat a policy everywhere but in one place, and let that neighbour talk."""
    neighbour = seed % scenario.num_agents
    seats = [seat for seat in range(scenario.num_agents) if seat != neighbour]
    players: list[Policy] = [Twice(name) for _ in range(scenario.num_agents)]
    players[neighbour] = make(seed)
    trace = run(scenario, config(name, CHANNELS, Limits(max_turns_per_round=6)), players)
    is_lawful(trace, seats)
    for player in players:
        for observation, turn in player.turns if isinstance(player, Twice) else ():
            if own_meeting(observation) is None and not PROMISES[name].outsiders_act:
                assert turn == PASS


def test_every_policy_declares_its_promises() -> None:
    assert set(PROMISES) == set(NAMES)


@every_policy
@every_channel_set
@given(scenario=any_scenarios, limits=limits)
@OF_EACH_CHANNEL_SET
def test_policy_keeps_its_promises(
    name: str, channels: tuple[str, ...], scenario: Scenario, limits: Limits
) -> None:
    keeps_its_promises(name, scenario, channels, limits)


@every_policy
@pytest.mark.parametrize("neighbour", [Talkative, Liar])
@given(scenario=any_scenarios, seed=seeds)
@FEW
def test_policy_stays_lawful_when_a_neighbour_says_anything(
    name: str, neighbour: Callable[[int], Policy], scenario: Scenario, seed: int
) -> None:
    stays_lawful_beside(neighbour, name, scenario, seed)


@every_policy
@given(scenario=any_scenarios, limits=limits)
@FEW
def test_policy_does_the_same_when_it_hears_prose_and_old_news(
    name: str, scenario: Scenario, limits: Limits
) -> None:
    players = [Twice(name) for _ in range(scenario.num_agents)]
    run(scenario, config(name, CHANNELS, limits), players)
    for player in players:
        for observation, turn in player.turns:
            assert build(name).act(with_noise(observation)) == turn


def with_noise(observation: Observation) -> Observation:
    """Add words about this meeting, and speech acts that were about an earlier one."""
    here, before = observation.meeting.meeting_id, MeetingId(0)
    slots = tuple(Slot(slot) for slot in range(len(observation.calendar)))
    old: tuple[Content, ...] = (
        CostRequest(slots=slots),
        CostReport(slots=slots, costs=(0,) * len(slots)),
        Decision(slot=Slot(0)),
        Share(values=(1,) * len(slots)),
        PartialSum(values=(1,) * len(slots)),
        Announcement(slot=Slot(0)),
        Propose(slot=Slot(0)),
        Confirm(slot=Slot(0)),
        RescheduleRequest(old_meeting_id=before, slot=Slot(0)),
        Proposals(
            plans=(
                OfferedPlan(
                    plan_id=0,
                    slot=Slot(0),
                    moves=(
                        MeetingMove(meeting_id=before, from_slot=Slot(0), to_slot=Slot(1), cost=1),
                    ),
                    vacated=(),
                ),
            )
        ),
        Scores(plan_ids=(0,), scores=(11,)),
        PlanDecision(plan_id=0, slot=Slot(0), moves=()),
    )
    me = (observation.agent_id,)
    others = [agent for agent in observation.agent_ids if agent not in me]
    words = [Message(other, me, "dm", here, Text(text=text)) for other in others for text in PROSE]
    stale = [Message(other, me, "dm", before, content) for other in others for content in old]
    return observation._replace(
        messages=(*words, *observation.messages, *words),
        earlier=(*observation.earlier, *stale),
        inbox=(*stale, *observation.inbox, *words),
    )
