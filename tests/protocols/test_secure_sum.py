"""Secure sum against games worked out by hand, and against IMAP."""

from dataclasses import replace

import pytest

from calbench import play_game
from calbench.domain.actions import PASS, DirectMessage, Turn
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Announcement, Content, Decision, Message, PartialSum, Share
from calbench.domain.observations import Observation, Phase
from calbench.domain.sharing import MODULUS
from calbench.engine.drivers import run
from calbench.engine.seating import team_of
from calbench.protocols.secure_sum import SecureSum
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, Event, Resolution, TurnStart
from calbench.traces.models import GameConfig, Limits, Trace
from calbench.traces.storage import trace_bytes
from tests.effort import THOROUGH
from tests.engine.scripts import book
from tests.protocols.observations import message, observation
from tests.protocols.secure_sums import drawn, messages, play, sent


def to(agent: int, content: Content) -> DirectMessage:
    return DirectMessage(to=AgentId(agent), content=content)


def asked(agent: int, row: str, *said: Message, private_seed: int | None = 7) -> Turn:
    seen = observation(agent, row, messages=said)
    return SecureSum().act(seen._replace(private_seed=private_seed))


# ---------------------------------------------------------------- the flow


def test_secure_sum_takes_ten_messages_when_three_meet() -> None:
    assert sent(play()) == [
        (0, 2, 0, "share"),
        (0, 2, 1, "share"),
        (0, 0, 1, "share"),
        (0, 0, 2, "share"),
        (0, 1, 0, "share"),
        (0, 1, 2, "share"),
        (0, 1, 0, "partial_sum"),  # the last speaker has read all shares in its first turn
        (1, 2, 0, "partial_sum"),
        (1, 0, 1, "announcement"),
        (1, 0, 2, "announcement"),
    ]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_number_of_messages_follows_the_formula_whoever_speaks_first(count: int) -> None:
    rows = ["....."] * count
    for first in range(count):
        order = (first, *[agent for agent in range(count) if agent != first])
        trace = play(rows, order)
        assert len(messages(trace)) == count * (count - 1) + 2 * (count - 1)
        assert trace.metrics.rounds_scheduled == 1
        # The last speaker sends its sum at once, the others a sweep later: the initiator
        # waits one more if any of them speaks after it.
        turns = [event.turn for event in trace.events if isinstance(event, TurnStart)]
        assert max(turns) == (3 if order.index(0) < count - 2 else 2)


def test_first_vector_of_each_participant_counts_and_no_outsiders_or_short_one() -> None:
    zeros = Share(values=(0, 0, 0))
    own = [message(1, zeros, agent) for agent in (0, 2)]
    said = [
        *own,
        message(0, zeros, 1),
        message(0, Share(values=(9, 9, 9)), 1),
        message(4, zeros, 1),
        message(2, Share(values=(0, 0)), 1),
    ]
    assert asked(1, "...", *said) == PASS
    turn = asked(1, "...", *said, message(2, Share(values=(-1, 0, 10**20)), 1))
    expected = PartialSum(values=(MODULUS - 1, 0, 10**20 % MODULUS))
    assert turn == Turn((to(0, expected),))


def attempts(trace: Trace) -> dict[int, int]:
    return {e.agent_id: e.attempt for e in trace.events if isinstance(e, BatchApplied)}


def test_no_partial_sum_follows_shares_that_the_cap_cut_short() -> None:
    trace = play(dm_cap=5)
    assert [kind for *_, kind in sent(trace)] == ["share"] * 5
    trace = play(dm_cap=9)
    assert [kind for *_, kind in sent(trace)][-1] == "announcement"
    assert attempts(trace) == {0: 0, 1: 0, 2: 1}


@pytest.mark.parametrize("max_turns", [1, 2, 3])
def test_only_what_was_read_counts_when_the_cap_cuts_the_talk(max_turns: int) -> None:
    trace = play(max_turns_per_round=max_turns)
    assert ("announcement" in [kind for *_, kind in sent(trace)]) == (max_turns > 1)
    late = {0: max_turns <= 1, 1: max_turns <= 1, 2: max_turns <= 2}
    assert attempts(trace) == late


