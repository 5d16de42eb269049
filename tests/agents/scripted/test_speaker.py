"""Whatever a thread holds, a speaker answers with an envelope."""

import json
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.agents.envelope import parse_envelope
from calbench.agents.prompts import PROMPT_VERSION, load_prompts
from calbench.agents.reflection import parse_reflection
from calbench.agents.scripted import GOALS, STYLES
from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.agents.scripted.talk import Style
from calbench.domain.actions import CalendarAction, DirectMessage, Reschedule, Schedule
from calbench.domain.calendars import Booking, Calendar, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId, Slot
from calbench.domain.messages import CHANNELS, Message, Text
from calbench.domain.observations import Briefing, Observation, Phase
from calbench.domain.replies import Unreadable
from calbench.domain.rules import Applied, apply_batch
from calbench.llm.completion import ChatMessage, Completion
from tests.agents.scripted.observed import ENGLISH, briefings, observations, texts
from tests.effort import examples
from tests.factories import calendar

PROMPTS = load_prompts(PROMPT_VERSION)
styles = st.sampled_from(sorted(STYLES)).map(lambda name: STYLES[name])
goals = st.sampled_from([None, *GOALS.values()])


def actions_of(reply: str) -> tuple[object, ...]:
    found = parse_envelope(Completion(text=reply, finish_reason="stop"))
    assert not isinstance(found, Unreadable), found
    return found.value.actions


@settings(max_examples=examples(60))
@given(st.data())
def test_any_round_is_answered_by_clean_envelopes(data: st.DataObject) -> None:
    speaker = ScriptedSpeaker(data.draw(styles), data.draw(st.integers(0, 99)), data.draw(goals))
    first = data.draw(observations(Phase.CHEAP_TALK))
    briefing = data.draw(briefings(len(first.calendar)))
    thread = [ChatMessage("system", PROMPTS.system(briefing))]
    later = data.draw(st.lists(observations(Phase.CHEAP_TALK), max_size=3))
    is_outsider = isinstance(first.meeting, HiddenMeeting)
    last = Phase.VOLUNTARY if is_outsider else Phase.DECISION
    ends = [first._replace(phase=last, inbox=(), conflict=None)]
    for index, seen in enumerate([first, *later, *ends]):
        now = first._replace(phase=seen.phase, inbox=seen.inbox, turns_left=seen.turns_left)
        thread.append(ChatMessage("user", PROMPTS.message(now, is_first=index == 0)))
        completion = speaker.completion(thread)
        reply = completion.text or ""
        is_cut = completion.finish_reason == "length"
        actions = () if is_cut else actions_of(reply)
        if data.draw(st.booleans()) and now.phase is Phase.CHEAP_TALK:
            reply = data.draw(forged)
        thread.append(ChatMessage("assistant", reply))
    batch = [action for action in actions if isinstance(action, CalendarAction)]
    assert batch == list(actions)
    if batch:  # whatever was said to it, its batch is legal
        meeting = None if is_outsider else first.meeting
        assert isinstance(meeting, Meeting | None)
        assert isinstance(apply_batch(first.calendar, batch, meeting), Applied)


forged = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from([*CHANNELS, "schedule"]),
            "to": st.integers(-2, 9) | st.none(),
            "content": st.sampled_from(ENGLISH) | st.integers(),
        }
    ),
    max_size=3,
).map(lambda actions: json.dumps({"thinking": "", "actions": actions}))
"""Replies that are not the speaker's own, as a thread might claim."""


@given(style=styles, system=texts, question=texts, observation=observations(), briefing=briefings())
def test_a_broken_thread_is_answered_with_nothing(
    style: Style, system: str, question: str, observation: Observation, briefing: Briefing
) -> None:
    speaker = ScriptedSpeaker(style, 0)
    message = PROMPTS.message(observation, is_first=True)
    known = ChatMessage("system", PROMPTS.system(briefing))
    for thread in (
        [],
        [known],
        [ChatMessage("system", f"x{system}"), ChatMessage("user", message)],
        [known, ChatMessage("user", f"x{question}")],
        [known, ChatMessage("assistant", question), ChatMessage("user", f"x{question}")],
    ):
        assert actions_of(speaker.reply(thread)) == ()


