"""Games of agents that use language: labels, reflections, unreadable replies, halts."""

from dataclasses import replace

import pytest

from calbench.domain.ids import ItemId
from calbench.domain.observations import Phase
from calbench.domain.replies import Unreadable
from calbench.engine.replay import replay
from calbench.errors import Halt, ReplayError
from calbench.scenarios.labels import assign_labels, read_label_bank
from calbench.traces.events import (
    AgentRegistered,
    BatchRejected,
    GameHalted,
    GameStart,
    Reflection,
    ReplyNote,
    Resolution,
    RoundStart,
)
from calbench.traces.models import GameConfig, Trace
from calbench.traces.storage import trace_bytes
from tests.engine.scripts import Ask, altered, book, decide, dm, talk, volunteer
from tests.engine.speakers import (
    SCENARIO,
    Speaker,
    four,
    language_config,
    played,
    reflect,
    rich_trace,
)

ALL_MODELS = language_config("model")


def of_type(trace: Trace, kind: type) -> list[object]:
    return [event for event in trace.events if isinstance(event, kind)]


def test_reflections_follow_every_resolution_and_change_nothing() -> None:
    def lines() -> list[Speaker]:
        return four(
            agent0=Speaker({talk(): (dm(3),), decide(): (book(1, 0),)}),
            agent1=Speaker({decide(): (book(1, 2),)}),
        )

    asked, spared = lines(), lines()
    with_it = played(ALL_MODELS, asked)
    without = played(language_config("model", reflection=False), spared)
    assert [event for event in with_it.events if not isinstance(event, Reflection)] == list(
        without.events
    )
    assert with_it.final_state == without.final_state
    assert with_it.game_id != without.game_id
    for one, other in zip(asked, spared, strict=True):
        kept = [seen for seen in one.seen if seen.phase is not Phase.REFLECTION]
        assert kept == other.seen
    types = [event.type for event in with_it.events]
    for index, kind in enumerate(types):
        if kind == "resolution":
            assert types[index + 1 : index + 5] == ["reflection"] * 4


def test_reflection_leaves_the_unread_and_the_refused_for_the_next_turn() -> None:
    # Agent 3 is woken in the last sweep of round 0 and refused in VOLUNTARY.
    speakers = four(
        agent0=Speaker({talk(0): (dm(3),)}),
        agent3=Speaker({talk(0): (dm(0),), volunteer(): (dm(1, "too late"),)}),
    )
    played(ALL_MODELS, speakers)
    measured = [seen for seen in speakers[3].seen if seen.phase is Phase.REFLECTION]
    assert measured[0].refusals == ()
    after = next(seen for seen in speakers[3].seen if seen.round_index == 1)
    assert len(after.refusals) == 1


def test_only_language_seats_are_asked_to_reflect_and_see_labels() -> None:
    config = language_config("model", "protocol", "custom", "protocol")
    speakers = four()
    trace = played(config, speakers)
    reflected = {event.agent_id for event in trace.events if isinstance(event, Reflection)}
    assert reflected == {0, 2}
    assert [bool(speaker.seen[0].labels) for speaker in speakers] == [True, False, True, False]


def test_observations_hold_an_agents_own_labels_only() -> None:
    speakers = four(agent0=Speaker({talk(): (dm(3),)}))
    played(ALL_MODELS, speakers)
    labels = assign_labels(SCENARIO, read_label_bank("v1"))
    for agent, speaker in enumerate(speakers):
        own: set[ItemId] = {
            item.item_id for item in SCENARIO.shown_calendars[agent] if item is not None
        }
        own |= {m.meeting_id for m in SCENARIO.meeting_by_id.values() if agent in m.participants}
        expected = {item: labels.label_of(item).text for item in own}
        assert all(dict(seen.labels) == expected for seen in speaker.seen)


def test_system_prompts_and_nosy_agents_stand_in_the_trace() -> None:
    trace = played(language_config("model", "model", "model", "model", nosy=2), four())
    registered = [event for event in trace.events if isinstance(event, AgentRegistered)]
    assert [event.is_nosy for event in registered] == [False, False, True, False]
    assert registered[1].system_prompt == "You are agent 1 of 4."
    (start,) = of_type(trace, GameStart)
    assert isinstance(start, GameStart)
    assert start.nosy_agents == (2,)