def test_participant_follows_an_announcement_of_the_initiator_only() -> None:
    word = Announcement(slot=Slot(1))
    heard: list[tuple[Message, Turn]] = [
        (message(0, word, 1), Turn((book(1, 1),))),
        (message(2, word, 1), PASS),
        (message(0, Decision(slot=Slot(1)), 1), PASS),
        (Message(None, (AgentId(1),), "sealed", MeetingId(1), word), PASS),
        (replace(message(0, word, 1, meeting_id=7), meeting_id=MeetingId(1)), Turn((book(1, 1),))),
    ]
    for said, turn in heard:
        seen = observation(1, "...", phase=Phase.DECISION, messages=[said])
        assert SecureSum().act(seen) == turn
    late = observation(1, "...", phase=Phase.DECISION, earlier=[message(0, word, 1, meeting_id=7)])
    assert SecureSum().act(late) == PASS


def test_participant_says_nothing_without_chance_or_channel_or_company() -> None:
    assert asked(1, "...", private_seed=None) == PASS
    closed = observation(1, "...", channels=["all_agent_groupchat"])._replace(private_seed=7)
    assert SecureSum().act(closed) == PASS
    alone = Meeting(MeetingId(1), (AgentId(2),), 1)
    seen = observation(2, "BE1.", meeting=alone)._replace(private_seed=7)
    assert SecureSum().act(seen) == PASS
    assert SecureSum().act(seen._replace(phase=Phase.DECISION)) == Turn((book(1, 2),))
    for phase in Phase:
        hidden = observation(3, "...", phase=phase, meeting=HiddenMeeting(MeetingId(1), 1))
        assert SecureSum().act(hidden._replace(private_seed=7)) == PASS


# ---------------------------------------------------------------- each agent's own chance


class Note:
    """Plays secure sum and notes what it sees."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def act(self, seen: Observation) -> Turn:
        self.seen.append(seen)
        return SecureSum().act(seen)


def noted(scenario: Scenario, *, private: bool = True) -> list[Note]:
    team = team_of("secure-sum" if private else "imap")
    notes = [Note() for _ in range(scenario.num_agents)]
    run(scenario, GameConfig(team=team, channels=("dm",), limits=Limits()), notes)
    return notes


def test_private_seed_stands_in_its_agents_observations_and_nowhere_else() -> None:
    scenario = drawn(1)
    notes = noted(scenario)
    owner_by_seed = {
        seen.private_seed: (seen.agent_id, seen.round_index) for note in notes for seen in note.seen
    }
    assert None not in owner_by_seed
    assert scenario.seed not in owner_by_seed
    places = {(seen.agent_id, seen.round_index) for note in notes for seen in note.seen}
    assert len(owner_by_seed) == len(places)
    for note in notes:
        for seen in note.seen:
            assert owner_by_seed[seen.private_seed] == (seen.agent_id, seen.round_index)
            others = [str(seed) for seed in owner_by_seed if seed != seen.private_seed]
            assert not any(seed in repr(seen) for seed in others)
    text = trace_bytes(play_game(scenario, "secure-sum")).decode()
    assert not any(str(seed) in text for seed in owner_by_seed)
    unasked = noted(scenario, private=False)
    assert {seen.private_seed for note in unasked for seen in note.seen} == {None}


def test_shares_change_with_the_scenarios_seed_and_nothing_else_does() -> None:
    one, other = play(seed=1), play(seed=2)
    assert messages(one) != messages(other)
    assert sent(one) == sent(other)
    assert one.final_state == other.final_state


# ---------------------------------------------------------------- against IMAP


def played(trace: Trace) -> tuple[object, ...]:
    kept: list[Event] = [e for e in trace.events if isinstance(e, BatchApplied | Resolution)]
    return (trace.final_state.calendars, trace.final_state.cost_by_agent, kept)


def test_secure_sum_plays_imaps_game() -> None:
    for seed in range(5000 if THOROUGH else 100):
        scenario = drawn(seed)
        trace = play_game(scenario, "secure-sum")
        assert played(trace) == played(play_game(scenario, "imap"))
        count = len(scenario.meetings[0].participants)
        assert len(messages(trace)) <= 5 * (count * (count - 1) + 2 * (count - 1))


@pytest.mark.heavy
@pytest.mark.parametrize("team", ["mediator", "secure-sum"])
def test_no_earlier_meeting_is_ever_left_inconsistent(team: str) -> None:
    for seed in range(525 if THOROUGH else 25):
        for cap in (1, 2, 3, 4, 5, 6, 8, 15):
            limits = Limits(max_turns_per_round=cap)
            trace = play_game(drawn(seed), team, limits=limits)
            for event in trace.events:
                if isinstance(event, Resolution):
                    assert event.broken_meetings == ()
                    assert event.outcome != "earlier_meeting_broken"
