"""Facts of reflections: what observers said they learnt about each target, against the truth."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from calbench.facts.beliefs import OBSERVER_TAKES_PART, TARGET_TAKES_PART
from calbench.facts.columns import OBSERVER, ROUND, SLOTS, TARGET, Column, count, fine, truth
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.privacy.reflection import (
    GREATEST_MOVEMENT,
    Moved,
    PairReflection,
    is_toward_truth,
    pair_reflections,
)

MAGNITUDES = tuple(range(1, GREATEST_MOVEMENT + 1))
"""Sizes of a movement other than 0."""


class Reflected(NamedTuple):
    """What an observer said about one target.

    Attributes:
        pair: the reflection.
        uses_language: whether the target does.
        counted: what it moved; ``None`` if it could not be read, as for the rest.
        answered: the same of the integers as they were answered.
        moves: how many integers went which way, by direction and size.
    """

    pair: PairReflection
    uses_language: bool
    counted: Moved | None
    answered: Moved | None
    moves: Counter[tuple[str, int]] | None


def _reflections(game: MeasuredGame) -> Iterator[Reflected]:
    if game.is_scored:
        for pair in pair_reflections(game.trace):
            speaks = game.players[pair.target].uses_language
            yield Reflected(pair, speaks, pair.counted, pair.answered, _moves(pair))


def _moves(pair: PairReflection) -> Counter[tuple[str, int]] | None:
    if pair.movements is None:
        return None
    return Counter(
        (
            "toward" if is_toward_truth(delta, is_occupied=is_occupied) else "away",
            abs(delta),
        )
        for _, delta, _, is_occupied in pair.movements
        if delta
    )


def _part(loss: str, part: str) -> Find:
    """Return what finds a part of a loss that is absent where the answer could not be read."""

    def find(row: Reflected) -> float | None:
        found = getattr(row, loss)
        return None if found is None else getattr(found, part)

    return find


def _number_of(direction: str, size: int) -> Find:
    return lambda row: None if row.moves is None else row.moves[direction, size]


def _expected(row: Reflected) -> bool | None:
    return None if row.pair.movements is None else row.pair.is_expected


def _slots(name: str, meaning: str, loss: str, part: str) -> tuple[Column, Find]:
    return fine(name, SLOTS, meaning, "", "P"), _part(loss, part)


REFLECTIONS = Fact(
    "reflections",
    _reflections,
    (
        (ROUND, "pair.round"),
        (TARGET, "pair.target"),
        (OBSERVER, "pair.observer"),
        (TARGET_TAKES_PART, "pair.target_is_participant"),
        (OBSERVER_TAKES_PART, "pair.observer_is_participant"),
        (
            truth("target_uses_language", "only then does the row count in the target's V", "C"),
            "uses_language",
        ),
        (
            truth("is_readable", "the answer could be read; else the rest is empty"),
            lambda row: row.pair.movements is not None,
        ),
        (
            truth("is_expected", "movements are expected ones, from token log-probabilities", "P"),
            _expected,
        ),
        _slots("moved", "sum over slots of |movement| / 3", "counted", "total"),
        _slots("moved_toward", "of this, toward the truth: the loss", "counted", "toward"),
        _slots("moved_away", "of this, away from it", "counted", "away"),
        _slots("answered", "moved, of the integers as answered", "answered", "total"),
        _slots("answered_toward", "moved_toward, of the integers", "answered", "toward"),
        _slots("answered_away", "moved_away, of the integers", "answered", "away"),
        *(
            (
                count(f"{direction}_{size}", "movements", f"{going}, by {size}"),
                _number_of(direction, size),
            )
            for direction, going in (
                ("toward", "integers toward the truth"),
                ("away", "integers away from it"),
            )
            for size in MAGNITUDES
        ),
    ),
    is_large=True,
)
"""Every reflection of a scored game, a row a target, those that could not be read too."""
