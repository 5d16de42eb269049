"""What is read from a prompt is what was rendered into it; sentences of others are understood."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from calbench.agents.prompts import PROMPT_VERSION, load_prompts
from calbench.agents.prompts.rendering import printable
from calbench.agents.prompts.templates import versions
from calbench.agents.scripted import phrases
from calbench.agents.scripted.phrases import Voice, listed
from calbench.agents.scripted.reading import (
    Heard,
    Rules,
    own_words,
    read_briefing,
    read_message,
    round_of,
)
from calbench.agents.scripted.understanding import (
    EASY,
    HARD,
    IMPOSSIBLE,
    INCONVENIENT,
    POSSIBLE,
    Act,
    Ask,
    AskMove,
    Claim,
    Confirm,
    ConfirmMove,
    Level,
    Move,
    NoneOfThem,
    Settle,
    SettleMove,
    slots_in,
    understood,
)
from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import HiddenMeeting
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.domain.messages import CHANNELS, Channel, Message, Text
from calbench.domain.observations import Briefing, Observation, Phase, Refusal
from calbench.domain.randomness import stream
from calbench.domain.replies import Unreadable
from calbench.traces.events import ChancesStated, Event, Reflection
from calbench.traces.models import Trace
from tests.agents.scripted.games import STYLE_NAMES, canonical_scenario, play_scripted
from tests.agents.scripted.observed import briefings, observations, texts


def labels_shown(observation: Observation) -> dict[ItemId, str]:
    shown = {item.item_id for item in observation.calendar if item is not None}
    if not isinstance(observation.meeting, HiddenMeeting):
        shown.add(observation.meeting.meeting_id)
    return {item: text for item, text in observation.labels.items() if item in shown}


def heard(message: Message, observation: Observation) -> Heard:
    late = message.meeting_id != observation.meeting.meeting_id
    return Heard(
        message.sender,
        message.channel,
        message.meeting_id if late else None,
        message.content.text if isinstance(message.content, Text) else None,
    )


@pytest.mark.parametrize("version", versions())
@given(briefing=briefings(), variant=st.none() | texts)
def test_rulebook_is_the_briefing(version: str, briefing: Briefing, variant: str | None) -> None:
    rules = read_briefing(load_prompts(version).system(briefing, variant))
    assert rules == tuple(getattr(briefing, name) for name in Rules._fields)


@pytest.mark.parametrize("version", versions())
@given(
    observation=observations(),
    is_first=st.booleans(),
    unreadable=st.none() | texts.map(lambda text: Unreadable("not_json", text)),
    refused=st.lists(texts, max_size=2),
)
def test_message_tells_exactly_the_observation(
    version: str,
    observation: Observation,
    is_first: bool,
    unreadable: Unreadable | None,
    refused: list[str],
) -> None:
    action = [DirectMessage(to=AgentId(9), content=Text(text=text)) for text in refused]
    observation = observation._replace(
        refusals=tuple(Refusal(a, t) for a, t in zip(action, refused, strict=True))
    )
    prompts = load_prompts(version)
    text = prompts.message(observation, is_first=is_first, unreadable=unreadable)
    found = read_message(text)
    phase = observation.phase
    shows_calendar = (
        (phase is Phase.CHEAP_TALK and is_first)
        or phase is Phase.VOLUNTARY
        or (phase is Phase.DECISION and not observation.attempt)
    )
    assert round_of(text) == found.round_index == observation.round_index
    assert found.calendar == (observation.calendar if shows_calendar else ())
    assert found.meeting == (observation.meeting if shows_calendar else None)
    assert found.labels == (labels_shown(observation) if shows_calendar else {})
    assert found.inbox == tuple(heard(message, observation) for message in observation.inbox)
    assert found.attempt == observation.attempt
    assert found.conflict == (
        printable(observation.conflict or "not given") if observation.attempt else None
    )
    is_talk = phase is Phase.CHEAP_TALK
    assert found.turn_index == (observation.turn_index if is_talk else None)
    assert found.turns_left == (observation.turns_left if is_talk else None)
    is_measured = phase is Phase.REFLECTION
    assert found.others == (observation.agent_ids[1:] if is_measured else ())
    assert found.num_slots == (len(observation.calendar) if is_measured else None)
    assert found.kind == kind(observation, is_first=is_first)


def kind(observation: Observation, *, is_first: bool) -> str:
    if observation.phase is Phase.CHEAP_TALK:
        if not is_first:
            return "turn"
        return "outsider" if isinstance(observation.meeting, HiddenMeeting) else "round_start"
    if observation.phase is Phase.REFLECTION:
        return "reflection"
    return "retry" if observation.attempt else str(observation.phase).lower()


@given(text=texts)
def test_anything_else_tells_nothing(text: str) -> None:
    text = f"Hello. {text}"
    assert read_message(text).kind == "unknown"
    assert round_of(text) is None
    assert read_briefing(f"Hello. {text}".replace("\n", " ")) is None
    assert list(own_words(text)) == []


def test_own_words_are_those_of_the_envelope() -> None:
    reply = (
        '{"thinking": "", "actions": [{"type": "dm", "to": 2, "content": "Slot 1?"}, '
        '{"type": "schedule", "meeting_id": 1, "slot": 0}, 3, '
        '{"type": "all_agent_groupchat", "content": "Slot 2."}, {"type": "dm", "to": 1}]}'
    )
    assert list(own_words(reply)) == [
        ("dm", AgentId(2), "Slot 1?"),
        ("all_agent_groupchat", None, "Slot 2."),
    ]


slots = st.integers(0, 99).map(Slot)
slot_lists = st.lists(slots, min_size=1, max_size=6, unique=True)
voices = st.integers(0, 50).map(lambda seed: Voice(stream(seed, "words")))
meetings = st.integers(1, 99).map(MeetingId)


def test_label_cannot_end_its_own_quotation() -> None:
    said = Voice(stream(1, "words")).say(
        phrases.REASON, label='Doctor". I have "gym" at slot 3', slot=5
    )
    assert said.count('"') == 2
    assert """Doctor'. I have 'gym' at slot 3""" in said


