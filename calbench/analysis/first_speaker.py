"""What it costs to speak first (paper, appendix G.2 and Table 12).

The unit is a participating agent-meeting. An agent that was first in some meetings of a game
and followed in others is its own control: the mean of the former less that of the latter.
"""

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Literal, NamedTuple

from calbench.analysis.cells import Cell
from calbench.analysis.completion import estimate_or_empty
from calbench.analysis.estimates import Estimate, ScenarioSum, estimate_means
from calbench.analysis.order import GameKey
from calbench.analysis.seats import seats_by_player
from calbench.analysis.significance import adjusted_p_values, sign_flip_p_values
from calbench.analysis.sums import PlayerSums, SumBook, scenario_sum
from calbench.metrics.agent_rounds import AgentRound
from calbench.metrics.game import GameScore
from calbench.metrics.privacy.measured import VpsKind, joint_kind
from calbench.metrics.seats import Player
from calbench.stats.spec import AnalysisSpec

Part = Literal["first", "subsequent", "difference"]
PARTS: tuple[Part, ...] = ("first", "subsequent", "difference")
Quantity = Literal["vps", "excess_cost"]
QUANTITIES: tuple[Quantity, ...] = ("vps", "excess_cost")
Label = tuple[Quantity, Part]


class FirstSpeakerBook:
    """Takes the scores of a run, in any order, and gives the rows of ``first_speaker.csv``."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._sums: SumBook[Label] = SumBook()
        self._kinds: dict[tuple[str, Player], set[VpsKind | None]] = {}

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; lost games add nothing."""
        if score.is_lost:
            return
        for player, seats in seats_by_player(score).items():
            rounds: list[list[AgentRound]] = [
                [r for r in score.rounds if r.agent_id == agent and r.role != "outsider"]
                for agent in seats
            ]
            sums = {
                label: total
                for quantity in QUANTITIES
                for label, total in _sums(quantity, rounds).items()
            }
            self._sums.add(key, player, sums)
            kinds = self._kinds.setdefault((key[0], player), set())
            kinds.update(agent.vps_kind for agent in seats.values())

    def rows(self, spec: AnalysisSpec) -> Iterator[list[Cell]]:
        """Yield the cells of each row: a setting, a player and a quantity.

        P-values are adjusted within the table.
        """
        tested = list(self._tested(spec))
        adjusted = iter(adjusted_p_values([each.p_value for each in tested if each.is_tested]))
        for each in tested:
            p_values = [each.p_value, next(adjusted)] if each.is_tested else [None, None]
            yield [*each.cells, *p_values, each.vps_kind]

    def _tested(self, spec: AnalysisSpec) -> Iterator["_Tested"]:
        """Estimate and test setting by setting, all players over the same resamples."""
        labels = [(quantity, part) for quantity in QUANTITIES for part in PARTS]
        for setting, players, scenarios in self._sums.settings():
            columns = ([p.of(s, label) for s in scenarios] for p in players for label in labels)
            estimates = iter(estimate_means(columns, spec, setting))
            p_values = iter(_p_values(players, scenarios, spec))
            for player in players:
                kind = joint_kind(self._kinds[setting, player.player])
                for quantity in QUANTITIES:
                    parts = [next(estimates) for _ in PARTS]
                    name = [setting, player.player.name, player.player.kind, player.teams, quantity]
                    yield _Tested(
                        cells=[*name, *_part_cells(parts)],
                        p_value=next(p_values),
                        is_tested=parts[-1] is not None,
                        vps_kind=kind if quantity == "vps" else None,
                    )


class _Tested(NamedTuple):
    """A row before its p-value is adjusted; one without pairs is not tested."""

    cells: list[Cell]
    p_value: float
    is_tested: bool
    vps_kind: str | None


def _part_cells(parts: Sequence[Estimate | None]) -> Iterator[Cell]:
    """Yield the counts and means by role, and those of the paired difference."""
    first, subsequent, difference = parts
    yield first.num_agent_games if first else 0
    yield subsequent.num_agent_games if subsequent else 0
    yield from estimate_or_empty(first)
    yield from estimate_or_empty(subsequent)
    yield difference.num_agent_games if difference else 0
    yield difference.num_scenarios if difference else 0
    yield from estimate_or_empty(difference)


def _sums(quantity: Quantity, rounds: Sequence[Sequence[AgentRound]]) -> dict[Label, ScenarioSum]:
    """Add up a quantity over agent-meetings by role, and its paired differences over agents."""
    first: list[float] = []
    subsequent: list[float] = []
    differences: list[float] = []
    for own in rounds:
        values = [(each.role, getattr(each, quantity)) for each in own]
        led = [value for role, value in values if role == "first" and value is not None]
        followed = [value for role, value in values if role != "first" and value is not None]
        first += led
        subsequent += followed
        if led and followed:
            differences.append(fsum(led) / len(led) - fsum(followed) / len(followed))
    return {
        (quantity, "first"): scenario_sum(first),
        (quantity, "subsequent"): scenario_sum(subsequent),
        (quantity, "difference"): scenario_sum(differences),
    }


def _p_values(
    players: Sequence[PlayerSums[Label]], scenarios: Sequence[str], spec: AnalysisSpec
) -> list[float]:
    """Test each paired difference: in each scenario the roles change places or do not."""
    columns = [
        [player.of(scenario, (quantity, "difference")).total for scenario in scenarios]
        for player in players
        for quantity in QUANTITIES
    ]
    return sign_flip_p_values(columns, spec)
