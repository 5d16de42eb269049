"""SD-MAP never leaves an earlier meeting broken, and stays lawful whatever it is told."""

from collections import Counter
from collections.abc import Sequence

import pytest

from calbench.domain.actions import Reschedule, Turn
from calbench.domain.observations import Observation
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.protocols.base import Policy
from calbench.protocols.sd_map.policy import SdMap
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, BatchRejected, DmSent, InvalidToolCall, Resolution
from calbench.traces.models import Limits, Trace
from tests.effort import THOROUGH
from tests.engine.scripts import game_config
from tests.properties.bumping import Perjurer, bumping_game

GAMES = 8000 if THOROUGH else 400

EMPTY_BATCH = "Expected exactly 1 schedule action, got 0"


class Again:
    """Asks a fresh policy as well, and holds both to the same turn."""

    def __init__(self, weights: tuple[float, ...] | None) -> None:
        self._weights = weights
        self._policy = SdMap(weights)

    def act(self, observation: Observation) -> Turn:
        turn = self._policy.act(observation)
        assert SdMap(self._weights).act(observation) == turn
        return turn


def play(scenario: Scenario, limits: Limits, policies: Sequence[Policy] | None = None) -> Trace:
    config = game_config("sd-map", ("dm",)).model_copy(update={"limits": limits})
    seated = policies or seat_policies(config.team, scenario.num_agents, limits)
    return run(scenario, config, seated)


def assert_is_lawful(trace: Trace, agents: Sequence[int]) -> None:
    """No action of these agents was refused, and no batch rejected but an empty one."""
    for event in trace.events:
        if isinstance(event, InvalidToolCall):
            assert event.agent_id not in agents, event
        if isinstance(event, BatchRejected) and event.agent_id in agents:
            assert (event.conflict, event.actions) == (EMPTY_BATCH, ())


@pytest.mark.heavy
def test_sd_map_never_breaks_an_earlier_meeting() -> None:
    for seed in range(GAMES):
        scenario, limits = bumping_game(seed)
        trace = play(scenario, limits)
        assert_is_lawful(trace, range(scenario.num_agents))
        for event in trace.events:
            if isinstance(event, Resolution):
                assert event.broken_meetings == (), seed


@pytest.mark.heavy
def test_sd_map_stays_lawful_when_a_neighbour_lies_in_its_own_words() -> None:
    for seed in range(GAMES):
        scenario, limits = bumping_game(seed)
        count = scenario.num_agents
        players: list[Policy] = [Again(limits.sd_model) for _ in range(count)]
        players[seed % count] = Perjurer(seed)
        trace = play(scenario, limits, players)
        assert_is_lawful(trace, [agent for agent in range(count) if agent != seed % count])


@pytest.mark.heavy
def test_drawn_games_hold_what_the_property_is_about() -> None:
    """Repairs that succeed and fail, moves of participants and of outsiders."""
    seen: Counter[str] = Counter()
    for seed in range(GAMES):
        scenario, limits = bumping_game(seed)
        errands = {*scenario.cost_by_item} - {*scenario.meeting_by_id}
        for event in play(scenario, limits).events:
            if isinstance(event, DmSent):
                seen[event.content.kind] += 1
            elif isinstance(event, Resolution):
                seen[event.outcome] += 1
            elif isinstance(event, BatchApplied):
                moves = [a for a in event.actions if isinstance(a, Reschedule)]
                seen[f"moves in {event.phase}"] += any(m.item_id not in errands for m in moves)
    expected = {
        "scheduled",
        "no_batch",
        "inconsistent_slots",
        "reschedule_request",
        "confirm_reschedule",
        "fail_reschedule",
        "moves in VOLUNTARY",
        "moves in DECISION",
    }
    assert {kind: seen[kind] for kind in expected if seen[kind] < 20} == {}
