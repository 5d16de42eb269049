from dataclasses import asdict
from math import fsum

import pytest

from calbench.domain.actions import BroadcastMessage, ParticipantMessage
from calbench.domain.canonical import canonical_json
from calbench.domain.messages import Text
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.outcomes import assigned_by_agent, meeting_results, scheduled_by_agent
from calbench.metrics.usage import message_bytes, messages_sent_by_agent
from calbench.oracle.cache import OracleCache
from tests.factories import make_scenario
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    dm,
    move,
    play_random,
    play_scripts,
    play_team,
    talk,
)
from tests.metrics.language_games import (
    UNREADABLE,
    reflecting,
    reflection,
    small_game,
    small_reflected_game,
)


def test_results_name_what_became_of_each_meeting() -> None:
    scenario = make_scenario(["E....", ".....", "....."], [(1, 0), (0, 2), (1, 2), (2, 0)])
    trace = play_scripts(
        scenario,
        {
            0: talk(dm(1, Text(text="hello")), dm(2, Text(text="hello")))
            | decide(move(101, 0, 4), book(1, 0))
            | decide(book(2, 1), round_index=1)
            | decide(book(4, 2), round_index=3),
            1: decide(book(1, 0)) | decide(move(1, 0, 3), book(3, 1), round_index=2),
            2: decide(book(2, 2), round_index=1)
            | decide(book(3, 1), round_index=2)
            | decide(book(4, 9), round_index=3),
        },
    )
    results = meeting_results(trace.events)
    assert [result.outcome for result in results] == [
        "scheduled",
        "inconsistent_slots",
        "earlier_meeting_broken",
        "no_batch",
    ]
    assert [result.slot for result in results] == [0, None, None, None]
    assert [result.first_speaker for result in results] == [1, 0, 1, 2]
    assert [result.messages for result in results] == [2, 0, 0, 0]
    assert [result.cost for result in results] == [1, 0, 1, 0]
    assert [result.rejected_batches for result in results] == [0, 0, 0, 1]
    assert results[2].broken_meetings == (1,)
    assert assigned_by_agent(scenario) == (3, 2, 3)
    assert scheduled_by_agent(results, 3) == (1, 1, 0)
    assert (meeting_results(()), scheduled_by_agent((), 3)) == ((), (0, 0, 0))


def of_agent(score: GameScore, agent: int) -> list[tuple[object, ...]]:
    return [
        (r.role, r.cost, r.oracle_cost, r.excess_cost) for r in score.rounds if r.agent_id == agent
    ]


def test_rounds_of_a_small_game_by_hand() -> None:
    score = score_game(small_reflected_game())
    assert [(r.round, r.meeting_id, r.agent_id) for r in score.rounds] == [
        *((0, 1, 0), (0, 1, 1), (0, 1, 2)),
        *((1, 2, 0), (1, 2, 1), (1, 2, 2)),
    ]
    assert of_agent(score, 0) == [("first", 0, 0, 0), ("outsider", 0, None, None)]
    assert of_agent(score, 1) == [("subsequent", 0, 0, 0), ("first", 0, 0, 0)]
    assert of_agent(score, 2) == [("outsider", 0, None, None), ("subsequent", 1, 0, 1)]
    assert [r.vps for r in score.rounds] == pytest.approx([8 / 3, 0, 2 / 3, 0, 5 / 3, 1])
    # Without a readable reflection it is unknown.
    one_answer = [reflection(0, 1, {0: (3, 0, 0, 0)}), reflection(1, 1, UNREADABLE)]
    score = score_game(reflecting(small_game(), one_answer))
    assert [r.vps for r in score.rounds] == [1, None, None, None, None, None]


