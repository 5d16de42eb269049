"""Turns that a protocol declares idle until it hears something: not asked, and the same game."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calbench.domain.actions import PASS, DirectMessage, Turn
from calbench.domain.ids import AgentId
from calbench.domain.messages import CHANNELS, Channel, Text
from calbench.domain.observations import CHEAP_TALK, Observation
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies, team_of
from calbench.protocols.base import Policy, first_of
from calbench.protocols.degenerate import Silent
from calbench.protocols.imap import Imap
from calbench.protocols.registry import POLICIES
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Limits, Seat, Team
from calbench.traces.storage import trace_bytes
from tests.factories import make_scenario
from tests.strategies import loose_scenarios, scenarios

FIRST = {
    "imap": "initiator",
    "dsm": "initiator",
    "sd-map": "initiator",
    "mediator": "participants",
    "secure-sum": "participants",
    "tell-all": "participants",
    "silent": "nobody",
    "first-free": "nobody",
}

SEATS = {
    "dsm-private": Seat(
        player="dsm",
        kind="protocol",
        settings={"lmin": 1, "lmax": 2, "theta": 0.1, "w": 0.5, "batches": "single"},
    ),
    **{name: team_of(name).seats[0] for name in sorted(POLICIES)},
}

seats = st.lists(st.sampled_from(sorted(SEATS)), min_size=1, max_size=5)
channels = st.sets(st.sampled_from(CHANNELS)).map(sorted)
limits = st.builds(
    Limits,
    max_turns_per_round=st.integers(1, 15),
    decision_retries=st.integers(0, 3),
    dm_cap=st.none() | st.integers(0, 12),
)


@dataclass
class Asked:
    """Asks a policy in every turn, whatever its class declares; notes which turns there were."""

    policy: Policy
    turns: list[Observation] = field(default_factory=list)

    def act(self, observation: Observation) -> Turn:
        self.turns.append(observation)
        return self.policy.act(observation)


def config_of(
    names: Sequence[str], open_channels: Sequence[Channel], limited: Limits, *, mediator: bool
) -> GameConfig:
    team = Team(team_id="mixed", seats=tuple(SEATS[name] for name in names), mediator=mediator)
    return GameConfig(team=team, channels=tuple(open_channels), limits=limited)


SCENARIO = make_scenario([".....", ".E...", "..E.."], [(0, 1, 2)])


@example(  # a refused answer is given again
    scenario=SCENARIO,
    names=["imap"],
    open_channels=["dm"],
    limited=Limits(dm_cap=2),
    mediator=False,
)
@given(
    scenario=scenarios() | loose_scenarios(),
    names=seats,
    open_channels=channels,
    limited=limits,
    mediator=st.booleans(),
)
def test_traces_are_the_same_with_idle_turns_asked_or_not(
    scenario: Scenario,
    names: list[str],
    open_channels: list[Channel],
    limited: Limits,
    mediator: bool,
) -> None:
    config = config_of(names, open_channels, limited, mediator=mediator)
    policies = seat_policies(config.team, scenario.num_agents)
    asked = [Asked(policy) for policy in seat_policies(config.team, scenario.num_agents)]
    assert trace_bytes(run(scenario, config, policies)) == trace_bytes(run(scenario, config, asked))


def test_our_protocols_are_idle_until_they_hear_something() -> None:
    assert {name: first_of(*seat_policies(team_of(name), 1)) for name in POLICIES} == FIRST


class Noting(Imap):
    """Plays IMAP and counts its turns by sweep; its own class declares what it is told to."""

    def __init__(self) -> None:
        self.sweeps: Counter[int] = Counter()

    def act(self, observation: Observation) -> Turn:
        if observation.phase is CHEAP_TALK:
            self.sweeps[observation.turn_index] += 1
        return super().act(observation)


class PatientNoting(Noting):
    speaks_first = "initiator"


def sweeps(make: type[Noting]) -> Counter[int]:
    policies = [make() for _ in range(3)]
    run(SCENARIO, config_of(["imap"], ["dm"], Limits(), mediator=False), policies)
    return sum((policy.sweeps for policy in policies), Counter())


def test_idle_turns_are_not_asked() -> None:
    assert sweeps(Noting) == {0: 3, 1: 3, 2: 3}
    # In the third sweep nobody has heard anything since the last one.
    assert sweeps(PatientNoting) == {0: 3, 1: 3}


def test_a_subclass_declares_for_itself() -> None:
    assert first_of(Imap()) == "initiator"
    assert first_of(Noting()) is None
    assert first_of(Asked(Imap())) is None


class Insistent:
    """Says something in its second sweep, though it has heard nothing."""

    def act(self, observation: Observation) -> Turn:
        if observation.phase is CHEAP_TALK and observation.turn_index == 1:
            return Turn((DirectMessage(to=AgentId(1), content=Text(text="Hello")),))
        return PASS


class WronglyPatient(Insistent):
    speaks_first = "participants"


class Chatty:
    """Speaks to agent 2 in the first sweep, so that there is a second one."""

    def act(self, observation: Observation) -> Turn:
        if observation.phase is CHEAP_TALK and observation.turn_index == 0:
            return Turn((DirectMessage(to=AgentId(2), content=Text(text="Hello")),))
        return PASS


@pytest.mark.parametrize(("make", "messages"), [(Insistent, 2), (WronglyPatient, 1)])
def test_a_wrong_declaration_makes_another_game(make: type[Policy], messages: int) -> None:
    config = config_of(["imap"], CHANNELS, Limits(), mediator=False)
    policies: list[Policy] = [make(), Chatty(), Silent()]
    assert run(SCENARIO, config, policies).metrics.messages == messages
