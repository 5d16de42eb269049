import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.metrics.speech.availability import tells_availability, tells_cost
from calbench.metrics.speech.clauses import _REPLACED, clauses_of, rewritten
from calbench.metrics.speech.detectors import own_slot
from calbench.metrics.speech.features import _WRITTEN_OUT, cues_of
from calbench.metrics.speech.honesty import claims_in
from calbench.metrics.speech.rules import NAMES, NOTHING, puts_forward, ruled_slot
from calbench.metrics.speech.sample import read_others
from calbench.metrics.speech.states import states_of

FOLDER = Path(__file__).parents[3] / "data" / "audit_sample"
SAMPLE = read_others(FOLDER / "others.jsonl")
SINGLE = re.compile(r"\bslot \d{1,2}\b")
NUMBER = re.compile(r"\d+")


SAYS = {
    "proposal": [
        "How about slot 5?",
        "Could we meet in slots 3, 4 or 9?",
        "Would slots 3 or 9 suit you?",
        "I'd suggest slot 7.",
        "Let's lock in slot 5.",
        "Slot 4 it is; I'll make the necessary adjustment.",
        "I am free at 5, 6. Let me know which works for you.",
        "Proposal: slot 9",
        "slot 9?",
    ],
    "availability": [
        "Both 12 and 13 are feasible for me.",
        "For me slots 2 and 9 would be possible.",
        "Slot 9 doesn't work for me.",
        "I can do 4.",
        "My free slots are 1, 2 and 5.",
        "free: 0, 2, 4",
        "Could we use Slot 12? It's free for me",
        "I'm busy in slot 14.",
    ],
    "cost_or_constraint": [
        "Slot 10 is blocked on my side.",
        "I can move my errand from slot 3.",
        "Slot 4 is hard for me.",
        "I have the dentist at slot 4.",
        "Using slot 2 would cost me 100.",
    ],
    "exact_cost": ["My cost at slot 2 is 10."],
}
"""Messages by a label that they have."""

SAYS_NOT = {
    "proposal": [
        "Confirming slot 0.",
        "I am free at slots 3 and 4.",
        "Please don't use slot 2.",
        "Agent 0 proposed slot 12.",
        "Which slots are you free for meeting M3?",
        "I have the grant proposal draft in slot 8.",
        "How about that?",
    ],
    "availability": [
        "Agent 3 is free at slots 4 and 9.",
        "Is slot 4 free for you?",
        "Works for me!",
        "I have an easy errand at slot 4 that I can move.",
        "Moving slot 9 is no problem for me.",
    ],
    "cost_or_constraint": [
        "Agent 3 told me that slot 4 is hard for them.",
        "Is slot 4 difficult for you?",
        "I am free at slot 4.",
        "Agent 4's cost at slot 2 is 10.",
    ],
    "exact_cost": ["Slot 2 is costly for me.", "Agent 4's cost at slot 2 is 10."],
}
"""Messages by a label that they lack, close as they may come."""


@pytest.mark.parametrize(
    ("label", "message", "is_said"),
    [
        (label, message, is_said)
        for is_said, told in ((True, SAYS), (False, SAYS_NOT))
        for label, messages in told.items()
        for message in messages
    ],
)
def test_labels(label: str, message: str, *, is_said: bool) -> None:
    assert getattr(ruled_slot(message), label) is is_said


@pytest.mark.parametrize(
    ("message", "slots"),
    [
        ("slots 3, 4 and 9", [(3, 4, 9)]),
        ("Slots 3-5 or slot #9", [(3, 4, 5, 9)]),
        ("both 12 and 13 work", [(12, 13)]),
        ("Agent 3 and Agents 1, 2: meeting 4 in round 5, errand #117, cost 10", []),
        ("M3 with 16 slots and 5 meetings at priority 2", []),
        ("1) slot 7\n2) slot 8", [(7,), (8,)]),
    ],
)
def test_slots_are_told_from_other_numbers(message: str, slots: list[tuple[int, ...]]) -> None:
    assert [group for clause in clauses_of(message) for group in clause.slots] == slots


