"""Earlier meetings that were moved again (paper, appendix G.4 and Figure 9)."""

from collections.abc import Iterable, Iterator
from typing import Literal

from calbench.analysis.cells import Cell
from calbench.analysis.completion import estimate_or_empty
from calbench.analysis.estimates import ScenarioSum, estimate_means
from calbench.analysis.order import GameKey
from calbench.analysis.seats import seats_by_player
from calbench.analysis.sums import SumBook, scenario_sum
from calbench.domain.ids import ItemId
from calbench.metrics.game import GameScore
from calbench.stats.spec import AnalysisSpec

Label = Literal["meetings", "copies"]
LABELS: tuple[Label, ...] = ("meetings", "copies")


class PriorMovesBook:
    """Takes the scores of a run, in any order, and gives the rows of ``prior_moves.csv``."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._sums: SumBook[Label] = SumBook()

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; lost games add nothing."""
        if score.is_lost:
            return
        for player, seats in seats_by_player(score).items():
            own = [[r for r in score.rounds if r.agent_id == agent] for agent in seats]
            sums: dict[Label, ScenarioSum] = {
                "meetings": scenario_sum([_distinct(r.moved_meetings for r in of) for of in own]),
                "copies": scenario_sum([_distinct(r.moved_copies for r in of) for of in own]),
            }
            self._sums.add(key, player, sums)

    def rows(self, spec: AnalysisSpec) -> Iterator[list[Cell]]:
        """Yield the cells of each row: a setting and a player."""
        for setting, players, scenarios in self._sums.settings():
            columns = ([p.of(s, label) for s in scenarios] for p in players for label in LABELS)
            estimates = iter(estimate_means(columns, spec, setting))
            for player in players:
                meetings, copies = next(estimates), next(estimates)
                yield [
                    *(setting, player.player.name, player.player.kind, player.teams),
                    meetings.num_agent_games if meetings else 0,
                    meetings.num_scenarios if meetings else 0,
                    *estimate_or_empty(meetings),
                    *estimate_or_empty(copies),
                ]


def _distinct(moved: Iterable[frozenset[ItemId]]) -> float:
    return float(len(frozenset[ItemId]().union(*moved)))
