"""Games that were played, for tables whose numbers are computed a second time in tests."""

from collections.abc import Callable, Sequence
from functools import cache
from math import fsum

from calbench.facts.fact import MeasuredGame, measured
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.oracle.cache import OracleCache
from calbench.stats.spec import AnalysisSpec
from tests.metrics.games import canonical_scenario, play_random, play_team

TEAMS = ("imap", "tell-all", "silent", "random")
SETTINGS = ("another", "uniform")
SPEC = AnalysisSpec(permutations=99)


@cache
def played() -> tuple[MeasuredGame, ...]:
    """Return six games of each of four teams in two settings."""
    oracle = OracleCache()
    scenarios = [
        canonical_scenario(seed, f"{setting}-{seed:03d}").updated(setting=setting)
        for setting in ("uniform", "another")
        for seed in range(6)
    ]
    return tuple(
        measured(
            play_random(each, each.seed) if team == "random" else play_team(each, team),
            DEFAULT_MEASURE,
            oracle,
        )
        for team in TEAMS
        for each in scenarios
    )


def scores_of(team: str, setting: str = "uniform") -> list[GameScore]:
    """Return the scores of a team's games, by scenario."""
    scores = [game.score for game in played()]
    return [each for each in scores if (each.team_id, each.setting) == (team, setting)]


def per(over: int, value: float) -> float | None:
    return value / over if over else None


VALUE_BY_MEASURE: dict[str, Callable[[AgentGame], float | None]] = {
    "coordination": lambda a: per(a.assigned, 100 * a.scheduled),
    "excess_cost": lambda a: a.excess_cost,
    "excess_cost_per_meeting": lambda a: per(a.scheduled, a.excess_cost),
    "adjusted_excess_cost": lambda a: a.adjusted_excess_cost,
    "messages": lambda a: per(a.scheduled, a.messages_sent),
    "fairness": lambda a: a.burden_gap,
    "excess_vps": lambda a: a.excess_vps,
    "excess_vps_participants": lambda a: a.excess_vps_participants,
}
"""What an agent-game adds to each measure; ``None`` where it does not count."""


def values_of(scores: Sequence[GameScore], measure: str) -> list[float]:
    """Return what the agent-games that count add to a measure."""
    values = [VALUE_BY_MEASURE[measure](agent) for score in scores for agent in score.agents]
    return [value for value in values if value is not None]


def shown(value: float | None, digits: int = 4) -> str:
    """Return a number as tables show it; what is absent is empty."""
    return "" if value is None else f"{value + 0.0:.{digits}f}"


def mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
