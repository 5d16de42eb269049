"""The words of a message, folded and reduced to stems, with their place in the text."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_APOSTROPHES = frozenset("'\u2018\u2019")

_INFLECTIONS = ("ings", "ing", "ies", "ied", "ed", "es", "s")
_DERIVATIONS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ions",
    "ion",
    "ancy",
    "ency",
    "ants",
    "ant",
    "ists",
    "ist",
    "ors",
    "or",
    "ers",
    "er",
    "ally",
    "al",
    "ly",
    "cy",
    "y",
    "e",
)
_LEAST_STEM = {**dict.fromkeys(_INFLECTIONS, 3), **dict.fromkeys(_DERIVATIONS, 4), "y": 6, "e": 3}
"""Letters that must remain when an ending is removed: short words are all stem [C]."""

_WHOLE = frozenset(
    re.findall(
        r"\w+",
        "wedding internal internet general policy policies evening morning early during string "
        "thing things something nothing anything everything yes this his us plus bus news lens "
        "hotel portal actor factor former later paper papers number master minister",
    )
)
"""Words that only seem to have an ending [C]."""


class Word(NamedTuple):
    """One word of a text.

    Attributes:
        text: small letters without accents and apostrophes.
        start: where it begins in the text.
        end: where it ends, exclusive.
        stem: the word without its endings.
    """

    text: str
    start: int
    end: int
    stem: str


_ASCII = re.compile(r"[A-Za-z0-9](?:'*[A-Za-z0-9])*")
"""One word of a text of ASCII characters: *don't* and *dont'* are, with a mark left outside."""


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text, folded as the terms of labels are.

    Words consist of letters and digits; accents, apostrophes and invisible characters are dropped,
    and all other characters separate words. The time is linear in the length of any text.
    """
    if text.isascii():
        found = ((match[0].replace("'", "").lower(), match) for match in _ASCII.finditer(text))
        return tuple([Word(word, *match.span(), stem(word)) for word, match in found])
    words = []
    letters: list[str] = []
    start = end = 0
    for place, char in enumerate(text):
        if char in _APOSTROPHES or unicodedata.category(char) == "Cf":
            continue
        for part in _folded(char):
            if part.isalnum():
                if not letters:
                    start = place
                letters.append(part)
                end = place + 1
            elif letters:
                words.append(("".join(letters), start, end))
                letters = []
    if letters:
        words.append(("".join(letters), start, end))
    return tuple([Word(*word, stem(word[0])) for word in words])


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    """Return the folded form of one character, without combining characters."""
    decomposed = unicodedata.normalize("NFKD", char).casefold()
    return "".join(part for part in decomposed if not unicodedata.combining(part))


@lru_cache(maxsize=16384)
def base(word: str) -> str:
    """Remove only the inflection of a folded word: *filing*, *files*, *file* share a base [C]."""
    if word in _WHOLE or not word.isascii() or not word.isalpha():
        return word
    return _cut(_cut(word, _INFLECTIONS), ("e",))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Reduce a folded word to a stem that its inflected and derived forms share [C].

    Plural, ``-ing`` and ``-ed`` endings are removed first, then up to two of a short list of
    derivational endings (*counsellor*, *counselling*; *immigrant*, *immigration*); a doubled last
    consonant is written once. This is coarser than a dictionary: stems are for comparison only.
    """
    if word in _WHOLE or not word.isascii() or not word.isalpha():
        return word
    left = _cut(word, _INFLECTIONS)
    for _ in range(2):
        left = _cut(left, _DERIVATIONS)
    return left


def _cut(word: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        left = word.removesuffix(ending)
        if left == word or len(left) < _LEAST_STEM[ending]:
            continue
        if ending == "s" and left[-1] in "siu":  # process, dialysis, status
            continue
        if ending in {"ies", "ied"}:
            return f"{left}y"
        is_short = len(left) == 4 and ending in {"ings", "ing", "ed"} and left[-1] in "bdgmnprt"
        doubled = (len(left) > 4 or is_short) and left[-1] == left[-2] and left[-1] not in "aeiou"
        return left[:-1] if doubled else left
    return word
