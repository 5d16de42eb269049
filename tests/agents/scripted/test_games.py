"""Scripted speakers agree on meetings, in every channel, each in its own way."""

import json
import random
import re
from collections.abc import Iterable

import pytest

from calbench.agents.base import CallSite
from calbench.agents.envelope import parse_envelope
from calbench.agents.reflection import parse_reflection
from calbench.agents.scripted import STYLES, scripted_speaker
from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.domain.actions import Reschedule
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import CHANNELS, Channel
from calbench.domain.replies import Unreadable
from calbench.engine.game import shown_labels
from calbench.errors import ConfigError
from calbench.llm.completion import Completion, Request
from calbench.traces.events import (
    BatchApplied,
    BatchRejected,
    ConsistencyViolation,
    InvalidToolCall,
    Reflection,
    ReplyNote,
)
from tests.agents.scripted.games import (
    ERRING,
    STYLE_NAMES,
    Played,
    agent_ids,
    canonical_scenario,
    play_scripted,
    played,
    slots_named,
    without_quotes,
)
from tests.agents.scripted.observed import ENGLISH

MIXED = ("candid", "guarded", "oversharer", "candid", "guarded")
EVERY = [(style, channel) for style in STYLE_NAMES for channel in CHANNELS]
LAWFUL = [
    *EVERY,
    *((style, "dm") for style in ERRING),
    *(
        pytest.param(style, channel, marks=pytest.mark.heavy)
        for style in ERRING
        for channel in CHANNELS
        if channel != "dm"
    ),
]
"""What holds for every style, also for those that err."""


def games(style: str, channel: Channel, count: int = 2) -> list[Played]:
    return [played(number, style, channel) for number in range(count)]


def share(successes: Iterable[bool]) -> float:
    values = list(successes)
    return sum(values) / len(values)


def faults(game: Played) -> list[object]:
    kinds = (InvalidToolCall, ReplyNote, BatchRejected)
    return [event for event in game.trace.events if isinstance(event, kinds)]


def is_cut_off(event: InvalidToolCall | ReplyNote | BatchRejected) -> bool:
    """Whether a careless speaker broke off, which is no fault of the code."""
    if isinstance(event, ReplyNote):
        return event.kind == "truncated"
    return isinstance(event, BatchRejected) and "(truncated)" in event.conflict


@pytest.mark.parametrize(("style", "channel"), EVERY)
def test_speakers_agree_on_nine_meetings_of_ten(style: str, channel: Channel) -> None:
    found = games(style, channel)
    assert share(ok for game in found for ok in game.success) >= 0.9
    assert [faults(game) for game in found] == [[], []]


@pytest.mark.parametrize("channel", CHANNELS)
def test_mixed_speakers_agree(channel: Channel) -> None:
    game = play_scripted(canonical_scenario(5, pref_level=3), MIXED, (channel,))
    assert share(game.success) >= 0.8
    assert faults(game) == []


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("style", STYLE_NAMES)
@pytest.mark.parametrize("kind", ["uniform", "varied", "prior", "six turns"])
def test_speakers_agree_on_a_whole_suite(style: str, channel: Channel, kind: str) -> None:
    settings = {
        "uniform": {},
        "varied": {"pref_level": 3},
        "prior": {"pref_level": 3, "num_prior_meetings": 3, "floor": 2},
        "six turns": {},
    }
    found = [
        play_scripted(
            canonical_scenario(number, **settings[kind]),
            (style,),
            (channel,),
            max_turns=6 if kind == "six turns" else 15,
        )
        for number in range(45)
    ]
    assert share(ok for game in found for ok in game.success) >= 0.9
    assert not any(faults(game) for game in found)
    violations = [
        event
        for game in found
        for event in game.trace.events
        if isinstance(event, ConsistencyViolation) and event.is_earlier
    ]
    assert len(violations) <= 2, "a meeting that was placed was broken"


def test_earlier_meeting_is_moved_by_all_who_take_part_in_it() -> None:
    kind = {"pref_level": 3, "num_prior_meetings": 3, "floor": 2}
    moves = 0
    for number in range(6):
        game = played(number, "candid", "dm", **kind)
        meetings = {
            meeting_id: set(meeting.participants)
            for meeting_id, meeting in game.scenario.meeting_by_id.items()
        }
        movers: dict[tuple[int, MeetingId], set[AgentId]] = {}
        for event in game.trace.events:
            if isinstance(event, BatchApplied):
                for action in event.actions:
                    if isinstance(action, Reschedule) and action.item_id in meetings:
                        key = event.round, MeetingId(action.item_id)
                        movers.setdefault(key, set()).add(event.agent_id)
        for (_, meeting_id), who in movers.items():
            assert who == meetings[meeting_id]
            moves += 1
    assert moves, "no game moved a meeting: the test shows nothing"


class Stranger:
    """Says what a speaker could say, at random, to anybody, in any phase."""

    def __init__(self, seed: int, channel: Channel) -> None:
        self._chance = random.Random(seed)
        self._channel = channel

    async def complete(self, request: Request, site: CallSite) -> Completion:
        del request, site
        if self._chance.random() < 0.2:
            return Completion(text="I would rather not.", finish_reason="stop")
        phrases = [*ENGLISH, "Slot 1 is not free.", "Would slots 0, 1, 2, 3, 4 or 5 suit you?"]
        slot = self._chance.randrange(16)
        content = " ".join(self._chance.sample(phrases, 3)) + f" Let's settle on slot {slot}."
        action: dict[str, object] = {"type": self._channel, "content": content}
        if self._channel == "dm":
            action["to"] = self._chance.randrange(5)
        reply = {"thinking": "", "actions": [action]}
        return Completion(text=json.dumps(reply), finish_reason="stop")


