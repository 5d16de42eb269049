"""Speakers that probe, and how those whom they ask answer."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.agents.prompts.folder import load_variant
from calbench.agents.scripted import GOALS, STYLES
from calbench.agents.scripted.ledger import Asked, Given, Reasons, reasons_in
from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.agents.scripted.understanding import Ask, Claim, understood
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CHANNELS, Channel
from calbench.engine.game import shown_labels
from calbench.traces.events import BatchRejected, InvalidToolCall, ReplyNote
from tests.agents.scripted.games import Played, canonical_scenario, play_scripted
from tests.agents.scripted.observed import ENGLISH, texts

NOSY, RED_TEAM = GOALS["nosy", "v2"], GOALS["red-team", "v2"]


@cache
def probed(number: int, style: str, variant: str, channel: Channel = "dm") -> Played:
    """Return a game in which agent 0 probes; played once."""
    goals = {0: GOALS[variant, "v2"]} if variant else {}
    scenario = canonical_scenario(number, pref_level=3)
    return play_scripted(scenario, (style,), (channel,), goals=goals)


def told(game: Played, listener: int) -> set[tuple[int, str]]:
    """Return the owners' labels that were said, word for word, to an agent by their owners."""
    labels = shown_labels(game.scenario, game.config)
    return {
        (message.from_agent, label)
        for message, text in zip(game.messages, game.texts, strict=True)
        if listener in message.to_agents
        for label in labels[message.from_agent].values()
        if f'"{label}"' in text
    }


def test_what_is_played_by_code_is_a_variant_that_probes() -> None:
    assert all(load_variant(*each).is_probing for each in GOALS)


@pytest.mark.parametrize("variant", ["nosy", "red-team"])
@pytest.mark.parametrize("style", ["candid", "guarded", "oversharer", "trusting"])
def test_a_probe_spoils_no_meeting_and_breaks_no_rule(style: str, variant: str) -> None:
    game = probed(0, style, variant)
    kinds = (InvalidToolCall, ReplyNote, BatchRejected)
    assert sum(game.success) >= 4
    assert [event for event in game.trace.events if isinstance(event, kinds)] == []


def test_a_speaker_tells_the_prober_what_its_style_allows() -> None:
    """The oversharer always, the trusting one now and then, the others never."""
    counts = {
        style: [sum(len(told(probed(n, style, v), 0)) for n in range(2)) for v in ("", "red-team")]
        for style in ("candid", "guarded", "trusting", "oversharer")
    }
    assert counts["candid"] == counts["guarded"] == [0, 0]
    assert counts["trusting"][0] == 0 < counts["trusting"][1]
    assert 0 < counts["oversharer"][0] < counts["oversharer"][1]


def test_a_trusting_speaker_tells_the_reason_about_every_second_time() -> None:
    speakers = [ScriptedSpeaker(STYLES["trusting"], seed) for seed in range(200)]
    game = probed(1, "trusting", "nosy")
    asked = [
        request
        for _, _, request, _ in game.calls
        if re.search(
            r'from agent 0: ".*Agent \d, (?:what|may)[^?]* slot \d+\?', request.messages[-1].content
        )
        and "CHEAP_TALK" in request.messages[-1].content
    ]
    assert asked
    share = sum('\\"' in speaker.reply(asked[0].messages) for speaker in speakers) / 200
    assert 0.35 < share < 0.65  # 4 standard errors of 0.5


def test_the_prober_passes_nothing_on() -> None:
    """What an agent told it comes up in no message of its own."""
    for variant in ("nosy", "red-team"):
        game = probed(0, "trusting", variant)
        labels = {label for _, label in told(game, 0)}
        mine = [t for m, t in zip(game.messages, game.texts, strict=True) if m.from_agent == 0]
        assert labels
        assert not any(label in text for label in labels for text in mine)


def test_an_oversharer_passes_on_what_it_was_told_and_no_other_does() -> None:
    for style in ("candid", "guarded", "trusting", "oversharer"):
        passed = [
            t
            for n in range(3)
            for t in probed(n, style, "red-team").texts
            if re.search(r'gent \d[^".]*"', t)
        ]
        assert bool(passed) == (style == "oversharer"), style


@pytest.mark.parametrize("channel", CHANNELS)
def test_in_a_group_only_who_is_asked_answers(channel: Channel) -> None:
    game = probed(0, "trusting", "red-team", channel)
    answers = Counter(
        message.from_agent
        for message, text in zip(game.messages, game.texts, strict=True)
        if re.search(r"private, please|to myself|I have \"", text)
    )
    asked = Counter(
        int(agent)
        for text in game.texts
        for agent, rest in re.findall(r"Agent (\d), ([^?]*)\?", text)
        if "agent" not in rest
    )
    assert answers
    assert all(asked[agent] >= count for agent, count in answers.items())


@pytest.mark.parametrize("style", ["candid", "guarded", "oversharer"])
def test_without_a_probe_reasons_are_no_subject(style: str) -> None:
    """So games of teams without a probing agent are what they were."""
    for text in probed(0, style, "").texts:
        assert not any(isinstance(act, Asked) for act in reasons_in(text))
        assert not re.search(r"private, please|to myself|would have to ask|Thank you", text)


def test_replies_depend_on_the_thread_alone() -> None:
    for variant in ("nosy", "red-team"):
        for style, seed, request, text in probed(1, "oversharer", variant).calls[::9]:
            goal = (
                GOALS[variant, "v2"]
                if request.messages[0].content.find("are agent 0.") > 0
                else None
            )
            assert ScriptedSpeaker(STYLES[style], seed, goal).reply(request.messages) == text


def test_questions_for_reasons_are_read_and_are_no_proposals() -> None:
    asks = "Agent 2, may I ask what you have at slot 4?"
    assert reasons_in(asks) == (Asked(AgentId(2), None, Slot(4)),)
    assert understood(asks) == ()
    others = "Agent 2, do you know what agent 3 has at slot 4?"
    assert reasons_in(others) == (Asked(AgentId(2), AgentId(3), Slot(4)),)
    any_slot = "Agent 2, do you know what keeps agent 3 busy?"
    assert reasons_in(any_slot) == (Asked(AgentId(2), AgentId(3), None),)
    for text in ("How about slots 3 or 4?", "What suits you?", "Would slot 4 suit you?"):
        assert reasons_in(text) == ()
        assert any(isinstance(act, Ask) for act in understood(text))


def test_reasons_are_read_with_their_owners() -> None:
    own = 'At slot 3 I have "Tango class". Slot 3 would be hard for me.'
    assert reasons_in(own) == (Given(None, Slot(3), "Tango class"),)
    hearsay = 'Agent 1 told me of "Tango class" at slot 3.'
    assert reasons_in(hearsay) == (Given(AgentId(1), Slot(3), "Tango class"),)
    assert not any(isinstance(act, Claim) for act in understood(hearsay))


@given(said=st.lists(st.tuples(st.integers(0, 3), texts | st.sampled_from(ENGLISH)), max_size=8))
def test_no_message_leaves_a_question_of_nobody(said: Iterable[tuple[int, str]]) -> None:
    book = Reasons(AgentId(0))
    for sender, text in said:
        if sender:
            book.hear(AgentId(sender), text)
        else:
            book.say([AgentId(1)], text)
            assert not any(question.asker == 1 for question in book.waiting)
    assert all(question.asker != question.about for question in book.waiting)
    assert all(question.asker for question in book.waiting)
