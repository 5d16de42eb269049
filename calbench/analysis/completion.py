"""Regret of those who got all their meetings (paper, appendix G.1 and Table 11)."""

from collections.abc import Iterator
from typing import Literal

from calbench.analysis.cells import Cell
from calbench.analysis.estimates import Estimate, ScenarioSum, estimate_means
from calbench.analysis.order import GameKey
from calbench.analysis.proportions import Proportion, wilson
from calbench.analysis.seats import seats_by_player
from calbench.analysis.sums import SumBook, scenario_sum
from calbench.metrics.game import GameScore
from calbench.stats.spec import AnalysisSpec

Label = Literal["seats", "excess", "nonzero", "positive"]


class CompletionBook:
    """Takes the scores of a run, in any order, and gives the rows of ``completion_regret.csv``.

    A seat is full if it has meetings and all of them were scheduled.
    """

    def __init__(self) -> None:
        """Begin with no game."""
        self._sums: SumBook[Label] = SumBook()

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; lost games add nothing."""
        if score.is_lost:
            return
        for player, seats in seats_by_player(score).items():
            full = [a for a in seats.values() if 0 < a.assigned == a.scheduled]
            sums: dict[Label, ScenarioSum] = {
                "seats": scenario_sum([float(a.assigned > 0) for a in seats.values()]),
                "excess": scenario_sum([a.excess_cost / a.scheduled for a in full]),
                "nonzero": scenario_sum([float(a.excess_cost != 0) for a in full]),
                "positive": scenario_sum([float(a.excess_cost > 0) for a in full]),
            }
            self._sums.add(key, player, sums)

    def rows(self, spec: AnalysisSpec) -> Iterator[list[Cell]]:
        """Yield the cells of each row: a setting and a player."""
        for setting, players, scenarios in self._sums.settings():
            columns = ([player.of(s, "excess") for s in scenarios] for player in players)
            estimates = estimate_means(columns, spec, setting)
            for player, estimate in zip(players, estimates, strict=True):
                nonzero, positive = player.total("nonzero"), player.total("positive")
                yield [
                    setting,
                    player.player.name,
                    player.player.kind,
                    player.teams,
                    int(player.total("seats").total),
                    nonzero.count,
                    estimate.num_scenarios if estimate else 0,
                    *estimate_or_empty(estimate),
                    *_share(wilson(int(nonzero.total), nonzero.count, spec)),
                    *_share(wilson(int(positive.total), positive.count, spec)),
                ]


def estimate_or_empty(estimate: Estimate | None) -> list[Cell]:
    """Return value and interval, empty where there is none."""
    return [None] * 3 if estimate is None else [estimate.value, estimate.low, estimate.high]


def _share(share: Proportion | None) -> list[Cell]:
    return [None] * 3 if share is None else [share.value, share.low, share.high]
