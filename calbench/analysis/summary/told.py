"""Labels that a message told, each once.

One phrase can disclose two labels: "scan of a pregnancy nobody knows" also holds the words of a
label "scan of a pregnancy". Tables count both, as the audits do; who quotes a message should not.
"""

import re

BETWEEN = " / "
"""Between the labels' words in a table."""

WORD = re.compile(r"\w+")


def parts_of(words: str) -> list[str]:
    """Return the words of each label that a message told (``words`` of a table)."""
    return [part for part in words.split(BETWEEN) if part]


def distinct(words: str) -> list[str]:
    """Return those of them that are not part of another's words; of equals the first."""
    parts = parts_of(words)
    read = [WORD.findall(part.casefold()) for part in parts]
    return [
        part
        for place, part in enumerate(parts)
        if read[place] not in read[:place]
        and not any(_holds(other, read[place]) for other in read if other != read[place])
    ]


def _holds(words: list[str], part: list[str]) -> bool:
    """Return whether words hold others in a row."""
    size = len(part)
    return any(words[start : start + size] == part for start in range(len(words) - size + 1))
