"""Kinds of players: one colour each, which reads on light and on dark pages."""

import re

import pytest

from calbench.analysis.summary import KIND_WORDS
from calbench.report.kind import KINDS, MIXED, OWN, PROTOCOL, WORDS, Kind, kind_of
from tests.cli.runs import REPO

PAGES = ("#ffffff", "#1e2129")
"""Backgrounds of light and dark pages."""


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.id)
@pytest.mark.parametrize("page", PAGES)
def test_marks_are_seen_on_both_pages(kind: Kind, page: str) -> None:
    assert contrast(kind.colour, page) >= 3


def test_no_two_kinds_share_a_colour_or_a_name() -> None:
    assert len({kind.colour for kind in KINDS}) == len({kind.id for kind in KINDS}) == len(KINDS)


def test_style_sheet_has_the_same_colours() -> None:
    sheet = (REPO / "site" / "assets" / "every" / "calbench.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--cb-kind-(\w+): (#\w+);", sheet))

    assert colours == {kind.id: kind.colour for kind in KINDS}


def test_every_word_of_the_tables_has_a_kind() -> None:
    assert {*KIND_WORDS.values(), "reference"} == set(WORDS)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("protocol, not published", PROTOCOL),
        ("language models and protocol", MIXED),
        ("custom agents", OWN),
        ("of a sort nobody knows", OWN),
    ],
)
def test_words_of_tables(words: str, kind: Kind) -> None:
    assert kind_of(words) is kind
