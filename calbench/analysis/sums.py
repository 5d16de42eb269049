"""Sums behind means by player: for each a few numbers a game, in whatever teams it sat."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Generic, NamedTuple, TypeVar

from calbench.analysis.estimates import ScenarioSum
from calbench.analysis.order import GameKey
from calbench.metrics.seats import Player

NOTHING = ScenarioSum(0.0, 0)
Label = TypeVar("Label")


def scenario_sum(values: Sequence[float | None]) -> ScenarioSum:
    """Return the sum of the known values, and how many they are."""
    known = [value for value in values if value is not None]
    return ScenarioSum(fsum(known), len(known))


class GameSums(NamedTuple, Generic[Label]):
    """What a player adds in one game. Games share labels and equal sums, to stay small.

    Attributes:
        places: of each label among the sums.
        sums: over the player's seats.
    """

    places: Mapping[Label, int]
    sums: tuple[ScenarioSum, ...]


@dataclass(slots=True)
class PlayerSums(Generic[Label]):
    """What one player adds to means of a setting.

    Sums are kept by scenario and team, so that what they add up to does not depend on the
    order in which games arrive.
    """

    player: Player
    seats: set[tuple[int, str]] = field(default_factory=set)
    by_scenario: dict[str, dict[str, GameSums[Label]]] = field(default_factory=dict)

    @property
    def teams(self) -> str:
        """The teams it sat in, in their order, separated by spaces."""
        return " ".join(team for _, team in sorted(self.seats))

    @property
    def labels(self) -> set[Label]:
        """Everything there is a sum of."""
        games = (game for games in self.by_scenario.values() for game in games.values())
        return {label for game in games for label in game.places}

    def of(self, scenario: str, label: Label) -> ScenarioSum:
        """Return what a scenario adds to a mean, over all teams."""
        games = self.by_scenario.get(scenario, {}).values()
        entries = [game.sums[game.places[label]] for game in games if label in game.places]
        if len(entries) < 2:
            return entries[0] if entries else NOTHING
        return ScenarioSum(fsum(e.total for e in entries), sum(e.count for e in entries))

    def total(self, label: Label) -> ScenarioSum:
        """Return the sum over all scenarios."""
        entries = [self.of(scenario, label) for scenario in sorted(self.by_scenario)]
        return ScenarioSum(fsum(e.total for e in entries), sum(e.count for e in entries))


class SumBook(Generic[Label]):
    """Takes sums of games, in any order, and gives them by setting and player in a fixed one."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._players: dict[str, dict[Player, PlayerSums[Label]]] = {}
        self._places: dict[tuple[Label, ...], Mapping[Label, int]] = {}
        self._known: dict[ScenarioSum, ScenarioSum] = {}

    def add(self, key: GameKey, player: Player, sums: Mapping[Label, ScenarioSum]) -> None:
        """Take what a player adds in one game; ``key`` says where the game stands."""
        setting, rank, team, scenario = key
        players = self._players.setdefault(setting, {})
        found = players.setdefault(player, PlayerSums(player))
        found.seats.add((rank, team))
        labels = tuple(sums)
        places = self._places.setdefault(labels, {label: i for i, label in enumerate(labels)})
        shared = tuple([self._known.setdefault(entry, entry) for entry in sums.values()])
        found.by_scenario.setdefault(scenario, {})[team] = GameSums(places, shared)

    def settings(self) -> Iterator[tuple[str, list[PlayerSums[Label]], list[str]]]:
        """Yield each setting with its players and its scenarios.

        Players come in the order of the first team they sat in, scenarios by id.
        """
        for setting in sorted(self._players):
            players = sorted(
                self._players[setting].values(), key=lambda p: (min(p.seats), p.player.order)
            )
            yield setting, players, sorted({s for p in players for s in p.by_scenario})
