"""Games that were played, for tables whose numbers are computed a second time in tests."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from math import fsum, isnan

import pandas as pd

from calbench.analysis.measures import MEASURES, Measure
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


BY_HAND: dict[str, Callable[[AgentGame], float | None]] = {
    "coordination": lambda a: per(a.assigned, 100 * a.scheduled),
    "excess_cost": lambda a: a.excess_cost,
    "excess_cost_per_meeting": lambda a: per(a.scheduled, a.excess_cost),
    "adjusted_excess_cost": lambda a: a.adjusted_excess_cost,
    "messages": lambda a: per(a.scheduled, a.messages_sent),
    "fairness": lambda a: a.burden_gap,
    "vps_beyond_chance": lambda a: a.vps_beyond_chance,
    "excess_vps": lambda a: a.excess_vps,
    "excess_vps_participants": lambda a: a.excess_vps_participants,
}
"""What an agent-game adds to a measure, by a second computation; ``None`` where it does not."""


def declared(measure: Measure) -> Callable[[AgentGame], float | None]:
    """Return the same by the declaration of a measure that nothing here computes by hand."""

    def value(agent: AgentGame) -> float | None:
        found = float(measure.value(pd.DataFrame([asdict(agent)])).iloc[0])
        return None if isnan(found) else found

    return value


VALUE_BY_MEASURE = {each.name: BY_HAND.get(each.name, declared(each)) for each in MEASURES}
"""In the order of the leaderboard."""


def values_of(scores: Sequence[GameScore], measure: str) -> list[float]:
    """Return what the agent-games that count add to a measure."""
    values = [VALUE_BY_MEASURE[measure](agent) for score in scores for agent in score.agents]
    return [value for value in values if value is not None]


def shown(value: float | None, digits: int = 4) -> str:
    """Return a number as tables show it; what is absent is empty."""
    return "" if value is None else f"{value + 0.0:.{digits}f}"


def mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
