"""The mediator as part of the rules: what it takes, when it speaks, who hears it."""

import json

import pytest
from pydantic import ValidationError

from calbench.domain.messages import CostReport
from calbench.domain.observations import Phase
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


def play(lines: dict[int, Lines], *, max_turns: int = 15, cap: int | None = None) -> Game:
    scenario = make_scenario(ROWS, [(1, 0, 2), (0, 1)])
    return play_scripts(scenario, lines, game_config(max_turns=max_turns, cap=cap, mediator=True))


def all_seal(sweep: int = 0) -> dict[int, Lines]:
    vectors = {0: (9, 0, 0, None), 1: (0, None, 2, 0), 2: (0, 0, 1, 0)}
    return {agent: {talk(sweep): [seal(*costs)]} for agent, costs in vectors.items()}


def test_sealed_vector_is_shown_to_its_sender_and_to_nobody_else() -> None:
    game = play(all_seal())
    for agent in range(4):
        for observation in game.scripts[agent].seen:
            for message in (*observation.messages, *observation.earlier, *observation.inbox):
                if isinstance(message.content, CostReport):
                    assert message.sender == agent
                    assert message.recipients == ()


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


def test_vector_is_refused_without_a_mediator_and_outside_the_talk() -> None:
    scenario = make_scenario(ROWS, [(1, 0, 2)])
    game = play_scripts(scenario, all_seal())
    closed = "The channel sealed is closed in this game"
    assert {event.reason for event in game.events(InvalidToolCall)} == {closed}
    assert not game.seen(0, talk()).has_mediator
    assert play_scripts(scenario, {}, CONFIG).seen(0, talk()).has_mediator
    (event,) = play({0: {decide(): [seal()]}}).events(InvalidToolCall)
    assert (event.phase, event.reason) == (Phase.DECISION, "sealed is not allowed in DECISION")


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