@given(observation=observations(Phase.CHEAP_TALK), style=styles)
def test_a_reflection_has_the_shape_that_is_asked_for(
    observation: Observation, style: Style
) -> None:
    speaker = ScriptedSpeaker(style, 0)
    num_slots = len(observation.calendar)
    system = PROMPTS.system(brief(num_slots))
    told = PROMPTS.message(observation, is_first=True)
    asked = PROMPTS.message(observation._replace(phase=Phase.REFLECTION, inbox=()))
    thread = [
        ChatMessage("system", system),
        ChatMessage("user", told),
        ChatMessage("assistant", '{"thinking": "", "actions": []}'),
        ChatMessage("user", asked),
    ]
    completion = Completion(text=speaker.reply(thread), finish_reason="stop")
    found = parse_reflection(completion, observation.agent_ids, AgentId(0), num_slots)
    assert not isinstance(found, Unreadable)


def brief(num_slots: int) -> Briefing:
    return Briefing(
        agent_id=AgentId(0),
        agent_ids=tuple(AgentId(agent) for agent in range(6)),
        num_slots=num_slots,
        num_meetings=5,
        channels=frozenset(CHANNELS[:1]),
        max_turns_per_round=15,
        decision_retries=3,
        message_cap=None,
    )


MEETING = Meeting(MeetingId(1), (AgentId(0), AgentId(1), AgentId(2)), 1)
EARLIER = Meeting(MeetingId(7), (AgentId(0), AgentId(3)), 1)


def seen(
    row: str | Calendar, phase: Phase = Phase.CHEAP_TALK, *said: tuple[int, str], **fields: object
) -> Observation:
    """Return what agent 0 sees of meeting 1 with agents 1 and 2, told these messages."""
    shown = calendar(row) if isinstance(row, str) else row
    inbox = tuple(
        Message(AgentId(sender), (AgentId(0),), "dm", MeetingId(1), Text(text=text))
        for sender, text in said
    )
    labels: dict[ItemId, str] = {ErrandId(101): "Tango class"}
    plain = Observation(
        agent_id=AgentId(0),
        agent_ids=tuple(AgentId(agent) for agent in range(6)),
        phase=phase,
        meeting=MEETING,
        round_index=0,
        calendar=shown,
        messages=inbox,
        earlier=(),
        inbox=inbox,
        turn_index=0,
        turns_left=14,
        attempt=0,
        conflict=None,
        refusals=(),
        channels=frozenset(CHANNELS[:1]),
        incurred_shown_cost=0,
        labels=labels,
        decision_retries=3,
    )
    return plain._replace(**fields)  # type: ignore[arg-type]


class Answer(NamedTuple):
    """What a speaker did in one turn: direct messages by recipient, and its batch."""

    messages: list[tuple[int, str]]
    batch: list[CalendarAction]


def completions(style: str, seed: int, *asked: Observation) -> list[Completion]:
    """Return how a speaker answers one observation after the other."""
    speaker = ScriptedSpeaker(STYLES[style], seed)
    thread = [ChatMessage("system", PROMPTS.system(brief(len(asked[0].calendar))))]
    answers = []
    for index, observation in enumerate(asked):
        thread.append(ChatMessage("user", PROMPTS.message(observation, is_first=index == 0)))
        answers.append(speaker.completion(thread))
        thread.append(ChatMessage("assistant", answers[-1].text or ""))
    return answers


def said(completion: Completion) -> dict[int, str]:
    return {
        action.to: action.content.text
        for action in actions_of(completion.text or "")
        if isinstance(action, DirectMessage) and isinstance(action.content, Text)
    }


def batch(completion: Completion) -> list[CalendarAction]:
    return [
        action for action in actions_of(completion.text or "") if isinstance(action, CalendarAction)
    ]


def converse(style: str, *asked: Observation) -> list[Answer]:
    """Return what a speaker does, asked one observation after the other."""
    return [Answer(list(said(each).items()), batch(each)) for each in completions(style, 3, *asked)]


def test_guarded_answers_what_is_asked_and_nothing_else() -> None:
    row = "E.EB.E"
    asked = seen(row, Phase.CHEAP_TALK, (1, "How about slots 1, 2 or 3?"))
    [(to, text)] = converse("guarded", asked)[0].messages
    assert to == 1
    assert "lot 1 would be easy" in text
    assert "lot 2 would be possible" in text
    assert "lot 3 would be impossible" in text
    assert "0" not in text
    assert "4" not in text


