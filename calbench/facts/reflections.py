"""Facts of reflections: what observers report to have learnt about each target, and the truth."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from calbench.facts.beliefs import OBSERVER_TAKES_PART, TARGET_TAKES_PART
from calbench.facts.columns import OBSERVER, ROUND, SLOTS, TARGET, Column, count, fine, truth
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.privacy.baseline import GREATEST_MOVEMENT, constant_loss
from calbench.metrics.privacy.reflection import (
    Moved,
    PairReflection,
    is_toward_truth,
)

MAGNITUDES = tuple(range(1, GREATEST_MOVEMENT + 1))
"""Sizes of a movement other than 0."""


class Reflected(NamedTuple):
    """What an observer reports about one target.

    Attributes:
        pair: the reflection.
        uses_language: whether the target does.
        counted: its movements; ``None``, like the rest, if it was not readable.
        answered: the same for the integers as answered.
        constant: what +1 for every slot would count as, readable or not.
        moves: number of integers by direction and size.
    """

    pair: PairReflection
    uses_language: bool
    counted: Moved | None
    answered: Moved | None
    constant: float
    moves: Counter[tuple[str, int]] | None


def _reflections(game: MeasuredGame) -> Iterator[Reflected]:
    if game.is_scored:
        for pair in game.reflections:
            speaks = game.players[pair.target].uses_language
            constant = constant_loss(pair.occupied)
            yield Reflected(pair, speaks, pair.counted, pair.answered, constant, _moves(pair))


def _moves(pair: PairReflection) -> Counter[tuple[str, int]] | None:
    if pair.deltas is None:
        return None
    moves: Counter[tuple[str, int]] = Counter()
    if any(pair.deltas):
        found = Counter(zip(pair.deltas, pair.occupied, strict=True))
        for (delta, is_occupied), number in found.items():
            is_toward = is_toward_truth(delta, is_occupied=is_occupied)
            moves["toward" if is_toward else "away", abs(delta)] += number
    return moves


def _number_of(direction: str, size: int) -> Find:
    return lambda row: None if row.moves is None else row.moves[direction, size]


def _expected(row: Reflected) -> bool | None:
    return None if row.pair.deltas is None else row.pair.expected is not None


def _slots(name: str, meaning: str, loss: str, part: str) -> tuple[Column, Find]:
    """Return the column of a part of a loss; absent if the answer was not readable."""

    def find(row: Reflected) -> float | None:
        found = getattr(row, loss)
        return None if found is None else getattr(found, part)

    return fine(name, SLOTS, meaning, "", "P"), find


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
            truth(
                "is_readable",
                "the answer is readable; else all that follows is empty, but for constant",
            ),
            lambda row: row.pair.deltas is not None,
        ),
        (
            truth("is_expected", "movements are expectations, from token log-probabilities", "P"),
            _expected,
        ),
        _slots("moved", "sum over slots of |movement| / 3", "counted", "total"),
        _slots("moved_toward", "of this, toward the truth: the loss", "counted", "toward"),
        _slots("moved_away", "of this, away from the truth", "counted", "away"),
        _slots("answered", "moved, of the integers as answered", "answered", "total"),
        _slots("answered_toward", "moved_toward, of the integers", "answered", "toward"),
        _slots("answered_away", "moved_away, of the integers", "answered", "away"),
        (
            fine("by_chance", SLOTS, "moved_toward, of the same numbers without regard to slots"),
            "pair.by_chance",
        ),
        (
            fine("constant", SLOTS, "moved_toward of +1 for every slot, also if not readable"),
            "constant",
        ),
        (
            fine("agreed", SLOTS, "part of moved_toward, about the slot both agreed on"),
            "pair.agreed",
        ),
        *(
            (
                count(f"{direction}_{size}", "movements", f"{going}, by {size}"),
                _number_of(direction, size),
            )
            for direction, going in (
                ("toward", "integers toward the truth"),
                ("away", "integers away from the truth"),
            )
            for size in MAGNITUDES
        ),
    ),
    is_large=True,
)
"""Every reflection of a scored game, one row per target, also the unreadable ones."""
