"""Facts of reflections: what observers report to have learnt about each target, and the truth."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from calbench.facts.beliefs import OBSERVER_TAKES_PART, TARGET_TAKES_PART
from calbench.facts.columns import columns, count
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.privacy.baseline import GREATEST_MOVEMENT, constant_loss
from calbench.metrics.privacy.reflection import Moved, PairReflection, is_toward_truth

MAGNITUDES = tuple(range(1, GREATEST_MOVEMENT + 1))
"""Sizes of a movement other than 0."""

DIRECTIONS = {"toward": "toward", "away": "away from"}
"""How a movement is named in a column, and in words, with "the truth" behind it."""


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


def _part(loss: str, part: str) -> Find:
    """Return what finds a part of a loss; absent if the answer was not readable."""
    return lambda row: getattr(getattr(row, loss), part, None)


REFLECTIONS = Fact(
    "reflections",
    _reflections,
    columns(
        """
    round target_agent observer_agent target_is_participant observer_is_participant
    target_uses_language (truth; C): only then does the row count in the target's V
    is_readable (truth): the answer is readable; else all that follows is empty, but for constant
    is_expected (truth; P): movements are expectations, from token log-probabilities
    moved (fine, slot-equivalents; P): sum over slots of |movement| / 3
    moved_toward (fine, slot-equivalents; P): of this, toward the truth: the loss
    moved_away (fine, slot-equivalents; P): of this, away from the truth
    answered (fine, slot-equivalents; P): moved, of the integers as answered
    answered_toward (fine, slot-equivalents; P): moved_toward, of the integers
    answered_away (fine, slot-equivalents; P): moved_away, of the integers
    by_chance (fine, slot-equivalents): moved_toward, of the same numbers without regard to slots
    constant (fine, slot-equivalents): moved_toward of +1 for every slot, also if not readable
    agreed (fine, slot-equivalents): part of moved_toward, about the slot both agreed on
    moves
    """,
        of=[TARGET_TAKES_PART, OBSERVER_TAKES_PART],
        moves=[
            count(f"{way}_{size}", "movements", f"integers {words} the truth, by {size}")
            for way, words in DIRECTIONS.items()
            for size in MAGNITUDES
        ],
    ),
    {
        "round": "pair.round",
        "target_agent": "pair.target",
        "observer_agent": "pair.observer",
        "target_is_participant": "pair.target_is_participant",
        "observer_is_participant": "pair.observer_is_participant",
        "target_uses_language": "uses_language",
        "is_readable": lambda row: row.pair.deltas is not None,
        "is_expected": _expected,
        "moved": _part("counted", "total"),
        "moved_toward": _part("counted", "toward"),
        "moved_away": _part("counted", "away"),
        "answered": _part("answered", "total"),
        "answered_toward": _part("answered", "toward"),
        "answered_away": _part("answered", "away"),
        "by_chance": "pair.by_chance",
        "agreed": "pair.agreed",
        **{f"{way}_{size}": _number_of(way, size) for way in DIRECTIONS for size in MAGNITUDES},
    },
    is_large=True,
)
"""Every reflection of a scored game, one row per target, also the unreadable ones."""
