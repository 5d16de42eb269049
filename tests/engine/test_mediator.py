"""The mediator as part of the rules: what it takes, when it speaks, who hears it."""

import json

import pytest
from pydantic import ValidationError

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Announcement, CostReport, Message
from calbench.domain.observations import Phase
from calbench.engine.delivery import Mediator
from calbench.engine.drivers import run
from calbench.engine.game import game_id
from calbench.engine.replay import replay
from calbench.errors import ReplayError
from calbench.traces.events import AnnouncementSent, DmSent, InvalidToolCall, SealedSent
from calbench.traces.models import Seat, Team
from calbench.traces.storage import trace_bytes
from tests.engine.scripts import (
    Game,
    Lines,
    broadcast,
    decide,
    dm,
    game_config,
    play_scripts,
    seal,
    talk,
)
from tests.factories import make_scenario

ROWS = ["....", "....", "....", "...."]
CONFIG = game_config(mediator=True)
REPORT = seal().content


def play(lines: dict[int, Lines], *, max_turns: int = 15, cap: int | None = None) -> Game:
    scenario = make_scenario(ROWS, [(1, 0, 2), (0, 1)])
    return play_scripts(scenario, lines, game_config(max_turns=max_turns, cap=cap, mediator=True))


def all_seal(sweep: int = 0) -> dict[int, Lines]:
    vectors = {0: (9, 0, 0, None), 1: (0, None, 2, 0), 2: (0, 0, 1, 0)}
    return {agent: {talk(sweep): [seal(*costs)]} for agent, costs in vectors.items()}


def test_mediator_speaks_when_the_last_vector_is_in() -> None:
    game = play(all_seal())
    events = game.trace.events
    index = next(i for i, event in enumerate(events) if isinstance(event, AnnouncementSent))
    assert isinstance(events[index - 1], SealedSent)
    assert [event.from_agent for event in game.events(SealedSent)] == [1, 0, 2]
    assert events[index] == AnnouncementSent(
        round=0,
        turn=0,
        to_agents=(AgentId(0), AgentId(1), AgentId(2)),
        meeting_id=MeetingId(1),
        content=Announcement(slot=Slot(2)),
    )


def test_announcement_waits_in_every_participants_inbox() -> None:
    game = play(all_seal())
    word = Message(
        None,
        (AgentId(0), AgentId(1), AgentId(2)),
        "sealed",
        MeetingId(1),
        Announcement(slot=Slot(2)),
    )
    for agent in range(3):
        assert game.seen(agent, talk(0)).inbox == ()
        assert game.seen(agent, talk(1)).inbox == (word,)
        assert game.seen(agent, decide(0)).messages[-1] == word
    assert game.speakers() == [[1, 0, 2], [1, 0, 2]]


def test_sealed_vector_is_shown_to_its_sender_and_to_nobody_else() -> None:
    game = play(all_seal())
    for agent in range(4):
        for observation in game.scripts[agent].seen:
            for message in (*observation.messages, *observation.earlier, *observation.inbox):
                if isinstance(message.content, CostReport):
                    assert message.sender == agent
                    assert message.recipients == ()


def test_outsider_is_neither_woken_nor_told() -> None:
    game = play(all_seal())
    assert game.scripts[3].seen == []


def test_sealed_message_counts_for_its_sender_and_the_announcement_for_nobody() -> None:
    trace = play(all_seal()).trace
    assert trace.final_state.messages_sent_by_agent == (1, 1, 1, 0)
    assert trace.metrics.messages == 3


def test_sealed_messages_use_up_the_cap_and_the_announcement_does_not() -> None:
    lines = all_seal()
    lines[2] = {talk(): [seal(), dm(0)]}
    game = play(lines, cap=4)
    assert len(game.events(SealedSent)) == 3
    assert len(game.events(AnnouncementSent)) == 1
    assert len(game.events(DmSent)) == 1
    game = play(lines, cap=2)
    (refused,) = {event.reason for event in game.events(InvalidToolCall)}
    assert refused == "The cap of 2 messages in this round is reached"
    assert game.events(AnnouncementSent) == []


def test_announcement_is_shown_neither_in_the_decision_nor_as_news_when_unread_at_the_cap() -> None:
    game = play(all_seal(), max_turns=1)
    assert len(game.events(AnnouncementSent)) == 1
    assert all(message.sender == 0 for message in game.seen(0, decide(0)).messages)
    later = game.seen(0, talk(round_index=1))
    assert [message.meeting_id for message in later.inbox] == [1]
    assert later.inbox[0].sender is None
    assert later.messages == ()
    assert later.earlier[-1] == later.inbox[0]


