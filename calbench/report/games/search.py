"""Full-text search over messages: which words are in which messages, in numbered files.

Messages in words are numbered through the whole site, game after game. A word's messages are
differences between their numbers, coded in letters; words whose first two letters are alike
are in one file, so that a search reads one file a word, also for words that go on. Names of
files are numbers: no text becomes a path.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from calbench.report.games.index import ALPHABET

BUCKETS = 128
"""Files that the words are spread over [C]."""

LONGEST = 32
"""Letters of a word that count [C]: longer ones are found by their beginning."""

HEAD = 2
"""First letters of a word that choose its file [C]; with fewer, only the whole word is found."""

# e.g. "Müller's"; not "_ -"
WORD = re.compile(r"[^\W_]+")

FACTOR = 31
"""Spreads first letters over files [C]."""

BITS, MORE = 5, 32
"""A letter holds five bits of a number, least ones first; the sixth says that more follow."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text: runs of letters and digits, compatible forms alike, small."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return frozenset(word[:LONGEST] for word in WORD.findall(folded))


def bucket_of(word: str) -> int:
    """Return the number of the file that holds a word, and all that begin like it."""
    number = 0
    for letter in word[:HEAD]:
        number = (number * FACTOR + ord(letter)) % BUCKETS
    return number


class WordIndex:
    """Takes the words of messages in order; in memory a few letters for each word of each."""

    def __init__(self) -> None:
        self._letters: dict[str, bytearray] = {}
        self._last: dict[str, int] = {}
        self._count = 0

    def add(self, messages: Iterable[Iterable[str]]) -> int:
        """Take messages, each as its different words; return how many there were."""
        before = self._count
        for words in messages:
            for word in words:
                step = self._count - self._last.get(word, -1) - 1
                self._last[word] = self._count
                letters = self._letters.get(word)
                if letters is None:
                    letters = self._letters[word] = bytearray()
                if step < MORE:
                    letters += CODES[step]
                else:
                    letters += number_letters(step)
            self._count += 1
        return self._count - before

    def files(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and content of every file: its words in order, and their messages."""
        buckets: dict[int, list[str]] = {}
        for word in sorted(self._letters):
            buckets.setdefault(bucket_of(word), []).append(word)
        for bucket in sorted(buckets):
            words = buckets[bucket]
            yield (
                bucket,
                {
                    "words": words,
                    "messages": [self._letters[word].decode("ascii") for word in words],
                },
            )


CODES: Sequence[bytes] = [letter.encode("ascii") for letter in ALPHABET]


def number_letters(number: int) -> bytes:
    """Return a natural number in letters."""
    letters = b""
    while number >= MORE:
        letters += CODES[MORE + number % MORE]
        number >>= BITS
    return letters + CODES[number]
