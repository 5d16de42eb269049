"""IMAP against a game worked out by hand (paper, appendix D.1)."""

import pytest

from calbench.domain.actions import PASS, DirectMessage, Turn
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Content, CostReport, CostRequest, Decision, Message
from calbench.domain.observations import Phase
from calbench.engine.drivers import run
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.imap import Imap
from calbench.traces.events import BatchApplied, DmSent
from calbench.traces.models import Trace
from tests.engine.scripts import book, game_config, move
from tests.factories import make_scenario
from tests.protocols.observations import message, observation

# Costs 1/2/3 are shown as 1/10/100, so the vectors are
#   agent 0   100   0    1   none   0
#   agent 1     0  10    1     0  none
#   agent 2    10   1  none   10    0
# and their sums 110, 11, -, -, -: slot 1 wins.
ROWS = ["E3.E1B.", ".E2E1.B", "E2E1BE2."]
ALL = tuple(Slot(slot) for slot in range(5))


def play(
    rows: list[str], order: tuple[int, ...] = (2, 0, 1), *, max_turns: int = 15, retries: int = 3
) -> Trace:
    config = game_config("imap", max_turns=max_turns, retries=retries)
    return run(make_scenario(rows, [order]), config, [Imap() for _ in rows])


def sent(trace: Trace) -> list[tuple[int, int, int, Content]]:
    """Return (sweep, sender, recipient, content) of every message."""
    return [
        (event.turn, event.from_agent, event.to_agents[0], event.content)
        for event in trace.events
        if isinstance(event, DmSent)
    ]


def report(*costs: int | None) -> CostReport:
    slots = tuple(Slot(slot) for slot in range(len(costs)))
    return CostReport(slots=slots, costs=costs)


def test_imap_takes_six_messages_when_three_meet_and_moves_errands() -> None:
    request, decision, trace = CostRequest(slots=ALL), Decision(slot=Slot(1)), play(ROWS)
    assert sent(trace) == [
        (0, 0, 1, request),
        (0, 0, 2, request),
        (0, 1, 0, report(0, 10, 1, 0, None)),
        (1, 2, 0, report(10, 1, None, 10, 0)),
        (1, 0, 1, decision),
        (1, 0, 2, decision),
    ]
    batches = {e.agent_id: e.actions for e in trace.events if isinstance(e, BatchApplied)}
    assert batches == {
        0: (book(1, 1),),
        1: (move(106, 1, 0, JUSTIFICATION), book(1, 1)),
        2: (move(112, 1, 4, JUSTIFICATION), book(1, 1)),
    }
    assert trace.final_state.cost_by_agent == (0, 2, 1)
    assert trace.metrics.rounds_scheduled == 1


@pytest.mark.parametrize(
    ("attempt", "turn"),
    [
        (0, PASS),
        (1, Turn((move(102, 2, 0, JUSTIFICATION), book(1, 2)))),
        (2, Turn((book(1, 3),))),
        (3, Turn((book(1, 4),))),
        (4, PASS),
    ],
)
def test_retry_takes_the_slot_of_its_own_number_counted_from_zero(attempt: int, turn: Turn) -> None:
    seen = observation(1, ".BE1..", phase=Phase.DECISION, attempt=attempt)
    assert Imap().act(seen) == turn


@pytest.mark.parametrize(
    ("first", "turn"),
    [
        (  # The first vector of each responder counts.
            [message(1, report(9, 9, 0, 9, 9), 0), message(1, report(0, 9, 9, 9, 9), 0)],
            Turn(tuple(DirectMessage(AgentId(to), Decision(slot=Slot(2))) for to in (1, 2))),
        ),
        # Vectors of outsiders and of another length do not.
        ([message(1, report(0, 0, 0), 0), message(4, report(0, 0, 0, 0, 0), 0)], PASS),
    ],
)
def test_initiator_decides_by_one_whole_vector_of_each(first: list[Message], turn: Turn) -> None:
    talk = [message(0, CostRequest(slots=ALL), 1), *first, message(2, report(0, 0, 0, 0, 0), 0)]
    assert Imap().act(observation(0, ".....", messages=talk)) == turn


def test_responder_answers_once_and_only_the_initiator() -> None:
    asked = [message(0, CostRequest(slots=ALL), 2)]
    answer = DirectMessage(to=AgentId(0), content=report(0, 10, None, 0, 0))
    assert Imap().act(observation(2, ".E10B..", messages=asked)) == Turn((answer,))
    answered = [*asked, message(2, answer.content, 0)]
    assert Imap().act(observation(2, ".E10B..", messages=answered)) == PASS
    stranger = [message(1, CostRequest(slots=ALL), 2)]
    assert Imap().act(observation(2, ".....", messages=stranger)) == PASS


def test_responder_follows_a_decision_of_the_initiator_only() -> None:
    for sender, turn in ((0, Turn((book(1, 1),))), (2, PASS), (4, PASS)):
        heard = [message(sender, Decision(slot=Slot(1)), 1)]
        seen = observation(1, "...", phase=Phase.DECISION, messages=heard)
        assert Imap().act(seen) == turn


def test_imap_takes_its_own_cheapest_slot_when_it_meets_nobody() -> None:
    alone = Meeting(MeetingId(1), (AgentId(2),), 1)
    seen = observation(2, "BE1.", phase=Phase.DECISION, meeting=alone)
    assert Imap().act(seen) == Turn((book(1, 2),))
