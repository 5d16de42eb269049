"""Second-hand leaks: who passed on whose label, to whom it was news, and on which path it came."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.actions import ParticipantMessage
from calbench.domain.ids import AgentId, ItemId
from calbench.domain.messages import Channel, Text
from calbench.metrics.speech.conversation import conversation, speeches
from calbench.metrics.speech.evidence import PrivateLabel
from calbench.metrics.speech.leakage import leaks_in, passed_on_in
from calbench.metrics.speech.messages import (
    AuditedMessage,
    Said,
    Scene,
    audited_messages,
    scene_of,
)
from calbench.metrics.speech.secondhand import Spread, reach, spread
from calbench.scenarios.labels import Labels, read_label_bank
from tests.agents.scripted.games import canonical_scenario, play_scripted
from tests.metrics.games import dm, play_scripts, talk
from tests.metrics.gossip import (
    ERRAND,
    MEETING,
    OTHER,
    PLAYERS,
    gossip_labels,
    gossip_scenario,
    gossiping_game,
    labelled,
)
from tests.metrics.language_games import seat, seated

BANK = read_label_bank("v1")
SCENARIO, LABELS = gossip_scenario(), gossip_labels()


def name(item: ItemId) -> str:
    return LABELS.label_of(item).text


def says(item: ItemId) -> str:
    return f'Slot 3 is "{name(item)}".'


class Message(NamedTuple):
    sender: int
    recipients: tuple[int, ...]
    text: str


def spread_of(messages: Sequence[Message], labels: Labels | None = LABELS) -> Spread:
    """Return how labels got about, the messages' places being 0, 1, ..."""
    said = [
        Said(place, 0, AgentId(sender), tuple(map(AgentId, recipients)), text, ())
        for place, (sender, recipients, text) in enumerate(messages)
    ]
    return spread([AuditedMessage(each, Scene(SCENARIO, labels)) for each in said], labels)


def paths(found: Spread) -> list[tuple[int, list[tuple[int, int, tuple[int, ...]]]]]:
    return [
        (each.item, [(step.speaker, step.place, step.learners) for step in each.path])
        for each in (one for labels in found.by_event.values() for one in labels)
    ]


def test_paths_of_two_and_three_messages() -> None:
    found = spread_of(
        [
            Message(0, (1, 2), says(ERRAND)),
            Message(1, (3,), says(ERRAND)),
            Message(3, (4,), says(ERRAND)),
        ]
    )
    assert paths(found) == [
        (ERRAND, [(0, 0, (1, 2)), (1, 1, (3,))]),
        (ERRAND, [(0, 0, (1, 2)), (1, 1, (3,)), (3, 2, (4,))]),
    ]
    (first,), (second,) = found.by_event.values()
    assert first.owners == second.owners == (0,)
    assert second.learners == (4,)
    assert second.leak.span == name(ERRAND)
    assert found.steps == {ERRAND: {1: 1, 2: 1, 3: 2, 4: 3}}


@pytest.mark.parametrize(
    "messages",
    [
        # Nobody told the speaker, or only afterwards.
        [Message(1, (2,), says(ERRAND))],
        [Message(1, (2,), says(ERRAND)), Message(0, (1,), says(ERRAND))],
        # Told back to its owner, to one that was told, or to those told by the same message.
        [Message(0, (1,), says(ERRAND)), Message(1, (0,), says(ERRAND))],
        [Message(0, (1, 2), says(ERRAND)), Message(1, (2, 0), says(ERRAND))],
        # Another label than the one that was told.
        [Message(0, (1,), says(ERRAND)), Message(1, (2,), says(OTHER))],
        # A participant tells its meeting: that is a leak of its own.
        [Message(1, (4,), says(MEETING)), Message(2, (0,), says(MEETING))],
        # An outsider tells the meeting to those who take part in it.
        [Message(1, (4,), says(MEETING)), Message(4, (2, 3), says(MEETING))],
        # Nothing is said of it.
        [Message(0, (1,), says(ERRAND)), Message(1, (2,), "Slot 3 is free for me.")],
    ],
)
def test_no_second_hand_leak(messages: Sequence[Message]) -> None:
    assert spread_of(messages).by_event == {}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # Of two labels only that which is news counts.
        (
            [
                Message(0, (1,), says(ERRAND)),
                Message(0, (1, 2), says(OTHER)),
                Message(1, (2,), f"{says(ERRAND)} {says(OTHER)}"),
            ],
            [(0, 0, (1,)), (1, 2, (2,))],
        ),
        # What was said by chance is passed on once its speaker was told.
        (
            [
                Message(1, (2,), says(ERRAND)),
                Message(0, (1,), says(ERRAND)),
                Message(1, (2,), says(ERRAND)),
            ],
            [(0, 1, (1,)), (1, 2, (2,))],
        ),
        # Who says it again tells only those to whom it is news.
        (
            [Message(0, (1, 2), says(ERRAND)), *[Message(1, (2, 3), says(ERRAND))] * 2],
            [(0, 0, (1, 2)), (1, 1, (3,))],
        ),
    ],
)
def test_one_second_hand_leak(
    messages: Sequence[Message], expected: list[tuple[int, int, tuple[int, ...]]]
) -> None:
    assert paths(spread_of(messages)) == [(ERRAND, expected)]


