"""Speakers that err: each mistake by itself, as often as is said, and seen by nobody's code."""

import re
from collections.abc import Callable

import pytest

from calbench.agents.envelope import parse_envelope
from calbench.agents.prompts import PROMPT_VERSION, load_prompts
from calbench.agents.scripted import erring, phrases
from calbench.agents.scripted.erring import Moment, YesOrNo, happens
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.understanding import (
    IMPOSSIBLE,
    POSSIBLE,
    Claim,
    Confirm,
    Level,
    understood,
)
from calbench.domain.actions import Reschedule, Schedule
from calbench.domain.calendars import Booking
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.messages import Channel
from calbench.domain.observations import Phase
from calbench.domain.randomness import Stream, stream
from calbench.domain.replies import Unreadable
from tests.agents.scripted.games import ERRING, canonical_scenario, play_scripted, played
from tests.agents.scripted.test_speaker import EARLIER, batch, completions, said, seen
from tests.factories import calendar

PROMPTS = load_prompts(PROMPT_VERSION)


def moment(seed: int, kind: str = "decision", turn: int = -1) -> Moment:
    return Moment(seed, 0, kind, turn)


def seed_with(found: Callable[[int], bool]) -> int:
    """Return the first seed by which something happens."""
    return next(seed for seed in range(100_000) if found(seed))


@pytest.mark.parametrize(
    ("purpose", "share"),
    [
        ("moves alone", erring.MOVES_ALONE),
        ("forgets", erring.FORGETS),
        ("confirms two", erring.CONFIRMS_TWO),
        ("breaks off", erring.BREAKS_OFF),
        ("gossip", erring.PASSES_ON),
        ("reasons", erring.GIVES_REASONS),
        ("difficulty", erring.TELLS_DIFFICULTY),
        ("reconfirms", erring.RECONFIRMS),
    ],
)
def test_a_mistake_is_drawn_as_often_as_is_said(purpose: str, share: float) -> None:
    draws = 4000
    count = sum(happens(moment(seed).of_round(purpose), share) for seed in range(draws))
    assert abs(count / draws - share) < 4.5 * (share * (1 - share) / draws) ** 0.5


def test_shares_are_those_of_the_paper() -> None:
    games, messages = 504 / 7, 36_858 / 7
    assert pytest.approx(21 / (games * 5)) == erring.AMBIGUOUS
    assert pytest.approx(10 / (games * 5 * 3)) == erring.BREAKS_OFF
    assert pytest.approx(1782 / messages) == erring.PASSES_ON
    assert pytest.approx(2058 / messages) == erring.TELLS_OF_ERRANDS
    assert erring.TELLS_NUMBER < erring.TELLS_COST < erring.TELLS_OF_ERRANDS


def test_draws_of_mistakes_share_no_stream_with_words_or_each_other() -> None:
    when = moment(7, "turn", 2)
    streams = [
        stream(7, "words", 0, "turn", 2),
        *(when.of_round(name) for name in ("forgets", "confirms two", "breaks off")),
        *(when.of_turn(name) for name in ("gossip", "errands", "reasons")),
    ]
    assert len({each.below(10**9) for each in streams}) == len(streams)


def test_careless_moves_a_meeting_of_others_alone() -> None:
    """It says that the meeting's slot is possible, and clears it without a word to agent 3."""
    row = list(calendar("B.BB.E"))
    row[5] = Booking(EARLIER)
    shown = tuple(row)
    asked = seen(shown, Phase.CHEAP_TALK, (1, "How about slot 5?"))
    settled = seen(shown, Phase.CHEAP_TALK, (1, "Let's settle on slot 5."))
    seed = seed_with(
        lambda s: (
            happens(moment(s).of_round("moves alone"), erring.MOVES_ALONE)
            and not happens(moment(s).of_round("forgets"), erring.FORGETS)
            and not happens(moment(s).of_round("breaks off"), erring.BREAKS_OFF)
        )
    )
    answer, agreed, decided = completions(
        "careless", seed, asked, settled, seen(shown, Phase.DECISION)
    )
    assert Claim(Slot(5), POSSIBLE) in understood(said(answer)[1])
    assert set(said(agreed)) == {1}
    move, placed = batch(decided)
    assert isinstance(move, Reschedule)
    assert (move.item_id, move.from_slot) == (EARLIER.meeting_id, 5)
    assert placed == Schedule(meeting_id=MeetingId(1), slot=Slot(5))
    candid = completions("candid", seed, asked, settled, seen(shown, Phase.DECISION))
    assert Claim(Slot(5), IMPOSSIBLE) in understood(said(candid[0])[1])


def test_careless_forgets_what_was_agreed() -> None:
    told = seen("E.EB.E", Phase.CHEAP_TALK, (1, "Let's settle on slot 2."))
    decide = seen("E.EB.E", Phase.DECISION)
    seed = seed_with(
        lambda s: (
            happens(moment(s).of_round("forgets"), erring.FORGETS)
            and not happens(moment(s).of_round("breaks off"), erring.BREAKS_OFF)
        )
    )
    *_, forgotten = completions("careless", seed, told, decide)
    *_, kept = completions("candid", seed, told, decide)
    assert [each.slot for each in batch(forgotten) if isinstance(each, Schedule)] != [2]
    assert [each.slot for each in batch(kept) if isinstance(each, Schedule)] == [2]


def test_careless_breaks_off_before_its_actions_and_again_in_the_retry() -> None:
    decide = seen("E.EB.E", Phase.DECISION)
    again = decide._replace(attempt=1, conflict="The reply could not be read")
    seed = seed_with(lambda s: happens(moment(s).of_round("breaks off"), erring.BREAKS_OFF))
    for completion in completions("careless", seed, decide, again):
        assert completion.finish_reason == "length"
        assert len(completion.text or "") == erring.LONGEST_REPLY
        found = parse_envelope(completion)
        assert isinstance(found, Unreadable)
        assert found.problem == "truncated"