def test_mediator_stays_silent_while_a_vector_is_missing_or_when_no_slot_suits_all() -> None:
    lines = all_seal()
    del lines[1]
    assert play(lines).events(AnnouncementSent) == []
    lines = all_seal()
    lines[2] = {talk(): [seal(None, None, None, None)]}
    game = play(lines)
    assert len(game.events(SealedSent)) == 3
    assert game.events(AnnouncementSent) == []


def test_mediator_forgets_between_meetings() -> None:
    lines: dict[int, Lines] = {
        0: {talk(): [seal(0, 0, 0, 0)], talk(round_index=1): [seal(5, 5, 0, 5)]},
        1: {talk(): [seal(0, 0, 0, 0)], talk(round_index=1): [seal(5, 5, 0, 5)]},
    }
    game = play(lines)
    (announced,) = game.events(AnnouncementSent)
    assert (announced.round, announced.content.slot) == (1, 2)


@pytest.mark.parametrize(
    ("agent", "actions", "reason"),
    [
        (0, [seal(), seal()], "The mediator has this agent's vector already"),
        (0, [seal(0, 0, 0)], "The mediator takes whole vectors only: one cost for every slot"),
        (0, [seal(0, 0, 0, 0, 0)], "The mediator takes whole vectors only: one cost for every"),
        (3, [seal()], "Only participants of the current meeting may hand a vector to the med"),
    ],
)
def test_vector_is_refused(agent: int, actions: list[object], reason: str) -> None:
    lines: dict[int, Lines] = {1: {talk(): [broadcast()]}}
    lines[agent] = {talk(): actions}  # type: ignore[dict-item]
    (event,) = play(lines).events(InvalidToolCall)
    assert event.agent_id == agent
    assert event.reason.startswith(reason)


def test_vector_is_refused_when_the_team_has_no_mediator() -> None:
    scenario = make_scenario(ROWS, [(1, 0, 2)])
    game = play_scripts(scenario, all_seal())
    assert {event.reason for event in game.events(InvalidToolCall)} == {
        "The channel sealed is closed in this game"
    }
    assert not game.seen(0, talk()).has_mediator
    assert play_scripts(scenario, {}, CONFIG).seen(0, talk()).has_mediator


def test_vector_is_refused_outside_the_talk() -> None:
    game = play({0: {decide(): [seal()]}})
    assert {(e.phase, e.reason) for e in game.events(InvalidToolCall)} == {
        (Phase.DECISION, "sealed is not allowed in DECISION")
    }


def test_mediator_is_replayed_with_the_rules() -> None:
    trace = play(all_seal()).trace
    assert trace_bytes(replay(trace)) == trace_bytes(trace)
    index = next(i for i, e in enumerate(trace.events) if isinstance(e, AnnouncementSent))
    without = trace.model_copy(
        update={"events": (*trace.events[:index], *trace.events[index + 1 :])}
    )
    with pytest.raises(ReplayError, match=rf"^event {index}"):
        replay(without)


def test_extras_enter_the_game_id_and_the_file_only_where_they_are_used() -> None:
    scenario = make_scenario(ROWS, [(0, 1)])
    ids = set()
    for mediator, private_chance in ((False, False), (True, False), (False, True)):
        config = game_config(mediator=mediator, private_chance=private_chance)
        ids.add(game_id(scenario, config))
        written = json.dumps(config.model_dump(mode="json"))
        assert ("mediator" in written) == mediator
        assert ("private_chance" in written) == private_chance
    assert len(ids) == 3


@pytest.mark.parametrize("kind", ["model", "scripted"])
def test_mediator_is_refused_to_agents_that_speak_in_words(kind: str) -> None:
    seats = (Seat.model_validate({"player": "x", "kind": kind}), Seat(player="y", kind="protocol"))
    assert Team(team_id="t", seats=seats).mediator is False
    with pytest.raises(ValidationError, match="protocols and baselines only"):
        Team(team_id="t", seats=seats, mediator=True)


def test_mediator_knows_only_what_it_was_handed() -> None:
    empty = Mediator((AgentId(0), AgentId(2)), 4)
    one = empty.taking(AgentId(2), REPORT)
    assert (empty.vectors, one.vectors) == ({}, {2: (0, 0, 0, 0)})
    assert empty.choice is None
    assert one.choice is None
    assert one.taking(AgentId(0), seal(3, 1, 1, None).content).choice == 1


def test_game_without_vectors_is_the_same_with_a_mediator() -> None:
    scenario = make_scenario(ROWS, [(1, 0, 2)])
    lines: dict[int, Lines] = {0: {talk(): [dm(1)]}}
    with_one, without = play_scripts(scenario, lines, CONFIG), play_scripts(scenario, lines)
    assert with_one.trace.events == without.trace.events
    assert run(scenario, CONFIG, with_one.scripts).final_state == without.trace.final_state