def test_moves_of_meetings_and_of_copies_are_told_apart() -> None:
    scenario = make_scenario(["....", "....", "...."], [(0, 1), (0, 2), (1, 2)])
    trace = play_scripts(
        scenario,
        {
            0: talk(dm(1, Text(text="zero?")))
            | decide(book(1, 0))
            | decide(book(2, 1), round_index=1),
            1: decide(book(1, 0)) | decide(move(1, 0, 3), book(3, 2), round_index=2),
            2: decide(book(2, 2), round_index=1) | decide(move(2, 2, 3), book(3, 2), round_index=2),
        },
    )
    score = score_game(trace)
    moved = [(r.round, r.agent_id, {*r.moved_meetings}, {*r.moved_copies}) for r in score.rounds]
    assert [entry for entry in moved if entry[2] or entry[3]] == [
        (2, 1, {1}, set()),
        (2, 2, set(), {2}),
    ]
    assert [r.is_scheduled for r in score.rounds] == [True] * 3 + [False] * 6
    assert [r.oracle_cost for r in score.rounds if not r.is_scheduled] == [None] * 6
    assert [r.messages for r in score.rounds if r.agent_id == 0] == [1, 0, 0]


def test_prior_meetings_count_as_earlier_ones() -> None:
    scenario = canonical_scenario(4, num_prior_meetings=2)
    prior = scenario.prior_meetings[0]
    mover = prior.participants[0]
    free = scenario.calendars[mover].index(None)
    trace = play_scripts(scenario, {mover: decide(move(prior.meeting_id, prior.slot, free))})
    # A decision needs a schedule; a prior meeting moves only in a batch with one.
    assert not any(r.moved_meetings for r in score_game(trace).rounds)
    meeting = next(m for m in scenario.meetings if mover in m.participants)
    batch = decide(
        move(prior.meeting_id, prior.slot, free),
        book(meeting.meeting_id, prior.slot),
        round_index=scenario.meetings.index(meeting),
    )
    moved = [r for r in score_game(play_scripts(scenario, {mover: batch})).rounds if r.cost]
    assert [r.agent_id for r in moved] == [mover]
    assert sorted(moved[0].moved_meetings) == [prior.meeting_id]


@pytest.mark.parametrize("team", ["imap", "sd-map", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_rounds_add_up_to_the_game(team: str, seed: int) -> None:
    scenario = canonical_scenario(seed, pref_level=3)
    trace = play_random(scenario, seed) if team == "random" else play_team(scenario, team)
    score = score_game(trace, oracle=OracleCache())
    assert len(score.rounds) == scenario.num_agents * len(score.meetings)
    for agent in score.agents:
        own = [r for r in score.rounds if r.agent_id == agent.agent_id]
        assert sum(r.cost for r in own) == agent.cost
        assert sum(r.messages for r in own) == agent.messages_sent
        assert sum(r.oracle_cost or 0 for r in own) == agent.oracle_cost
        shown = sum(r.shown_cost - (r.shown_oracle_cost or 0) for r in own)
        assert shown == agent.shown_excess_cost
        assert sum(r.role != "outsider" for r in own) == agent.assigned
        assert fsum(r.vps or 0 for r in own) == pytest.approx(agent.vps)
    first = [(r.round, r.agent_id) for r in score.rounds if r.role == "first"]
    assert first == [(m.round, m.first_speaker) for m in score.meetings]
    lowest = [(r.round, r.agent_id) for r in score.rounds if r.is_initiator]
    assert lowest == [(m.round, min(m.participants)) for m in score.meetings]


HELLO = Text(text="hello")


def test_group_messages_count_once_for_their_sender_and_refused_ones_never() -> None:
    scenario = make_scenario(["..", "..", "..", ".."], [(0, 1, 2)])
    trace = play_scripts(
        scenario,
        {
            0: talk(BroadcastMessage(content=HELLO), dm(1, HELLO), dm(0, HELLO), dm(7, HELLO)),
            1: talk(ParticipantMessage(content=HELLO), dm(0, Text(text=" "))),
            3: talk(dm(0, HELLO), dm(1, HELLO)),
        },
    )
    assert messages_sent_by_agent(trace.events, 4) == (2, 1, 0, 2)


def test_bytes_are_those_of_canonical_json_and_a_group_message_counts_once() -> None:
    said = Text(text="am 3. f\u00fcr alle \U0001f4c5")
    scenario = make_scenario(["..", "..", "..", ".."], [(0, 1, 2)])
    trace = play_scripts(
        scenario, {0: talk(BroadcastMessage(content=said), dm(1, HELLO)), 1: talk(dm(7, HELLO))}
    )
    sent = [canonical_json(asdict(content)).encode() for content in (said, HELLO)]
    assert message_bytes(trace.events) == sum(map(len, sent))
