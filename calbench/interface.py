"""The small public Python interface: read a suite, play a game, score it."""

import os
from collections.abc import Sequence
from pathlib import Path

from calbench.domain.messages import Channel
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies, team_of
from calbench.errors import ConfigError
from calbench.metrics import game as scoring
from calbench.metrics.game import GameScore
from calbench.metrics.measure import MeasureSpec
from calbench.protocols.base import Policy
from calbench.scenarios.difficulty import completed
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import read_suite
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace


def load_suite(path: str | os.PathLike[str]) -> tuple[Scenario, ...]:
    """Read a suite file; oracle and difficulty are computed where it does not hold them.

    Raises:
        FileError: one line naming file, line and field.
    """
    return completed(read_suite(Path(path)))


def play_game(
    scenario: Scenario,
    team: str | Sequence[Policy],
    *,
    channels: Sequence[Channel] = ("dm",),
    limits: Limits | None = None,
) -> Trace:
    """Play one game and return its trace.

    Args:
        scenario: from :func:`load_suite`.
        team: the id of a known player, who takes every seat, or one policy of your own for
            each agent: any object with ``act(observation) -> Turn``.
        channels: the open channels.
        limits: turns, retries and caps; the paper's by default.

    Raises:
        ConfigError: if the team is unknown or has not one policy for each agent.
    """
    if isinstance(team, str):
        named = team_of(team)
        policies: Sequence[Policy] = seat_policies(named, scenario.num_agents, limits)
    else:
        policies = team
        names = [type(policy).__name__ for policy in policies]
        seats = tuple(Seat(player=name, kind="protocol") for name in names)
        named = Team(team_id="own", seats=seats or (Seat(player="none", kind="protocol"),))
    if len(policies) != scenario.num_agents:
        raise ConfigError(
            f"{len(policies)} policies for {scenario.num_agents} agents: give one for each"
        )
    config = GameConfig(team=named, channels=tuple(channels), limits=limits or Limits())
    return run(scenario, config, policies)


def score_game(trace: Trace, *, measure: MeasureSpec | None = None) -> GameScore:
    """Measure one game: success, cost, talk, fairness and privacy of every agent."""
    return scoring.score_game(trace, measure=measure or MeasureSpec())
