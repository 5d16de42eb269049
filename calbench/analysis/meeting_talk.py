"""Messages by meeting and by role in it (paper, appendix G.3)."""

from collections.abc import Iterator

from calbench.analysis.cells import Cell
from calbench.analysis.completion import estimate_or_empty
from calbench.analysis.estimates import estimate_means
from calbench.analysis.order import GameKey
from calbench.analysis.seats import seats_by_player
from calbench.analysis.sums import SumBook, scenario_sum
from calbench.metrics.agent_rounds import ROLES, Role
from calbench.metrics.game import GameScore
from calbench.stats.spec import AnalysisSpec

Label = tuple[int, Role]


class MeetingTalkBook:
    """Takes the scores of a run, in any order, and gives ``messages_by_meeting.csv``."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._sums: SumBook[Label] = SumBook()

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; lost games add nothing."""
        if score.is_lost:
            return
        for player, seats in seats_by_player(score).items():
            sent: dict[Label, list[float | None]] = {}
            for each in score.rounds:
                if each.agent_id in seats:
                    sent.setdefault((each.round, each.role), []).append(float(each.messages))
            sums = {label: scenario_sum(values) for label, values in sent.items()}
            self._sums.add(key, player, sums)

    def rows(self, spec: AnalysisSpec) -> Iterator[list[Cell]]:
        """Yield the cells of each row: a setting, a player, a meeting and a role."""
        for setting, players, scenarios in self._sums.settings():
            for player in players:
                labels = sorted(player.labels, key=lambda x: (x[0], ROLES.index(x[1])))
                columns = ([player.of(s, label) for s in scenarios] for label in labels)
                estimates = estimate_means(columns, spec, setting)
                for (number, role), estimate in zip(labels, estimates, strict=True):
                    if estimate is not None:
                        yield [
                            *(setting, player.player.name, player.player.kind, player.teams),
                            *(number, role, estimate.num_agent_games, estimate.num_scenarios),
                            *estimate_or_empty(estimate),
                        ]
