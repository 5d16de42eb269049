"""The small public Python interface: read a suite, play a game, score it."""

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from calbench.agents.own import OwnActing, OwnAgent
from calbench.agents.prompts import PROMPT_VERSION
from calbench.config import compose_team
from calbench.domain.messages import CHANNELS, Channel
from calbench.engine.drivers import run, run_async
from calbench.engine.seating import seat_agents, seat_policies
from calbench.errors import ConfigError
from calbench.metrics import game as scoring
from calbench.metrics.game import GameScore
from calbench.metrics.measure import MeasureSpec
from calbench.scenarios.difficulty import completed
from calbench.scenarios.labels import LABEL_BANK
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
    team: str | Sequence[OwnActing],
    *,
    channels: Sequence[Channel] = ("dm",),
    limits: Limits | None = None,
    uses_language: bool = False,
) -> Trace:
    """Play one game and return its trace.

    Args:
        scenario: from :func:`load_suite`.
        team: the id of a team in ``conf/team`` without models, or one object of your own for
            each agent: anything with ``act(observation)``, plain or ``async``, that returns a
            ``Turn``.
        channels: the open channels.
        limits: turns, retries and caps; the paper's by default.
        uses_language: whether your objects are shown private labels, as language models are.

    Raises:
        ConfigError: if the team is unknown, seats a model, or has not one object for each agent.
        AgentError: if an object of yours raises, which is then the cause, or returns what is no
            turn.
    """
    own: Sequence[OwnActing] = () if isinstance(team, str) else team
    named = compose_team(team) if isinstance(team, str) else _own_team(own, uses_language)
    if named.uses_language:
        prompts: str | None = PROMPT_VERSION
        bank: str | None = LABEL_BANK
    else:
        prompts = bank = None
    config = GameConfig(
        team=named,
        channels=tuple(channel for channel in CHANNELS if channel in channels),
        limits=limits or Limits(),
        prompt_version=prompts,
        label_bank=bank,
    )
    if isinstance(team, str) and not named.uses_language:
        return run(scenario, config, seat_policies(named, scenario.num_agents, limits))
    if isinstance(team, str):
        agents = seat_agents(scenario, config)
    elif len(own) != scenario.num_agents:
        raise ConfigError(
            f"{len(own)} policies for {scenario.num_agents} agents: give one for each"
        )
    else:
        agents = [OwnAgent(each) for each in own]
    return asyncio.run(run_async(scenario, config, agents))


def _own_team(own: Sequence[OwnActing], uses_language: bool) -> Team:
    kind: Literal["custom", "protocol"] = "custom" if uses_language else "protocol"
    seats = tuple(Seat(player=_player_name(each), kind=kind) for each in own)
    return Team(team_id="own", seats=seats or (Seat(player="none", kind=kind),))


def _player_name(policy: OwnActing) -> str:
    """Return a class's name as a trace may hold it: traces name players in file-name letters."""
    return re.sub(r"[^A-Za-z0-9]", "-", type(policy).__name__).strip("-")[:64] or "own"


def score_game(trace: Trace, *, measure: MeasureSpec | None = None) -> GameScore:
    """Measure one game: success, cost, talk, fairness and privacy of every agent."""
    return scoring.score_game(trace, measure=measure or MeasureSpec())
