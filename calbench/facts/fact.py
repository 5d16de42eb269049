"""A kind of fact: its columns, and how its rows are found in a game."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from calbench.facts.columns import Column
from calbench.facts.frames import arrow_schema
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.players import Player
from calbench.metrics.privacy.inference.bits import Learnt
from calbench.metrics.privacy.loss import RoundBeliefs, round_beliefs
from calbench.metrics.privacy.reflection import PairReflection, pair_reflections
from calbench.oracle.cache import OracleCache
from calbench.traces.models import Trace

if TYPE_CHECKING:
    import pyarrow as pa

Values = dict[str, list[Any]]
"""Rows of one game, column by column."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredGame:
    """A game with everything that facts are read from; compared by identity.

    Attributes:
        trace: the game.
        score: its numbers.
        rounds: its beliefs, replayed round by round.
        reflections: what its observers said about each target.
        players: by agent id.
        measure: settings of the metrics.
    """

    trace: Trace
    score: GameScore
    rounds: tuple[RoundBeliefs, ...]
    reflections: tuple[PairReflection, ...]
    players: tuple[Player, ...]
    measure: MeasureSpec

    @property
    def is_scored(self) -> bool:
        """Whether it counts: excluded games are recorded, but are in no measure."""
        return not self.score.is_excluded


def measured(
    trace: Trace,
    measure: MeasureSpec,
    oracle: OracleCache | None = None,
    known: Learnt | None = None,
) -> MeasuredGame:
    """Measure a game; its messages are replayed once.

    Args:
        trace: the game.
        measure: settings of the metrics.
        oracle: results of earlier games on the same scenario.
        known: what was learnt in the game, if already inferred.

    Raises:
        CalbenchError: the trace's outcomes contradict its scenario.
    """
    rounds, told = tuple(round_beliefs(trace, measure)), tuple(pair_reflections(trace))
    score = score_game(
        trace, measure=measure, oracle=oracle, beliefs=rounds, reflections=told, known=known
    )
    players = tuple([agent.player for agent in score.agents])
    return MeasuredGame(trace, score, rounds, told, players, measure)


Find = str | Callable[[Any], Any]
"""Value of a column in a row: a dotted path of attributes, or a function."""


def _getter(find: Find) -> Callable[[Any], Any]:
    return attrgetter(find) if isinstance(find, str) else find


def spaced(find: Find) -> Find:
    """Return what writes a sequence that is found with spaces between its parts, as a list."""
    get = _getter(find)
    return lambda row: " ".join(map(str, get(row)))


@dataclass(frozen=True, eq=False)
class Fact:
    """A kind of fact; compared by identity.

    Attributes:
        name: of its frame.
        rows: the rows of a game, in the order of the frame; or their columns, if there are too many
            rows for an object each. The game is a :class:`MeasuredGame`, or another object that
            the fact is about.
        columns: what a row holds; every frame also has ``game``, the number of the game.
        found: where the value of a column is, by its name; else it is an attribute of that name.
        within: attribute of a row, with a dot, which has those attributes.
        is_large: whether it has more rows than games have agents: read in batches, or by column,
            never whole.
        beside: name of the fact of a run whose games could have rows of this one; it then has a
            file only where there is a row, and no table where there is none. Empty: it always has.

    Raises:
        ValueError: ``found`` names no column.
    """

    name: str
    rows: Callable[[Any], Iterable[Any] | Values]
    columns: tuple[Column, ...]
    found: Mapping[str, Find] = field(default_factory=dict)
    within: str = ""
    is_large: bool = False
    beside: str = ""

    def __post_init__(self) -> None:
        if unknown := self.found.keys() - {column.name for column in self.columns}:
            raise ValueError(f"{self.name}: no column is called {min(unknown)}")

    @cached_property
    def schema(self) -> "pa.Schema":
        """The columns as an Arrow schema."""
        return arrow_schema(self.columns)

    def of(self, game: object) -> Values:
        """Return the rows of a game."""
        made = self.rows(game)
        if isinstance(made, dict):
            return made
        rows = list(made)
        return {name: list(map(get, rows)) for name, get in self._getters}

    @cached_property
    def _getters(self) -> Sequence[tuple[str, Callable[[Any], Any]]]:
        names = [column.name for column in self.columns]
        finds = [self.found.get(name, f"{self.within}{name}") for name in names]
        return list(zip(names, map(_getter, finds), strict=True))
