"""The degenerate baselines: silent, first-free and tell-all."""

import pytest

from calbench.domain.actions import PASS, Turn
from calbench.domain.ids import Slot
from calbench.domain.messages import CHANNELS, Channel, CostReport
from calbench.domain.observations import Phase
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.degenerate import Silent, TellAll
from calbench.traces.events import BatchApplied, DmSent, InvalidToolCall, Resolution
from calbench.traces.models import Trace
from tests.engine.scripts import book, game_config, move
from tests.factories import make_scenario
from tests.protocols.observations import message, observation

# The sums of the vectors of agents 0, 1 and 3 are 110, 11, -, -: slot 1 wins.
ROWS = ["E3.E1B", ".E2E1.", "E1E1E1E1", "E2E1B."]


def play(team: str, *channels: Channel, rows: list[str] | None = None, retries: int = 3) -> Trace:
    scenario = make_scenario(rows or ROWS, [(1, 0, 3)])
    config = game_config(team, channels or CHANNELS, retries=retries)
    return run(scenario, config, seat_policies(config.team, scenario.num_agents))


def report(*costs: int | None) -> CostReport:
    return CostReport(slots=tuple(Slot(slot) for slot in range(len(costs))), costs=costs)


VECTORS = {1: report(0, 10, 1, 0), 0: report(100, 0, 1, None), 3: report(10, 1, None, 0)}


def test_silent_does_nothing_and_first_free_books_its_lowest_free_slot_without_a_word() -> None:
    silent, first_free = play("silent"), play("first-free")
    for trace in (silent, first_free):
        assert trace.metrics.messages == trace.metrics.realised_cost == 0
    assert not any(isinstance(event, BatchApplied | InvalidToolCall) for event in silent.events)
    turns = [Silent().act(observation(0, "...", phase=phase)) for phase in Phase]
    assert turns == [PASS] * len(Phase)
    (resolution,) = [event for event in first_free.events if isinstance(event, Resolution)]
    assert resolution.slot_by_agent == {"0": 1, "1": 0, "3": 3}
    assert resolution.outcome == "inconsistent_slots"


def test_tell_all_sends_a_message_to_every_agent_when_only_dms_are_open() -> None:
    trace = play("tell-all", "dm", "participant_groupchat")
    told = [event for event in trace.events if isinstance(event, DmSent)]
    assert [(event.from_agent, *event.to_agents) for event in told] == [
        *[(1, other) for other in (0, 2, 3)],
        *[(0, other) for other in (1, 2, 3)],
        *[(3, other) for other in (0, 1, 2)],
    ]
    assert {event.from_agent: event.content for event in told} == VECTORS
    assert trace.final_state.messages_sent_by_agent == (3, 3, 0, 3)


@pytest.mark.parametrize("channels", [("dm",), ("all_agent_groupchat",), CHANNELS])
def test_tell_all_makes_the_choice_of_imap(channels: tuple[Channel, ...]) -> None:
    trace = play("tell-all", *channels)
    batches = {e.agent_id: e.actions for e in trace.events if isinstance(e, BatchApplied)}
    assert batches == {
        0: (book(1, 1),),
        1: (move(105, 1, 0, JUSTIFICATION), book(1, 1)),
        3: (move(114, 1, 3, JUSTIFICATION), book(1, 1)),
    }
    imap = play("imap").final_state
    assert trace.final_state.calendars == imap.calendars
    assert trace.final_state.cost_by_agent == imap.cost_by_agent


def test_tell_all_makes_no_choice_when_a_vector_is_missing() -> None:
    heard = [message(1, report(0, 0, 0), 0)]
    seen = observation(0, "...", phase=Phase.DECISION, messages=heard)
    assert TellAll().act(seen) == PASS
    heard.append(message(2, report(None, 0, 0), 0))
    assert TellAll().act(seen._replace(messages=tuple(heard))) == Turn((book(1, 1),))
