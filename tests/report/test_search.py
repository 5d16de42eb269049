"""Full-text search: every message that holds the words is found, and no other."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calbench.report.games.index import (
    ALPHABET,
    BUCKETS,
    HEAD,
    LONGEST,
    WordIndex,
    bucket_of,
    number_letters,
    words_of,
)

few_letters = st.text("ab Aﬁé7_-\u202e\U0001f4c5", max_size=12)
texts = st.lists(few_letters | st.text(max_size=20), max_size=12)


def messages_of(letters: str) -> list[int]:
    """Read postings back."""
    found: list[int] = []
    number = shift = 0
    for letter in letters:
        code = ALPHABET.index(letter)
        number += (code & 31) << shift
        shift += 5
        if not code & 32:
            found.append((found[-1] if found else -1) + number + 1)
            number = shift = 0
    return found


def filled(said: list[str]) -> dict[int, Any]:
    index = WordIndex()
    assert index.add(map(words_of, said)) == len(said)
    return {bucket: json.loads(json.dumps(file)) for bucket, file in index.files()}


def search(files: dict[int, Any], words: list[str], *, goes_on: bool) -> set[int] | None:
    """Search as the browser does: one file a word, the last one may go on."""
    found = None
    for place, word in enumerate(words):
        is_open = goes_on and place == len(words) - 1 and len(word) >= HEAD
        file = files.get(bucket_of(word), {"words": [], "messages": []})
        hits = {
            message
            for known, letters in zip(file["words"], file["messages"], strict=True)
            if known == word or (is_open and known.startswith(word))
            for message in messages_of(letters)
        }
        found = hits if found is None else found & hits
    return found


@settings(max_examples=60)
@given(texts, few_letters | st.text(max_size=6), st.booleans())
@example(["__proto__ constructor", "toString", "proto"], "proto", True)
@example(["ﬁne", "FINE", "fi ne"], "fin", True)
@example(["é", "e\u0301", "e"], "é", False)
@example(["\ud800x", "x"], "x", False)
@example(["x" * 100, "x" * 32 + "y", "x" * 31], "x" * 40, False)
def test_search_finds_what_a_scan_of_all_messages_finds(
    said: list[str], question: str, goes_on: bool
) -> None:
    words = sorted(words_of(question))
    if not words:
        return
    *whole, last = words

    found = search(filled(said), words, goes_on=goes_on)

    def holds(text: str) -> bool:
        there = words_of(text)
        if goes_on and len(last) >= HEAD:
            return set(whole) <= there and any(word.startswith(last) for word in there)
        return set(words) <= there

    assert found == {number for number, text in enumerate(said) if holds(text)}


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_postings_hold_message_numbers(numbers: list[int]) -> None:
    letters = ""
    last = -1
    for number in sorted(numbers):
        letters += number_letters(number - last - 1).decode()
        last = number

    assert messages_of(letters) == sorted(numbers)


@given(st.text())
def test_words_are_runs_of_letters_and_digits(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text).lower()
    parted = "".join(c if unicodedata.category(c)[0] in "LN" else " " for c in folded)

    assert words_of(text) == {word[:LONGEST] for word in parted.split()}


@pytest.mark.parametrize("word", ["__proto__", "constructor", "../../etc", "a", "", "\U0001f4c5z"])
def test_file_of_a_word_is_a_number(word: str) -> None:
    assert 0 <= bucket_of(word) < BUCKETS
    assert bucket_of(word + "?") == bucket_of(word) or len(word) < HEAD


def test_megabyte_of_one_word_is_one_short_word() -> None:
    assert filled(["z" * 1_000_000]) == {
        bucket_of("zz"): {"words": ["z" * LONGEST], "messages": ["A"]}
    }


def test_files_do_not_depend_on_the_order_of_words() -> None:
    one, other = WordIndex(), WordIndex()
    one.add([["b", "a"], ["c"]])
    other.add([["a", "b"], ["c"]])

    assert list(one.files()) == list(other.files())
    assert list(one.files()) != []
