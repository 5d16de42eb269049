"""What a clause says of states of slots (G.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.metrics.speech.clauses import clauses_of
from calbench.metrics.speech.features import message_features
from calbench.metrics.speech.states import STATED, states_of
from calbench.metrics.speech.vocabulary import STATES

EXPRESSIONS = sorted(" ".join(each) for kind in STATES.values() for each in kind)


def said(message: str) -> set[str]:
    """Return what a message says of its sender's slots: can, cannot or neither."""
    features = message_features(message)
    return {each for each in ("can", "cannot") if f"{STATED}says {each}" in features}


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Slot 4 is vacant.", {"can"}),
        ("Slot 4 is not vacant.", {"cannot"}),
        ("I'm snowed under in slot 4.", {"cannot"}),
        ("Nothing is booked in slot 4.", {"can"}),
        ("I don't have any commitments in slot 4.", {"can"}),
        ("No can do for slot 4.", {"cannot"}),
        ("| 4 | spoken for |\n| 5 | idle |", {"can", "cannot"}),
        ("4: yes\n5: no", {"can", "cannot"}),
        ("10:30 yes", set()),
        ("Slot 4? I couldn't possibly be there.", {"cannot"}),
        ("If slot 9 is bad, I can attend slot 4.", {"can"}),
        ("Slot 4 suits me, does it suit you?", {"can"}),
        # Asked, moved, or of others: nothing is said.
        ("Is slot 4 free?", set()),
        ("Which of 4 and 5 would suit you?", set()),
        ("Agent 2 is tied up in slot 4.", set()),
        ("You're available in slot 4.", set()),
        ("I can move what is in slot 4.", set()),
        ("I've booked it for us in slot 4.", set()),
        ("I could free slot 4.", set()),
        ("I'm fine with moving my errand from slot 4.", set()),
        ("Let's find a slot that works.", set()),
        ("Perfect, slot 4.", set()),
        ("Please answer yes or no for slot 4.", set()),
        ("I'm happy to help.", set()),
    ],
)
def test_states_of_the_senders_slots(message: str, says: set[str]) -> None:
    assert said(message) == says


@given(st.lists(st.sampled_from([*EXPRESSIONS, "slot 3", "agent 2", ",", ":", ".", "?"])))
def test_any_words_are_read_and_denial_turns_no_state_into_both(words: list[str]) -> None:
    for clause in clauses_of(" ".join(words)):
        found = states_of(clause, is_named=False)
        assert ("says" in found) == any(each.startswith("says ") for each in found)
        assert states_of(clause, is_named=True) >= {each for each in found if "never" not in each}


def test_the_thesaurus_is_in_small_letters_and_has_no_state_twice() -> None:
    kinds = ("open", "fits", "taken", "reply")
    states = [each for kind in kinds for each in STATES[kind]]
    assert len(states) == len(set(states))
    words = {word for kind in STATES.values() for each in kind for word in each}
    assert all(word.islower() for word in words - {"AGENT"})