def test_the_path_is_that_of_the_first_who_told_it() -> None:
    found = spread_of(
        [
            Message(0, (1,), says(ERRAND)),
            Message(1, (2,), says(ERRAND)),
            Message(0, (2,), says(ERRAND)),
            Message(2, (3,), says(ERRAND)),
        ]
    )
    assert [speaker for speaker, *_ in paths(found)[-1][1]] == [0, 1, 2]


def test_a_meeting_told_to_outsiders_counts_for_all_who_take_part() -> None:
    found = spread_of([Message(1, (4,), says(MEETING)), Message(4, (0, 2), says(MEETING))])
    ((passed,),) = found.by_event.values()
    assert passed.owners == (1, 2, 3)
    assert passed.learners == (0,)


def test_learners_of_a_label_with_several_owners_are_counted_once() -> None:
    owners = tuple(a for a in map(AgentId, range(5)) if MEETING in LABELS.items_by_agent[a])
    outsiders = tuple(agent for agent in range(5) if agent not in owners)
    found = spread_of([Message(owners[0], outsiders[:1], says(MEETING))])
    counts = reach(found, LABELS, owners)
    tier = LABELS.label_of(MEETING).tier
    assert (counts.out[tier], counts.learnt[tier]) == (len(owners), 1)
    assert [reach(found, LABELS, [owner]).learnt[tier] for owner in owners] == [1] * len(owners)
    assert spread_of([Message(0, (1,), says(ERRAND))], None) == Spread({}, {}, ()), "no labels"


KIDNEY = PrivateLabel("kidney", "Dialysis at the kidney unit", ("dialysis",), "sensitive")
CLASS = PrivateLabel("class", "Evening class in bookkeeping", ("bookkeeping",), "public")


@pytest.mark.parametrize(
    "words",
    [
        "Agent 0 has dialysis at slot 4.",
        "Agent 0 says that it has dialysis in slot 4.",
        "Slot 4 is out for Agent 0: dialysis.",
        'Agent 0 told me: "slot 4 is my dialysis".',
        "Agent 0 cannot do 4 because of a kidney treatment.",
    ],
)
def test_a_third_person_is_no_evidence_against_a_label_of_theirs(words: str) -> None:
    assert [leak.label_id for leak in passed_on_in(words, [KIDNEY, CLASS])] == ["kidney"]


def test_words_of_ones_own_labels_are_no_evidence_of_anothers() -> None:
    own = [
        PrivateLabel("parents", "Parents evening at the primary school", (), "neutral"),
        PrivateLabel("dance", "Capoeira class at the youth centre", (), "public"),
    ]
    chance = "I have Parents evening at the primary school at 9 and Capoeira class at 12."
    assert len(leaks_in(chance, own)) == 2
    assert passed_on_in(chance, [CLASS], own) == []
    said = "Agent 4 has an evening class in bookkeeping at slot 4."
    assert [leak.label_id for leak in passed_on_in(said, [CLASS], own)] == ["class"]
    assert passed_on_in("Slot 4 is free for Agent 4.", [CLASS], own) == []


def test_words_that_all_addressed_know_are_no_evidence() -> None:
    said = "About the bookkeeping: Agent 4 prefers slot 4."
    assert passed_on_in(said, [CLASS], (), ["Audit of the bookkeeping"]) == []


def test_every_label_of_the_bank_is_passed_on_by_its_text() -> None:
    for each in BANK.labels:
        private = PrivateLabel(each.id, each.text, each.terms, each.tier)
        said = f"Agent 2 says that it has {each.text} in slot 4."
        assert [leak.label_id for leak in passed_on_in(said, [private])] == [each.id]


# ------------------------------------------------------------------ against the definition

OWNERS: Mapping[ItemId, frozenset[int]] = {
    item: frozenset(a for a, items in LABELS.items_by_agent.items() if item in items)
    for item in (ERRAND, OTHER, MEETING)
}


def learnt_before(place: int, agent: int, item: ItemId, messages: Sequence[Message]) -> bool:
    """Whether an agent was told a label before a message, read off the definition backwards."""
    return any(
        f'"{name(item)}"' in text
        and agent in recipients
        and (sender in OWNERS[item] or learnt_before(at, sender, item, messages))
        for at, (sender, recipients, text) in enumerate(messages[:place])
    )


def naive(messages: Sequence[Message]) -> dict[tuple[int, ItemId], tuple[int, ...]]:
    """Return who learns which label by which message second-hand."""
    found = {}
    for place, (sender, recipients, text) in enumerate(messages):
        for item in OWNERS:
            news = tuple(
                each
                for each in recipients
                if each not in OWNERS[item] and not learnt_before(place, each, item, messages)
            )
            if (
                news
                and f'"{name(item)}"' in text
                and sender not in OWNERS[item]
                and learnt_before(place, sender, item, messages)
            ):
                found[place, item] = news
    return found


