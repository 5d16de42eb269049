"""The games whose traces are kept: every team on two tiny scenarios."""

import asyncio
from pathlib import Path

from calbench.config.composition import compose_choice
from calbench.domain.messages import CHANNELS
from calbench.engine.drivers import run, run_async
from calbench.engine.seating import seat_agents, seat_policies, team_of
from calbench.protocols.registry import POLICIES
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Limits, Seat, Team
from calbench.traces.storage import trace_bytes
from tests.factories import make_scenario

FOLDER = Path(__file__).parent

TEAMS = (
    "imap",
    "sd-map",
    "dsm-welfare",
    "dsm-private",
    "mediator",
    "secure-sum",
    "tell-all",
    "first-free",
    "silent",
)

SPEAKERS = ("candid", "guarded", "oversharer")
"""Teams that use language; one of them also sits at a table with typed agents."""

ERRING = ("careless", "gossip", "withholding", "wrangler")
"""Players of a further team."""

TALKING = {**{name: (name,) for name in SPEAKERS}, "mixed": SPEAKERS, "erring": ERRING}
"""Styles of each team that uses language."""

SCENARIOS: tuple[Scenario, ...] = (
    # Errands of all costs, a blocked one, and an agent that takes part in nothing.
    make_scenario(
        ["E3.E1B.", ".E2E1.B", "E2E1BE2.", "E1...."],
        [(2, 0, 1), (1, 2)],
        scenario_id="plain",
        seed=1,
    ),
    # Prior meetings at slots 1 and 2; agents 0 and 1 have no slot in common, so they retry.
    make_scenario(
        ["E1..B..", "B.E2.BB", "E1...BE2"],
        [(1, 0), (0, 2)],
        prior=[((0, 1), 1, 2), ((0, 2), 2)],
        scenario_id="prior",
        seed=2,
    ),
)


GAMES = {
    f"{scenario.scenario_id}-{team}.json": (scenario, team)
    for scenario in SCENARIOS
    for team in (*TEAMS, *TALKING)
}
"""Scenario and team of every golden game by the file name of its trace."""


def golden_bytes() -> dict[str, bytes]:
    """Play every golden game; return the bytes of its trace by file name."""
    return {name: _played(*game) for name, game in GAMES.items()}


def _played(scenario: Scenario, team: str) -> bytes:
    if team in TALKING:
        return _spoken(scenario, team)
    config = GameConfig(team=_team(team), channels=CHANNELS, limits=Limits())
    policies = seat_policies(config.team, scenario.num_agents)
    return trace_bytes(run(scenario, config, policies))


def _spoken(scenario: Scenario, name: str) -> bytes:
    styles = TALKING[name]
    seats = [Seat(player=each, kind="scripted", settings={"style": each}) for each in styles]
    if name == "mixed":
        seats.insert(1, Seat(player="imap", kind="protocol"))
    config = GameConfig(
        team=Team(team_id=name, seats=tuple(seats)),
        channels=CHANNELS,
        limits=Limits(),
        prompt_version="v1",
        label_bank="v1",
        reflection=True,
    )
    return trace_bytes(asyncio.run(run_async(scenario, config, seat_agents(scenario, config))))


def _team(name: str) -> Team:
    """Return the player of that name in every seat, or a preset with its settings as written."""
    if name in POLICIES:
        return team_of(name)
    keys = compose_choice("protocol", name)
    settings = {key: value for key, value in keys.items() if key not in {"id", "protocol"}}
    seat = Seat(player=keys["protocol"], kind="protocol", settings=settings)
    return Team(team_id=name, seats=(seat,))
