"""Sums behind means by player: for each a few numbers a game, in whatever teams it sat."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Generic, TypeVar

from calbench.analysis.estimates import ScenarioSum
from calbench.analysis.order import GameKey
from calbench.metrics.seats import Player

NOTHING = ScenarioSum(0.0, 0)
ABSENT = -1
"""Count of a scenario that adds nothing, not even a sum over none."""

Label = TypeVar("Label")
Numbers = dict[str, int]
"""Scenarios of a setting by what they are numbered; all sums of the setting share them."""


def scenario_sum(values: Sequence[float | None]) -> ScenarioSum:
    """Return the sum of the known values, and how many they are."""
    known = [value for value in values if value is not None]
    return ScenarioSum(fsum(known), len(known))


class _Column:
    """Sums of one label by number of the scenario: twelve bytes each, where objects take 80."""

    __slots__ = ("counts", "totals")

    def __init__(self) -> None:
        self.totals, self.counts = array("d"), array("i")

    def put(self, number: int, entry: ScenarioSum) -> None:
        missing = number + 1 - len(self.counts)
        self.totals.extend([0.0] * missing)
        self.counts.extend([ABSENT] * missing)
        self.totals[number], self.counts[number] = entry.total, entry.count

    def get(self, number: int) -> ScenarioSum | None:
        if number >= len(self.counts) or self.counts[number] == ABSENT:
            return None
        return ScenarioSum(self.totals[number], self.counts[number])


class SumTable(Generic[Label]):
    """What the scenarios of a setting add to some means, by label of the mean."""

    __slots__ = ("_columns", "_is_played", "_numbers")

    def __init__(self, numbers: Numbers) -> None:
        """Begin with no scenario; ``numbers`` are those of the setting, and grow."""
        self._numbers = numbers
        self._is_played = bytearray()
        self._columns: dict[Label, _Column] = {}

    def put(self, scenario: str, sums: Mapping[Label, ScenarioSum]) -> None:
        """Take what a scenario adds."""
        number = self._numbers.setdefault(scenario, len(self._numbers))
        self._is_played.extend(bytes(max(0, number + 1 - len(self._is_played))))
        self._is_played[number] = True
        for label, entry in sums.items():
            self._columns.setdefault(label, _Column()).put(number, entry)

    def get(self, scenario: str, label: Label) -> ScenarioSum | None:
        """Return what a scenario adds to a mean; ``None`` if it was not played or has no such."""
        column, number = self._columns.get(label), self._numbers.get(scenario)
        return None if column is None or number is None else column.get(number)

    @property
    def scenarios(self) -> list[str]:
        """Those played, as they were first numbered."""
        played = self._is_played
        return [s for s, number in self._numbers.items() if number < len(played) and played[number]]

    @property
    def labels(self) -> set[Label]:
        """Everything there is a sum of."""
        return set(self._columns)


@dataclass(slots=True)
class PlayerSums(Generic[Label]):
    """What one player adds to means of a setting.

    Sums are kept by team and scenario, so that what they add up to does not depend on the
    order in which games arrive.
    """

    player: Player
    numbers: Numbers
    seats: set[tuple[int, str]] = field(default_factory=set)
    by_team: dict[str, SumTable[Label]] = field(default_factory=dict)

    def put(self, key: GameKey, sums: Mapping[Label, ScenarioSum]) -> None:
        """Take what it adds in one game; ``key`` says where the game stands."""
        _, rank, team, scenario = key
        self.seats.add((rank, team))
        if team not in self.by_team:
            self.by_team[team] = SumTable(self.numbers)
        self.by_team[team].put(scenario, sums)

    @property
    def teams(self) -> str:
        """The teams it sat in, in their order, separated by spaces."""
        return " ".join(team for _, team in sorted(self.seats))

    @property
    def labels(self) -> set[Label]:
        """Everything there is a sum of."""
        return {label for table in self.by_team.values() for label in table.labels}

    @property
    def scenarios(self) -> set[str]:
        """Those on which it played."""
        return {scenario for table in self.by_team.values() for scenario in table.scenarios}

    def of(self, scenario: str, label: Label) -> ScenarioSum:
        """Return what a scenario adds to a mean, over all teams."""
        tables = self.by_team.values()
        entries = [entry for table in tables if (entry := table.get(scenario, label)) is not None]
        if len(entries) < 2:
            return entries[0] if entries else NOTHING
        return ScenarioSum(fsum(e.total for e in entries), sum(e.count for e in entries))

    def total(self, label: Label) -> ScenarioSum:
        """Return the sum over all scenarios."""
        entries = [self.of(scenario, label) for scenario in sorted(self.scenarios)]
        return ScenarioSum(fsum(e.total for e in entries), sum(e.count for e in entries))


class SumBook(Generic[Label]):
    """Takes sums of games, in any order, and gives them by setting and player in a fixed one."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._players: dict[str, dict[Player, PlayerSums[Label]]] = {}
        self._numbers: dict[str, Numbers] = {}

    def add(self, key: GameKey, player: Player, sums: Mapping[Label, ScenarioSum]) -> None:
        """Take what a player adds in one game; ``key`` says where the game stands."""
        setting = key[0]
        players = self._players.setdefault(setting, {})
        if player not in players:
            players[player] = PlayerSums(player, self._numbers.setdefault(setting, {}))
        players[player].put(key, sums)

    def settings(self) -> Iterator[tuple[str, list[PlayerSums[Label]], list[str]]]:
        """Yield each setting with its players and its scenarios.

        Players come in the order of the first team they sat in, scenarios by id.
        """
        for setting in sorted(self._players):
            players = sorted(
                self._players[setting].values(), key=lambda p: (min(p.seats), p.player.order)
            )
            yield setting, players, sorted(self._numbers[setting])