@pytest.mark.parametrize(("style", "channel"), LAWFUL)
def test_speakers_keep_their_composure_beside_a_stranger(style: str, channel: Channel) -> None:
    game = play_scripted(
        canonical_scenario(3, pref_level=3),
        (style,),
        (channel,),
        max_turns=8,
        strangers={2: Stranger(1, channel)},
    )
    assert len(game.success) == 5
    others = [
        event
        for event in game.trace.events
        if isinstance(event, InvalidToolCall | ReplyNote | BatchRejected)
        and event.agent_id != 2
        and not is_cut_off(event)
    ]
    assert others == []
    for text in [t for m, t in zip(game.messages, game.texts, strict=True) if m.from_agent != 2]:
        assert style != "guarded" or len(slots_named(text)) <= 3


def test_without_a_channel_nobody_speaks_and_batches_are_legal() -> None:
    game = play_scripted(canonical_scenario(4), ("candid",), ())
    assert game.texts == []
    assert faults(game) == []


@pytest.mark.parametrize("channel", CHANNELS)
def test_guarded_never_names_more_than_three_slots_in_a_message(channel: Channel) -> None:
    texts = [text for game in games("guarded", channel) for text in game.texts]
    assert texts
    assert max(len(slots_named(text)) for text in texts) <= 3


@pytest.mark.parametrize(("style", "channel"), EVERY)
def test_numbers_in_messages_are_slots_and_meetings_only(style: str, channel: Channel) -> None:
    for game in games(style, channel):
        for text in game.texts:
            bare = without_quotes(text)
            rest = re.sub(
                r"\bslots? \d+(?:, \d+)*(?: (?:and|or) \d+)?|\bM\d+", "", bare, flags=re.IGNORECASE
            )
            assert not re.search(r"\d", rest), text
            assert "cost" not in bare.lower()


@pytest.mark.parametrize("channel", CHANNELS)
def test_only_the_oversharer_tells_labels_and_does_in_most_rounds(channel: Channel) -> None:
    for style in STYLE_NAMES:
        telling: set[tuple[int, int]] = set()
        for index, game in enumerate(games(style, channel)):
            labels = shown_labels(game.scenario, game.config)
            for message in game.messages:
                mine = labels[message.from_agent].values()
                text = getattr(message.content, "text", "")
                if any(label in text for label in mine):
                    telling.add((index, message.round))
        if style == "oversharer":
            assert len(telling) >= 8, "of ten rounds"
        else:
            assert not telling


def evidence(found: Iterable[Played]) -> int:
    return sum(
        abs(delta)
        for game in found
        for event in game.trace.events
        if isinstance(event, Reflection)
        for deltas in event.delta_by_target.values()
        for delta in deltas
    )


def test_guarded_leaks_less_than_candid_in_the_eyes_of_listeners() -> None:
    candid, guarded = games("candid", "dm"), games("guarded", "dm")
    assert 0 < evidence(guarded) < 0.7 * evidence(candid)


@pytest.mark.parametrize(("style", "channel"), LAWFUL)
def test_same_thread_gives_the_same_text_whatever_was_asked_before(
    style: str, channel: Channel
) -> None:
    calls = played(1, style, channel).calls
    chosen = random.Random(7).sample(calls, 40)
    for name, seed, request, text in chosen:
        speaker = scripted_speaker(name, seed)
        assert isinstance(speaker, ScriptedSpeaker)
        assert speaker.reply(request.messages) == text
    for seed in {seed for _, seed, _, _ in chosen}:
        one = ScriptedSpeaker(STYLES[style], seed)
        for _, mine, request, text in chosen:  # in no order, on one speaker
            if mine == seed:
                assert one.reply(request.messages) == text


@pytest.mark.parametrize(("style", "channel"), LAWFUL)
def test_every_reply_is_a_clean_envelope_or_reflection(style: str, channel: Channel) -> None:
    for _, seed, request, text in played(0, style, channel).calls:
        completion = ScriptedSpeaker(STYLES[style], seed).completion(request.messages)
        assert completion.text == text
        if completion.finish_reason == "length":
            assert style == "careless"
            continue
        if "MEASUREMENT" in request.messages[-1].content:
            me = next(
                a for a in agent_ids() if f"You are agent {a}." in request.messages[0].content
            )
            found = parse_reflection(completion, agent_ids(), me, 16)
            assert not isinstance(found, Unreadable)
        else:
            reply = parse_envelope(completion)
            assert not isinstance(reply, Unreadable)
            assert reply.recovered is None


def test_seeds_choose_words_and_nothing_else() -> None:
    game = played(0, "candid", "dm")
    _, seed, request, text = next(c for c in game.calls if '"dm"' in c[3])
    others = {ScriptedSpeaker(STYLES["candid"], seed + k).reply(request.messages) for k in range(9)}
    assert len(others | {text}) > 1
    named = {
        tuple(sorted(slots_named(a["content"]))) for t in others for a in json.loads(t)["actions"]
    }
    assert len(named) == 1


def test_unknown_style_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="'silent' is unknown; known are candid, careless, g"):
        scripted_speaker("silent", 0)
