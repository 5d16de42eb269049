"""Speakers understand each other's sentences, and tolerably those of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.agents.scripted.difficulty import (
    EASY,
    HARD,
    IMPOSSIBLE,
    INCONVENIENT,
    POSSIBLE,
    Level,
)
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.understanding import (
    Act,
    Ask,
    AskMove,
    Claim,
    Confirm,
    ConfirmMove,
    Move,
    NoneOfThem,
    Settle,
    SettleMove,
    slots_in,
    understood,
)
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.randomness import stream

slots = st.integers(0, 99).map(Slot)
slot_lists = st.lists(slots, min_size=1, max_size=6, unique=True)
voices = st.integers(0, 50).map(lambda seed: Voice(stream(seed, "words")))
meetings = st.integers(1, 99).map(MeetingId)


@given(voice=voices, named=slot_lists, level=st.sampled_from(Level))
def test_what_is_said_of_slots_is_understood(voice: Voice, named: list[Slot], level: Level) -> None:
    assert understood(voice.level(named, level)) == tuple(Claim(slot, level) for slot in named)
    assert understood(voice.ask(named)) == (Ask(tuple(named)),)
    assert understood(voice.none_of_them()) == (NoneOfThem(),)
    assert understood(voice.settle(named[0])) == (Settle(named[0]),)
    assert understood(voice.confirm(named[0])) == (Confirm(named[0]),)
    assert understood(voice.refuse(named[0])) == (Claim(named[0], IMPOSSIBLE),)
    assert understood(voice.reason("Doctor at slot 3", named[0])) == (Claim(named[0], HARD),)


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
    assert understood(voice.ask_move(meeting, start, named)) == (
        AskMove(meeting, start, tuple(named)),
    )
    assert understood(voice.settle_move(meeting, start, to)) == (
        SettleMove(Move(meeting, start, to)),
    )
    assert understood(voice.confirm_move(meeting, start, to)) == (
        ConfirmMove(Move(meeting, start, to)),
    )
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
        (
            "I could manage slot 2; slot 9 is not easy.",
            [claim(2, POSSIBLE), claim(9, HARD)],
        ),
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
