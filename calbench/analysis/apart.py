"""Who is listed beside the rated: protocols, baselines, scripted speakers, probing variants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from calbench.analysis.rated import is_in_pool
from calbench.metrics.game import GameScore
from calbench.metrics.seats import Player
from calbench.stats.spec import RATING_DIGITS


@dataclass(slots=True)
class _Sums:
    """Exact sums, so that the order of games does not show."""

    games: int = 0
    agent_games: int = 0
    coordination: Fraction = Fraction(0)
    assigned: int = 0
    excess_cost: int = 0
    vps: Fraction = Fraction(0)
    measured: int = 0


@dataclass(frozen=True, slots=True)
class Apart:
    """A protocol, baseline, scripted speaker or prober: raw means, never rated with models.

    Attributes:
        place: by coordination, then excess cost, then excess VPS [P, appendix E].
        coordination: percent, over agent-games with a meeting; ``None`` without any.
        excess_cost: accounting cost, over all agent-games.
        excess_vps: over those measured; ``None`` without any.
    """

    setting: str
    place: int
    player: Player
    games: int
    agent_games: int
    coordination: float | None
    excess_cost: float
    excess_vps: float | None


class ApartBook:
    """What stands beside the models."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._sums: dict[tuple[str, Player], _Sums] = {}

    def add(self, score: GameScore) -> None:
        """Take one game that was not lost."""
        agents = [agent for agent in score.agents if not is_in_pool(agent.player, "models")]
        for player in {agent.player for agent in agents}:
            self._sums.setdefault((score.setting, player), _Sums()).games += 1
        for agent in agents:
            sums = self._sums[score.setting, agent.player]
            sums.agent_games += 1
            sums.excess_cost += agent.excess_cost
            if agent.assigned:
                sums.coordination += Fraction(agent.scheduled, agent.assigned)
                sums.assigned += 1
            if agent.excess_vps is not None:
                sums.vps += Fraction(agent.excess_vps)
                sums.measured += 1

    def rows(self) -> Iterator[Apart]:
        """Yield setting by setting, best first; what is unknown comes last."""
        for setting in sorted({setting for setting, _ in self._sums}):
            rows = [_apart(s, p, sums) for (s, p), sums in self._sums.items() if s == setting]
            rows.sort(key=lambda row: (*_raw_order(row), row.player.order))
            orders = [_raw_order(row) for row in rows]
            for row, order in zip(rows, orders, strict=True):
                yield replace(row, place=orders.index(order) + 1)


def _apart(setting: str, player: Player, sums: _Sums) -> Apart:
    return Apart(
        setting=setting,
        place=0,
        player=player,
        games=sums.games,
        agent_games=sums.agent_games,
        coordination=float(100 * sums.coordination / sums.assigned) if sums.assigned else None,
        excess_cost=sums.excess_cost / sums.agent_games,
        excess_vps=float(sums.vps / sums.measured) if sums.measured else None,
    )


def _raw_order(row: Apart) -> tuple[float, ...]:
    """Compare what tables show: coordination descending, then excess, then VPS ascending."""
    coordination, vps = row.coordination, row.excess_vps
    return (
        float("inf") if coordination is None else -round(coordination, RATING_DIGITS),
        round(row.excess_cost, RATING_DIGITS),
        float("inf") if vps is None else round(vps, RATING_DIGITS),
    )
