"""What the detectors found in messages in words, as facts tell it: no page judges them again."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from pyarrow import compute

from calbench.facts.storage import GAME, Facts

NAMES = ("event_index", "patterns", "own_slot", "labels_told", "labels_passed_on")
"""Of the fact ``messages``."""


class Judged(NamedTuple):
    """What was found in one message.

    Attributes:
        patterns: that it shows, in the paper's order.
        own_slot: its claims about its sender's own slots, in the order of tables.
        tells: whether it tells a private label to an agent that may not know it.
        passes_on: whether it passes on a label of another.
    """

    patterns: tuple[str, ...]
    own_slot: tuple[str, ...]
    tells: bool
    passes_on: bool


class JudgedGames:
    """The messages in words of the first game of every team on every scenario.

    Args:
        facts: of an experiment; absent, or without messages: nothing is known of any game.
    """

    def __init__(self, facts: Facts | None) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        if facts is None or not facts.has("messages"):
            return
        games = facts.table("games", ["team", "scenario_id", "replicate", "is_excluded"])
        for number, game in enumerate(zip(*games.to_pydict().values(), strict=True)):
            team, scenario_id, replicate, is_excluded = game
            if not replicate and not is_excluded:
                self._numbers[team, scenario_id] = number
        rows = facts.table("messages", [GAME, "source", *NAMES])
        rows = rows.filter(compute.equal(rows["source"], "text"))
        starts = np.searchsorted(rows[GAME].to_numpy(), np.arange(games.num_rows + 1))
        self._rows, self._starts = rows.select(NAMES), starts.tolist()

    def of(self, team: str, scenario_id: str) -> Mapping[int, Judged] | None:
        """Return what was found in the messages of a game, by the index of their events.

        ``None``, if facts do not tell: of games that do not count they never do.
        """
        number = self._numbers.get((team, scenario_id))
        if number is None:
            return None
        start, end = self._starts[number], self._starts[number + 1]
        columns = self._rows.slice(start, end - start).to_pydict().values()
        return {
            index: Judged(
                tuple((patterns or "").split()),
                tuple((own_slot or "").split()),
                bool(told),
                bool(passed_on),
            )
            for index, patterns, own_slot, told, passed_on in zip(*columns, strict=True)
        }