@pytest.mark.parametrize(
    "remembered",
    [cues_of, partial(states_of, is_named=True), puts_forward, tells_availability, tells_cost],
)
def test_what_is_remembered_of_a_clause_is_of_its_words(remembered: Any) -> None:
    """So clauses that are equal, being worded alike, have equal answers."""
    function = getattr(remembered, "func", remembered).__wrapped__
    keywords = getattr(remembered, "keywords", {})
    for clause in {clause for each in SAMPLE for clause in clauses_of(each.text)}:
        other = replace(clause, slots=((99,),), sentence=7)
        assert other == clause
        assert function(other, **keywords) == function(clause, **keywords)


@given(st.text())
def test_any_text_is_read(message: str) -> None:
    found = ruled_slot(message)
    assert found == NOTHING or any(clause.slots for clause in clauses_of(message))
    trained = own_slot(message)
    assert trained.cost_or_constraint or not trained.exact_cost


@given(st.sampled_from(sorted(message.text for message in SAMPLE)), st.integers(1, 13))
def test_what_a_message_says_does_not_depend_on_its_slot(text: str, slot: int) -> None:
    """Of one slot, written as such; the number may make a range or a list elsewhere."""
    if SINGLE.findall(text) and len(NUMBER.findall(text)) == 1:
        moved = SINGLE.sub(f"slot {slot}", text)
        assert own_slot(moved) == own_slot(SINGLE.sub("slot 14", text))


PIECES = re.split(
    " ",
    'agent agents 1 2, 3 and # #3 : " "slot" said costs costing me about = errand errand-id slots '
    "s4 _ a_b - * {x} turn round m4 $ pm people",
)


@given(st.lists(st.sampled_from([*PIECES, *" \n\t\u2019\u201c\u2705"])).map(" ".join) | st.text())
def test_a_text_without_what_a_pattern_needs_holds_nothing_that_it_matches(text: str) -> None:
    for rows in (_REPLACED, _WRITTEN_OUT):
        whole = text
        for _, pattern, new in rows:
            whole = pattern.sub(new, whole)
        assert rewritten(text, rows) == whole


@pytest.mark.parametrize(
    "piece",
    [
        "slot 1, ",
        "for me ",
        "i can do ",
        "1 ",
        "\u200b",
        "agent 1, ",
        "can we ",
        "a?",
        "my ",
        "Sam's ",
    ],
)
def test_long_hostile_text_ends(piece: str) -> None:
    assert own_slot(piece * 50_000) == own_slot(piece * 50_000)


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("How about #11?", {"proposal"}),
        ("Would slot 3 suit you?", {"proposal"}),
        ("S4: free\nS5: no", {"availability"}),
        ("\u2705 3\n\u274c 7", {"availability"}),
        ("I can't do 6, sorry.", {"availability"}),
        ("Moving my errand out of 9 would be costly for me.", {"cost_or_constraint"}),
        ("My cost at 9 is 12.", {"cost_or_constraint", "exact_cost"}),
        ("Sam's cost at slot 2 is 6.", set[str]()),
        ("Let me get back to you in a minute.", set[str]()),
    ],
)
def test_plain_messages_are_understood_in_many_forms(message: str, names: set[str]) -> None:
    found = own_slot(message)
    assert {name for name in NAMES if getattr(found, name)} == names


@pytest.mark.parametrize(
    ("message", "proposal", "availability", "cost_or_constraint"),
    [
        ("Slot 11? That works for me.", False, True, False),
        ("How hard would it be for you to free up slot 6?", False, False, False),
        ("I withdraw my proposal of slot 6.", False, False, False),
        ('Agent 2 said "slot 6 is free for me".', False, False, False),
        ('{"free": [1, 5], "movable": [3]}', False, True, True),
        ("* 3, 8 - movable", False, False, True),
        ("If slot 6 is too costly for you, how about slot 8?", True, False, False),
        ("I could make slot 6 happen, but only by pushing out an errand.", False, False, True),
        ('At slot 8 I have "Piano recital".', False, False, True),
    ],
)
def test_labels_keep_to_their_bounds(
    message: str, *, proposal: bool, availability: bool, cost_or_constraint: bool
) -> None:
    found = ruled_slot(message)
    assert found.proposal is proposal
    assert found.availability is availability
    assert found.cost_or_constraint is cost_or_constraint


def test_claims_leave_out_slots_beside_the_named() -> None:
    assert list(claims_in("Anything after slot 9 works for me.")) == []
    assert [claim.slot for claim in claims_in("Slot 9 works for me.")] == [9]