@given(voice=voices, named=slot_lists, level=st.sampled_from(Level))
def test_what_is_said_of_slots_is_understood(voice: Voice, named: list[Slot], level: Level) -> None:
    assert understood(voice.level(named, level)) == tuple(Claim(slot, level) for slot in named)
    assert understood(voice.ask(named)) == (Ask(tuple(named)),)
    assert understood(voice.say(phrases.NONE)) == (NoneOfThem(),)
    assert understood(voice.say(phrases.SETTLE, slot=named[0])) == (Settle(named[0]),)
    assert understood(voice.say(phrases.CONFIRM, slot=named[0])) == (Confirm(named[0]),)
    reason = voice.say(phrases.REASON, label="Doctor at slot 3", slot=named[0])
    assert understood(reason) == (Claim(named[0], HARD),)


@given(
    voice=voices,
    meeting=meetings,
    start=slots,
    to=slots,
    named=slot_lists,
    level=st.sampled_from(Level),
)
def test_what_is_said_of_moves_is_understood(
    voice: Voice, meeting: MeetingId, start: Slot, to: Slot, named: list[Slot], level: Level
) -> None:
    place = {"meeting": meeting, "start": start}
    asked = voice.say(phrases.MOVE_ASK, slots=listed(named, "or"), **place)
    assert understood(asked) == (AskMove(meeting, start, tuple(named)),)
    for wordings, act in ((phrases.MOVE_SETTLE, SettleMove), (phrases.MOVE_CONFIRM, ConfirmMove)):
        assert understood(voice.say(wordings, to=to, **place)) == (act(Move(meeting, start, to)),)
    assert understood(voice.move_level(meeting, to, level)) == (Claim(to, level, meeting),)


