"""Drawn games: a scenario, limits and channels, and a player for every seat."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from hypothesis import strategies as st

from calbench.domain.messages import CHANNELS
from calbench.engine.drivers import run
from calbench.protocols.base import Policy
from calbench.protocols.registry import POLICIES
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace
from tests.properties.players import Agreeable, Liar, Reckless, Talkative
from tests.strategies import loose_scenarios, scenarios, seeds

RANDOM_PLAYERS: dict[str, Callable[[int], Policy]] = {
    "agreeable": Agreeable,
    "liar": Liar,
    "reckless": Reckless,
    "talkative": Talkative,
}

any_scenarios = scenarios(max_slots=7) | loose_scenarios().filter(lambda drawn: drawn.meetings)
channel_sets = st.sampled_from(
    [opened for count in (3, 2, 1, 0) for opened in combinations(CHANNELS, count)]
)
limits = st.builds(
    Limits,
    max_turns_per_round=st.integers(1, 15),
    decision_retries=st.integers(0, 3),
    dm_cap=st.none() | st.integers(0, 12),
)


@dataclass(frozen=True)
class DrawnGame:
    """A game before it is played."""

    scenario: Scenario
    config: GameConfig
    policies: tuple[Policy, ...]

    def play(self) -> Trace:
        return run(self.scenario, self.config, self.policies)


@st.composite
def games(
    draw: st.DrawFn, drawn_scenarios: st.SearchStrategy[Scenario] = any_scenarios
) -> DrawnGame:
    """Games of one kind of player in every seat, or of any mixture."""
    scenario = draw(drawn_scenarios)
    seed = draw(seeds)
    count = scenario.num_agents
    name = st.sampled_from([*RANDOM_PLAYERS, *POLICIES])
    names = draw(
        st.just(["agreeable"] * count)
        | st.just(["reckless"] * count)
        | st.lists(name, min_size=count, max_size=count)
    )
    policies = tuple(
        RANDOM_PLAYERS[name](seed) if name in RANDOM_PLAYERS else POLICIES[name]() for name in names
    )
    config = GameConfig(
        team=Team(
            team_id="drawn",
            seats=tuple(
                Seat(player=name, kind="protocol", private_chance=draw(st.booleans()))
                for name in names
            ),
            mediator=draw(st.booleans()),
        ),
        channels=draw(channel_sets),
        limits=draw(limits),
    )
    return DrawnGame(scenario, config, policies)