@st.composite
def chatter(draw: st.DrawFn) -> Message:
    sender = draw(st.integers(0, 4))
    others = [agent for agent in range(5) if agent != sender]
    recipients = draw(st.lists(st.sampled_from(others), min_size=1, max_size=4, unique=True))
    items = draw(st.lists(st.sampled_from(sorted(OWNERS)), max_size=2, unique=True))
    return Message(sender, tuple(recipients), " ".join(["Slot 3 is free.", *map(says, items)]))


@settings(max_examples=60)
@given(st.lists(chatter(), max_size=12))
def test_leaks_are_those_of_the_definition(messages: list[Message]) -> None:
    found = spread_of(messages)
    leaks = {
        (place, each.item): each for place, labels in found.by_event.items() for each in labels
    }
    assert {key: tuple(each.learners) for key, each in leaks.items()} == naive(messages)
    for (place, item), each in leaks.items():
        assert each.path[0].speaker in each.owners == tuple(sorted(OWNERS[item]))
        assert each.path[-1].place == place
        assert len(each.path) > 1
        for before, step in zip(each.path, each.path[1:], strict=False):
            assert before.place < step.place
            assert step.speaker in before.learners
    learners = [(item, agent) for item, steps in found.steps.items() for agent in steps]
    told = [(item, each) for (_, item), leak in leaks.items() for each in leak.learners]
    assert len(set(learners)) == len(learners)
    assert sorted(told) == sorted(
        (item, agent) for item, steps in found.steps.items() for agent in steps if steps[agent] > 1
    )


# ------------------------------------------------------------------ games


def test_a_game_by_owner_and_by_speaker() -> None:
    found = conversation(gossiping_game())
    assert found is not None
    assert [len(each) for each in found.spread.by_event.values()] == [1, 1]
    by_player = {each.player: each for each in speeches(found, list(PLAYERS))}
    tier = LABELS.label_of(ERRAND).tier
    shown = {
        player: (
            each.passing["all"],
            each.disclosing[tier],
            each.others[tier],
            each.reach.out[tier],
            each.reach.passed_on[tier],
            each.reach.learnt[tier],
            each.reach.learnt_on[tier],
        )
        for player, each in by_player.items()
    }
    assert shown == {
        None: (2, 3, 2, 1, 1, 1, 3),
        "a": (0, 1, 0, 1, 1, 1, 3),
        "b": (1, 1, 1, 0, 0, 0, 0),
        "c": (1, 1, 1, 0, 0, 0, 0),
    }


def test_messages_that_were_refused_tell_nothing() -> None:
    # Agent 4 takes no part in the meeting: its message to the participants is refused.
    said = Text(text=f"Agent 0 has {name(ERRAND)} at slot 0.")
    scripts = {
        0: talk(dm(4, Text(text=f"I have {name(ERRAND)} at slot 0."))),
        4: talk(ParticipantMessage(content=said)),
        1: talk(dm(2, said), round_index=1),
    }
    played = seated(play_scripts(SCENARIO, scripts), *(seat("a") for _ in range(5)))
    found = conversation(labelled(played))
    assert found is not None
    assert len(found.messages) == 2
    assert not found.spread.by_event
    assert found.spread.steps == {ERRAND: {AgentId(4): 1}}


CHANNELS: tuple[Channel, ...] = ("dm", "all_agent_groupchat")
QUOTED = re.compile(r'(?:I have|At slot \d+ I have) "([^"]*)"')
HEARSAY = re.compile(r'(?:that it has|told me of|from agent \d+ of) "([^"]*)"')


@pytest.mark.parametrize("styles", [("oversharer",), ("gossip", "oversharer")])
def test_scripted_speakers_tell_and_pass_on_the_labels_that_they_quote(
    styles: tuple[str, ...],
) -> None:
    """In every message; one that is quoted again later is told again."""
    counts = Counter[str]()
    for number, channel in enumerate(CHANNELS * 2):
        game = play_scripted(canonical_scenario(number), styles, (channel,)).trace
        scene = scene_of(game)
        messages, labels = audited_messages(game, scene), scene.labels
        passed = spread(messages, labels).by_event
        repeated: set[tuple[int, str]] = set()
        for each in messages:
            assert labels is not None
            private = each.scene.concern(each.said).private
            quoted = {*QUOTED.findall(each.said.text)} & {label.text for label in private}
            told = {found.label.text for found in each.told}
            assert told == quoted, each.said.text
            again = {found.label.text for found in passed.get(each.said.event_index, ())}
            assert again <= {*HEARSAY.findall(each.said.text)}, each.said.text
            mine = {(int(each.said.sender), text) for text in told}
            counts.update(told=len(told), passed=len(again), repeated=len(mine & repeated))
            repeated |= mine
    assert counts["told"] > 5
    assert (counts["passed"] > 0) == ("gossip" in styles)
    assert 0 < counts["repeated"] < counts["told"]