def test_careless_confirms_two_slots_at_once_but_once() -> None:
    told = seen("..EB.E", Phase.CHEAP_TALK, (2, "Let's settle on slot 4."))
    seed = seed_with(lambda s: happens(moment(s).of_round("confirms two"), erring.CONFIRMS_TWO))
    first, second = completions("careless", seed, told, seen("..EB.E", Phase.CHEAP_TALK))
    votes = [act.slot for act in understood(said(first)[2]) if isinstance(act, Confirm)]
    assert votes == [4, 0]
    assert all(
        act.slot == 4
        for text in said(second).values()
        for act in understood(text)
        if isinstance(act, Confirm)
    )


TOLD = 'I have "Dialysis at the kidney unit" at slot 3. Slots 0 and 3 would be hard for me.'


def test_gossip_passes_on_to_the_other_what_one_said() -> None:
    heard = seen("......", Phase.CHEAP_TALK, (1, TOLD))
    texts = [said(completions("gossip", seed, heard)[0]) for seed in range(40)]
    passed = [each[2] for each in texts if "Agent 1" in each.get(2, "")]
    assert len(texts) > len(passed) > 0
    for text in passed:
        assert re.search(r'Agent 1 (says|told me) that it has "Dialysis at the kidney unit"', text)
    assert not any("Agent 1" in each.get(1, "") for each in texts), "it need not be told"
    assert not any("Dialysis" in text for text in said(completions("candid", 0, heard)[0]).values())


@pytest.mark.parametrize(("owner", "is_told"), [(4, True), (2, False), (0, False)])
def test_what_was_passed_on_stays_its_owners_who_is_not_told_of_it(
    owner: int, is_told: bool
) -> None:
    text = f'Agent {owner} told me that it has "Dialysis at the kidney unit" at slot 3.'
    heard = seen("......", Phase.CHEAP_TALK, (1, text))
    texts = [said(completions("gossip", seed, heard)[0]) for seed in range(40)]
    passed = [each[2] for each in texts if "Dialysis" in each.get(2, "")]
    assert bool(passed) == is_told
    assert all(re.search(rf"Agent {owner} (says|told me)", text) for text in passed)


@pytest.mark.parametrize("channel", ["participant_groupchat", "all_agent_groupchat"])
def test_gossip_has_nothing_to_pass_on_of_what_all_have_heard(channel: Channel) -> None:
    game = play_scripted(canonical_scenario(1), ("gossip",), (channel,))
    assert game.texts
    assert not any("Agent" in text for text in game.texts)


def test_hearsay_and_errands_are_taken_for_no_claim() -> None:
    voice = Voice(Stream(1))
    for _ in range(20):
        for text in (
            voice.say(phrases.HEARSAY, agent=2, slot=4, word="free"),
            *(voice.say(phrases.HEARSAY, agent=2, slot=4, word=each.word) for each in Level),
            voice.say(phrases.HEARSAY_REASON, agent=2, label="Free yoga, slot 3", slot=4),
            voice.say(phrases.ERRAND, slot=4),
            voice.say(phrases.ERRAND_COST, cost=10, slot=4),
            voice.say(phrases.ERRAND_NUMBER, errand=117, slot=4),
        ):
            assert understood(text) == (), text


def test_withholding_has_two_words_for_five_levels() -> None:
    voice = YesOrNo(Stream(1))
    for _ in range(20):
        texts = [*voice.levels([Slot(s) for s in range(5)], list(Level)),
                 *(voice.move_level(MeetingId(2), Slot(3), level) for level in Level)]  # fmt: skip
        acts = [act for text in texts for act in understood(text)]
        assert {act.level for act in acts if isinstance(act, Claim)} == {POSSIBLE, IMPOSSIBLE}
        assert not re.search(r"easy|hard|inconvenient|difficult", " ".join(texts))
        claims = [act for act in acts if isinstance(act, Claim) and act.meeting is None]
        assert {act.slot for act in claims if act.level is IMPOSSIBLE} == {Slot(4)}


def test_withholding_keeps_difficulty_to_itself_but_for_few_turns() -> None:
    texts = [text for number in range(3) for text in played(number, "withholding", "dm").texts]
    told = [text for text in texts if re.search(r"\b(easy|possible|hard|inconvenient)\b", text)]
    assert 0 < len(told) < 0.2 * len(texts)


def test_wrangler_says_again_what_was_settled() -> None:
    told = seen("E.EB.E", Phase.CHEAP_TALK, (1, "Let's settle on slot 2."))
    quiet = [seen("E.EB.E", Phase.CHEAP_TALK, turn_index=turn) for turn in range(1, 9)]
    answers = [completions("wrangler", seed, told, *quiet) for seed in range(10)]
    assert all(set(said(first)) == {1} for first, *_ in answers)
    again = [said(each) for _, *later in answers for each in later if said(each)]
    assert 80 > len(again) > 40
    for texts in again:
        assert set(texts) == {1, 2}
        assert all(understood(text) == (Confirm(Slot(2)),) for text in texts.values())
    assert not any(said(each) for each in completions("candid", 0, told, *quiet)[1:])


@pytest.mark.heavy
@pytest.mark.parametrize("style", ERRING)
def test_erring_speakers_play_whole_games_and_most_meetings_come_about(style: str) -> None:
    """All but the careless agree as well as others do."""
    games = [played(number, style, "dm") for number in range(8)]
    success = [ok for game in games for ok in game.success]
    assert sum(success) / len(success) >= (0.5 if style == "careless" else 0.95)
