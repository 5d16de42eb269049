"""Mediator against a game worked out by hand, and against IMAP."""

import pytest

from calbench import play_game, score_game
from calbench.domain.actions import PASS, SealedReport, Turn
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Announcement, CostReport, Decision, Message
from calbench.domain.observations import Phase
from calbench.engine.replay import replay
from calbench.protocols.mediator import Mediated
from calbench.runs.verification import verify_trace
from calbench.traces.events import AnnouncementSent, DmSent, Resolution, SealedSent, TurnStart
from calbench.traces.models import Limits, Trace
from calbench.traces.storage import trace_bytes
from tests.engine.scripts import book
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario
from tests.protocols.observations import TRIO, message, observation

# The vectors, in shown costs, are
#   agent 0   100   0    1   none   0
#   agent 1     0  10    1     0  none
#   agent 2    10   1  none   10    0
# and their sums 110, 11, -, -, -: slot 1 wins.
ROWS = ["E3.E1B.", ".E2E1.B", "E2E1BE2."]


def play(rows: list[str] = ROWS, **limits: int) -> Trace:
    return play_game(
        make_scenario(rows, [(2, 0, 1)]), "mediator", limits=Limits.model_validate(limits)
    )


def announced(slot: int) -> Message:
    content = Announcement(slot=Slot(slot))
    return Message(None, TRIO.participants, "sealed", MeetingId(1), content)


def test_mediator_takes_three_sealed_messages_when_three_meet_and_tells_one_slot_of_each() -> None:
    trace = play()
    sealed = [e for e in trace.events if isinstance(e, SealedSent)]
    slots = tuple(Slot(slot) for slot in range(5))
    assert [(e.turn, e.from_agent, e.content) for e in sealed] == [
        (0, 2, CostReport(slots=slots, costs=(10, 1, None, 10, 0))),
        (0, 0, CostReport(slots=slots, costs=(100, 0, 1, None, 0))),
        (0, 1, CostReport(slots=slots, costs=(0, 10, 1, 0, None))),
    ]
    (word,) = [e for e in trace.events if isinstance(e, AnnouncementSent)]
    assert (word.turn, word.to_agents, word.content.slot) == (0, (0, 1, 2), 1)
    assert not any(isinstance(event, DmSent) for event in trace.events)
    assert max(e.turn for e in trace.events if isinstance(e, TurnStart)) == 1
    # Three hearers, two others each, one slot: six half slots, two a target.
    score = score_game(trace)
    assert [agent.vps for agent in score.agents] == [1.0, 1.0, 1.0]
    (share,) = score.vps_shares
    assert (share.source, share.channel, share.vps) == ("announcement", "sealed", 3.0)


def test_vector_is_handed_over_once_and_only_to_a_mediator() -> None:
    first = observation(1, ".E10B")
    assert Mediated().act(first) == PASS
    sealed = Mediated().act(first._replace(has_mediator=True))
    report = CostReport(slots=(Slot(0), Slot(1), Slot(2)), costs=(0, 10, None))
    assert sealed == Turn((SealedReport(content=report),))
    own = Message(AgentId(1), (), "sealed", MeetingId(1), report)
    again = observation(1, ".E10B", messages=[own])._replace(has_mediator=True)
    assert Mediated().act(again) == PASS


def test_participant_follows_the_mediator_and_no_agent() -> None:
    for word, turn in (
        (announced(1), Turn((book(1, 1),))),
        (message(0, Announcement(slot=Slot(1)), 1), PASS),
        (message(0, Decision(slot=Slot(1)), 1), PASS),
        (announced(9), PASS),
    ):
        seen = observation(1, "...", phase=Phase.DECISION, messages=[word])
        assert Mediated().act(seen) == turn


@pytest.mark.heavy
def test_mediator_plays_imaps_schedule_and_its_trace_verifies() -> None:
    for seed in range(200):
        scenario = canonical_scenario(seed)
        trace = play_game(scenario, "mediator")
        imap = play_game(scenario, "imap")
        assert trace.final_state.calendars == imap.final_state.calendars
        assert [e.outcome for e in trace.events if isinstance(e, Resolution)] == [
            e.outcome for e in imap.events if isinstance(e, Resolution)
        ]
        assert trace.metrics.messages == 15
        assert trace_bytes(replay(trace)) == trace_bytes(trace)
    verify_trace(trace)


def test_participant_needs_no_mediator_when_it_meets_nobody() -> None:
    alone = Meeting(MeetingId(1), (AgentId(2),), 1)
    asked = observation(2, "BE1.", meeting=alone)._replace(has_mediator=True)
    assert Mediated().act(asked) == PASS
    seen = observation(2, "BE1.", phase=Phase.DECISION, meeting=alone)
    assert Mediated().act(seen) == Turn((book(1, 2),))
