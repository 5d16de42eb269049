"""What is read from a prompt is what was rendered into it, whatever foreign text it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.agents.prompts import load_prompts
from calbench.agents.prompts.rendering import printable
from calbench.agents.prompts.templates import versions
from calbench.agents.scripted.reading import (
    VERSIONS,
    Heard,
    own_words,
    read_briefing,
    read_message,
    round_of,
)
from calbench.domain.actions import DirectMessage
from calbench.domain.calendars import HiddenMeeting
from calbench.domain.ids import AgentId, ItemId
from calbench.domain.messages import Message, Text
from calbench.domain.observations import Briefing, Observation, Phase, Refusal
from calbench.domain.replies import Unreadable
from tests.agents.scripted.observed import briefings, observations, texts

READ = sorted(VERSIONS)


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


def test_every_version_of_the_prompts_can_be_read() -> None:
    assert frozenset(versions()) == VERSIONS


@pytest.mark.parametrize("version", READ)
@given(briefing=briefings(), variant=st.none() | texts)
def test_rulebook_is_the_briefing(version: str, briefing: Briefing, variant: str | None) -> None:
    rules = read_briefing(load_prompts(version).system(briefing, variant))
    assert rules == briefing


@pytest.mark.parametrize("version", READ)
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
    shows_cost = is_talk and is_first
    assert found.incurred_shown_cost == (observation.incurred_shown_cost if shows_cost else None)
    is_measured = phase is Phase.REFLECTION
    assert found.was_unreadable == (unreadable is not None and not is_measured)
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
