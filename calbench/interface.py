"""The small public Python interface: read a suite, play a game, score it."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from calbench.config import compose_team
from calbench.domain.messages import CHANNELS, Channel
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
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
        team: the id of a team in ``conf/team``, or one policy of your own for each agent: any
            object with ``act(observation) -> Turn``.
        channels: the open channels.
        limits: turns, retries and caps; the paper's by default.

    Raises:
        ConfigError: if the team is unknown or has not one policy for each agent.
    """
    if isinstance(team, str):
        named = compose_team(team)
        policies: Sequence[Policy] = seat_policies(named, scenario.num_agents, limits)
    else:
        policies = team
        seats = tuple(Seat(player=_player_name(policy), kind="protocol") for policy in policies)
        named = Team(team_id="own", seats=seats or (Seat(player="none", kind="protocol"),))
    if len(policies) != scenario.num_agents:
        raise ConfigError(
            f"{len(policies)} policies for {scenario.num_agents} agents: give one for each"
        )
    open_channels = tuple(channel for channel in CHANNELS if channel in channels)
    config = GameConfig(team=named, channels=open_channels, limits=limits or Limits())
    return run(scenario, config, policies)


def _player_name(policy: Policy) -> str:
    """Return a class's name as a trace may hold it: traces name players in file-name letters."""
    return re.sub(r"[^A-Za-z0-9]", "-", type(policy).__name__).strip("-")[:64] or "own"


def score_game(trace: Trace, *, measure: MeasureSpec | None = None) -> GameScore:
    """Measure one game: success, cost, talk, fairness and privacy of every agent."""
    return scoring.score_game(trace, measure=measure or MeasureSpec())
