"""A finding: what was found, and the way to what is behind it."""

from dataclasses import dataclass

from calbench.report.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found.

    Attributes:
        title: in a few words.
        sentence: with its numbers.
        links: to the game or the table behind it; those to pages that a site lacks are not shown.
    """

    title: Sentence
    sentence: Sentence
    links: Sentence