def test_oversharer_names_the_errand_that_stands_in_the_way() -> None:
    asked = seen("E.EB.E", Phase.CHEAP_TALK, (1, "How about slots 0, 1 or 2?"))
    [(_, text)] = converse("oversharer", asked)[0].messages
    assert '"Tango class"' in text
    [(_, text)] = converse("candid", asked)[0].messages
    assert "Tango" not in text


def test_a_settled_slot_is_confirmed_and_cleared() -> None:
    told = seen("E.EB.E", Phase.CHEAP_TALK, (1, "Let's settle on slot 2."))
    talk, batch = converse("guarded", told, seen("E.EB.E", Phase.DECISION))
    assert [to for to, _ in talk.messages] == [1]
    move, placed = batch.batch
    assert isinstance(move, Reschedule)
    assert (move.item_id, move.from_slot, move.to_slot) == (102, 2, 1)
    assert placed == Schedule(meeting_id=MeetingId(1), slot=Slot(2))


def test_an_impossible_slot_is_refused_and_another_proposed() -> None:
    told = seen("E.EB.E", Phase.CHEAP_TALK, (1, "Let's settle on slot 3."))
    [(to, text)] = converse("guarded", told)[0].messages
    assert to == 1
    assert "lot 3 would be impossible" in text
    assert "?" in text


def test_retry_avoids_the_slot_of_the_conflict() -> None:
    told = seen("E.E..E", Phase.CHEAP_TALK, (1, "Let's settle on slot 0."))
    decided = seen("E.E..E", Phase.DECISION)
    again = decided._replace(attempt=1, conflict="Slot 1 is not free: Errand #9 stands there")
    _, first, second = converse("candid", told, decided, again)
    assert [a.to_slot for a in first.batch if isinstance(a, Reschedule)] == [1]
    assert [a.to_slot for a in second.batch if isinstance(a, Reschedule)] == [3]


def outsider(phase: Phase, *said: tuple[int, str]) -> Observation:
    row = list(calendar("E.EB.E"))
    row[5] = Booking(EARLIER)
    hidden = HiddenMeeting(MeetingId(1), 1)
    return seen(tuple(row), phase, *said, meeting=hidden)


def test_an_outsider_answers_about_its_own_meeting_and_keeps_its_word() -> None:
    asked = outsider(
        Phase.CHEAP_TALK, (3, "Could we move our meeting M7 from slot 5 to slots 1 or 3?")
    )
    settled = outsider(Phase.CHEAP_TALK, (3, "Let's move our meeting M7 from slot 5 to slot 1."))
    answer, agreed, moved = converse("guarded", asked, settled, outsider(Phase.VOLUNTARY))
    assert answer.messages == [
        (3, "For M7, slot 1 would be easy for me. For M7, slot 3 would be impossible for me.")
    ]
    assert len(agreed.messages) == 1
    [move] = moved.batch
    assert isinstance(move, Reschedule)
    assert (move.item_id, move.from_slot, move.to_slot) == (7, 5, 1)


@pytest.mark.parametrize("asker", [1, 2])
def test_nobody_moves_a_meeting_for_an_agent_that_has_no_part_in_it(asker: int) -> None:
    told = outsider(Phase.CHEAP_TALK, (asker, "Let's move our meeting M7 from slot 5 to slot 1."))
    assert converse("candid", told, outsider(Phase.VOLUNTARY)) == [([], []), ([], [])]


def test_a_reflection_says_what_was_said() -> None:
    told = seen(
        "......",
        Phase.CHEAP_TALK,
        (1, "Slot 0 would be easy for me. Slot 1 would be impossible for me."),
        (2, "How about slots 3 or 4?"),
        (1, "Slot 4 would be possible for me, slot 5 would be easy. Let's settle on slot 5."),
    )
    speaker = ScriptedSpeaker(STYLES["guarded"], 0)
    thread = [
        ChatMessage("system", PROMPTS.system(brief(6))),
        ChatMessage("user", PROMPTS.message(told, is_first=True)),
        ChatMessage("user", PROMPTS.message(seen("......", Phase.REFLECTION))),
    ]
    assert json.loads(speaker.reply(thread)) == {
        "beliefs": {
            "1": [-3, 3, 0, 0, 1, 3],
            "2": [0, 0, 0, -1, -1, 0],
            "3": [0] * 6,
            "4": [0] * 6,
            "5": [0] * 6,
        }
    }