def test_unreadable_decision_is_rejected_and_may_be_retried() -> None:
    garbled = {decide(): Unreadable("truncated", "it ends in the middle of a string")}
    speakers = four(agent0=Speaker({decide(1): (book(1, 0),)}, garbled))
    trace = played(ALL_MODELS, speakers)
    retry = next(s for s in speakers[0].seen if s.attempt == 1)
    expected = "The reply could not be read (truncated): it ends in the middle of a string"
    assert retry.conflict == expected
    rejected = [e for e in trace.events if isinstance(e, BatchRejected) and e.agent_id == 0]
    assert (rejected[0].conflict, rejected[0].actions) == (expected, ())
    (note,) = of_type(trace, ReplyNote)
    assert isinstance(note, ReplyNote)
    assert (note.kind, note.agent_id, note.phase) == ("truncated", 0, Phase.DECISION)


ALL_BUT_ONE = language_config("model", "protocol")


@pytest.mark.parametrize(
    ("config", "speaker", "noted", "sent"),
    [
        (
            ALL_MODELS,
            Speaker({}, {talk(): Unreadable("not_json", "nothing like an object")}),
            ("not_json", 0, "nothing like an object"),
            0,
        ),
        # A typed agent that gets prose.
        (
            ALL_BUT_ONE,
            Speaker({talk(): (dm(1), dm(2))}),
            ("prose_ignored", 1, "text from agent 0"),
            2,
        ),
        (
            ALL_MODELS,
            Speaker({talk(): (dm(1),)}, recovered={talk(): "fenced"}),
            ("recovered", 0, "fenced"),
            1,
        ),
    ],
)
def test_what_is_odd_about_talk_is_noted(
    config: GameConfig, speaker: Speaker, noted: tuple[str, int, str], sent: int
) -> None:
    trace = played(config, four(agent0=replace(speaker, seen=[])))
    (note,) = of_type(trace, ReplyNote)
    assert isinstance(note, ReplyNote)
    assert (note.kind, note.agent_id, note.detail) == noted
    assert trace.final_state.messages_sent_by_agent == (sent, 0, 0, 0)


@pytest.mark.parametrize("reason", ["provider_fault", "budget_stop"])
@pytest.mark.parametrize(
    "moment",
    [talk(), talk(1, round_index=1), volunteer(), decide(1), reflect(), reflect(1)],
    ids=str,
)
def test_game_halts_where_nobody_answers_and_replays(moment: Ask, reason: Halt) -> None:
    speakers = four(
        agent0=Speaker({talk(): (dm(3),), decide(): (book(9, 0),)}, unavailable={moment: reason}),
        agent1=Speaker({talk(0, round_index=1): (dm(0),)}, unavailable={moment: reason}),
        agent3=Speaker(unavailable={moment: reason} if moment == volunteer() else {}),
    )
    trace = played(ALL_MODELS, speakers)
    (halted,) = of_type(trace, GameHalted)
    assert isinstance(halted, GameHalted)
    assert (halted.reason, halted.round, halted.phase) == (reason, moment.round_index, moment.phase)
    assert trace.is_halted
    resolutions = [event for event in trace.events if isinstance(event, Resolution)]
    lost = [event.outcome for event in resolutions].count(reason)
    resolved = moment.round_index + (moment.phase is Phase.REFLECTION)
    assert (len(resolutions), lost) == (2, 2 - resolved)
    assert len(of_type(trace, RoundStart)) == 2
    assert trace_bytes(replay(trace)) == trace_bytes(trace)


def test_of_two_that_fail_together_the_lowest_agent_halts_the_game() -> None:
    gone: dict[Ask, Halt] = {decide(): "provider_fault"}
    trace = played(
        ALL_MODELS, four(agent1=Speaker(unavailable=gone), agent2=Speaker(unavailable=gone))
    )
    (halted,) = of_type(trace, GameHalted)
    assert isinstance(halted, GameHalted)
    assert halted.agent_id == 1


def test_replay_names_the_event_when_a_reflection_was_edited() -> None:
    trace = rich_trace()
    assert trace_bytes(replay(trace)) == trace_bytes(trace)
    events = list(trace.events)
    index = next(i for i, event in enumerate(events) if isinstance(event, Reflection))
    events[index] = altered(events[index], round=7)
    with pytest.raises(ReplayError, match=rf"event {index} \(reflection\): round"):
        replay(trace.model_copy(update={"events": tuple(events)}))