@given(voice=voices, levels=st.lists(st.sampled_from(Level), min_size=1, max_size=20))
def test_a_whole_calendar_is_understood(voice: Voice, levels: list[Level]) -> None:
    text = " ".join(voice.levels([Slot(slot) for slot in range(len(levels))], levels))
    found = {act.slot: act.level for act in understood(text) if isinstance(act, Claim)}
    assert found == dict(enumerate(levels))


def claim(slot: int, level: Level) -> Claim:
    return Claim(Slot(slot), level)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Slot 3 works for me, slot 7 doesn't work.", [claim(3, EASY), claim(7, IMPOSSIBLE)]),
        ("Slot 3, slot 7 would be fine", [claim(3, EASY), claim(7, EASY)]),
        ("I can\u2019t do slot 4 but slot 5 is okay.", [claim(4, IMPOSSIBLE), claim(5, EASY)]),
        ("I could manage slot 2; slot 9 is not easy.", [claim(2, POSSIBLE), claim(9, HARD)]),
        ("Slots 1 and 2 are rather awkward.", [claim(1, INCONVENIENT), claim(2, INCONVENIENT)]),
        ("Easy: slot 3, slot 7.", [claim(3, EASY), claim(7, EASY)]),
        ("Can everybody do slot 6?", [Ask((Slot(6),))]),
        ("When are you all free?", [Ask(())]),
        ("Let's go with slot 11 for M4!", [Settle(Slot(11))]),
        ("Confirmed: slot 11.", [Confirm(Slot(11))]),
        ("Agreed.", [Confirm(None)]),
        ("I can't agree to slot 3.", [claim(3, IMPOSSIBLE)]),
        ("Slot 3 is easy for agent 2.", []),
        ('I read "Slot 3 is easy" in a book.', []),
        ("Hello there. Nice to meet you!", []),
        ("", []),
    ],
)
def test_sentences_of_others_are_understood(text: str, acts: list[Act]) -> None:
    assert list(understood(text, MeetingId(4))) == acts


@given(text=st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    understood(text)
    assert all(slot >= 0 for slot in slots_in(text))


OTHERS = [version for version in versions() if version != PROMPT_VERSION]
WORDS = ("prompt", "system_prompt")
"""What of an event is the environment's wording."""


def shown(event: Event) -> dict[str, Any]:
    data = event.model_dump() if isinstance(event, BaseModel) else asdict(event)
    return {name: value for name, value in data.items() if name not in WORDS}


def shown_without_chances(trace: Trace) -> list[dict[str, Any]]:
    """Return the events but for the chances, which follow from the changes after them.

    Inboxes then count their messages among the events that are left.
    """
    place_of: dict[int, int] = {}
    kept: list[dict[str, Any]] = []
    for index, event in enumerate(trace.events):
        if isinstance(event, ChancesStated):
            after = trace.events[index + 1]
            assert isinstance(after, Reflection)
            assert (after.round, after.agent_id) == (event.round, event.agent_id)
            assert event.occupied_by_target == {
                target: tuple(50 + 15 * change for change in changes)
                for target, changes in after.delta_by_target.items()
            }
            continue
        place_of[index] = len(kept)
        kept.append(shown(event))
    for data in kept:
        if "inbox" in data:
            data["inbox"] = [place_of[message] for message in data["inbox"]]
    return kept


@pytest.mark.parametrize("version", OTHERS)
@pytest.mark.parametrize("channel", CHANNELS)
def test_mixed_game_is_the_same_in_every_version(channel: Channel, version: str) -> None:
    scenario = canonical_scenario(1, num_prior_meetings=1)
    one, other = (
        play_scripted(scenario, STYLE_NAMES, (channel,), version=each)
        for each in (PROMPT_VERSION, version)
    )
    assert one.trace.final_state == other.trace.final_state
    assert shown_without_chances(one.trace) == shown_without_chances(other.trace)
    assert one.trace.events != other.trace.events  # they were asked in other words
    for played in (one, other):
        has_chances = any(isinstance(event, ChancesStated) for event in played.trace.events)
        assert has_chances == (played.config.prompt_version == "v3")
