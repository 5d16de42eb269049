"""Players as a caller hands them over, one for each agent: names, objects, functions."""

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard, cast

from pydantic import ValidationError

from calbench.agents.base import Agent
from calbench.agents.language import LanguageAgent
from calbench.agents.own import (
    FUNCTION_SPEC,
    CompletionFunction,
    FunctionCompleter,
    OwnActing,
    OwnAgent,
    OwnSpeaking,
    SeatedFunction,
    blaming,
    model_of,
    name_of,
    takes,
)
from calbench.config.composition import compose_team
from calbench.config.groups import known_names
from calbench.domain.ids import AgentId
from calbench.engine.game import game_id
from calbench.engine.seating import game_prompts, team_of
from calbench.errors import ConfigError
from calbench.extensions import extension_names
from calbench.files import first_problem, printable, shorten
from calbench.protocols.registry import POLICIES, policy_names
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Kind, Seat, Team

Own = OwnActing | OwnSpeaking
Player = str | Own | type[OwnActing] | type[OwnSpeaking] | CompletionFunction | SeatedFunction
"""A known player's name; an object with ``act``; its class, of which each seat gets an object; a
function from messages to a reply's text [C].

What has ``act`` is an agent, even if it can be called as well.

>>> players: list[Player] = ["imap", "silent", Announcer(), Announcer, "first-free"]
>>> calbench.play_game(scenario, players).metrics.rounds_scheduled
0
"""


def team_of_players(
    players: Sequence[Player | Seat], uses_language: bool, num_agents: int, team_id: str = "own"
) -> Team:
    """Return the team of these players, as traces describe it.

    Args:
        players: one for each agent, by agent id; or the seat of one who is asked from outside.
        uses_language: whether objects are shown private labels, as language models are.
        num_agents: how many there should be.
        team_id: of the team on the record.

    Raises:
        ConfigError: naming the agent whose player is unknown or none, or two that cannot sit
            in one team.
    """
    if len(players) != num_agents:
        raise ConfigError(f"{len(players)} players for {num_agents} agents: give one for each")
    seats: list[Seat] = []
    mediated: list[int] = []
    for agent, player in enumerate(players):
        try:
            team = _team_of(player, uses_language)
        except ConfigError as error:
            raise ConfigError(f"agent {agent}: {error}") from error
        seats += team.seats
        if team.mediator:
            mediated.append(agent)
    _check_mediator(seats, mediated)
    try:
        return Team(team_id=team_id, seats=tuple(seats), mediator=bool(mediated))
    except ValidationError as error:
        raise ConfigError(first_problem(error)) from error


def named_team(name: str) -> Team:
    """Return a team of ``conf/teams``, or that of a distribution's protocol in every seat.

    Raises:
        ConfigError: naming the nearest known teams if there is none of that name.
    """
    if name not in known_names("teams") and name in extension_names("protocol"):
        return team_of(name)
    return compose_team(name)


def own_agents(
    players: Mapping[int, Player], scenario: Scenario, config: GameConfig
) -> Mapping[AgentId, Agent]:
    """Return the agents that the caller brought, by place; known players are left out.

    Raises:
        AgentError: a class raised when an object of it was made.
    """
    agents: dict[AgentId, Agent] = {}
    for agent, player in players.items():
        if isinstance(player, str):
            continue
        if _acts(player):
            agents[AgentId(agent)] = OwnAgent.of(_made(player, agent), lambda: game_prompts(config))
        else:
            agents[AgentId(agent)] = LanguageAgent(
                config.team.seats[agent].player,
                FunctionCompleter(cast("CompletionFunction", player)),
                FUNCTION_SPEC,
                game_prompts(config),
                None,
                game_id(scenario, config),
            )
    return agents


def _made(player: Own | type[Own], agent: int) -> Own:
    """Return an object of one's own, of a class a new one."""
    if not isinstance(player, type):
        return player
    with blaming(f"agent {agent}, before the first round", f"{player.__name__}()"):
        return player()


def _team_of(player: Player | Seat, uses_language: bool) -> Team:
    """Return the team of one player."""
    if isinstance(player, str):
        return _named(player)
    seat = player if isinstance(player, Seat) else _own(player, uses_language)
    return Team(team_id=seat.player, seats=(seat,))


def _named(name: str) -> Team:
    """Return the team of one known player: a file of ``conf/teams``, else a protocol."""
    teams = known_names("teams")
    policies = policy_names()
    if name not in teams and name not in policies:
        known = ", ".join(sorted({*teams, *policies}))
        raise ConfigError(
            f"there is no player {printable(shorten(repr(name)))}; known are {known}; "
            "a model sits as a function from messages to text"
        )
    team = compose_team(name) if name in teams else team_of(name)
    if len(team.seats) != 1:
        raise ConfigError(f"{name} is a team of {len(team.seats)} seats, not one player")
    if team.seats[0].kind == "model":
        raise ConfigError(f"{name} is a model, which only a run can ask: give a function instead")
    return team


def _own(player: Player, uses_language: bool) -> Seat:
    """Return the seat of the user's code, which says what model it asks, if it says so."""
    model = model_of(player)
    settings: dict[str, bool | str] = {} if model is None else {"model": model}
    kind: Kind = "custom"
    if _acts(player):
        if takes(player.act, "prompt"):
            settings["is_prompted"] = True  # in the released words, which can be worded anew
        elif not (settings or uses_language):
            kind = "protocol"
    elif inspect.isclass(player) or not callable(player):
        raise ConfigError(
            f"{printable(name_of(player))} is no player: give a name, an object with "
            "act(observation) or its class, or a function from messages to text"
        )
    else:  # distinguishes its games from those of an object with the same name
        settings["is_completion_function"] = True
    name = player_name(player)
    if kind == "protocol" and name in POLICIES:  # its games would be verified as that one's
        raise ConfigError(f"your {name} is called like a protocol of CalBench: rename it")
    return Seat(player=name, kind=kind, settings=settings)


def _acts(player: object) -> TypeGuard[Own | type[Own]]:
    # Asked of the object, not of its class: a proxy may define attributes dynamically.
    return callable(getattr(player, "act", None))


def player_name(player: object) -> str:
    """Return a player's name as a trace may hold it, in the letters of file names."""
    return re.sub(r"[^A-Za-z0-9.]", "-", name_of(player)).strip("-.")[:64] or "own"


def _check_mediator(seats: Sequence[Seat], mediated: Sequence[int]) -> None:
    """Refuse a mediator beside language, in the caller's terms."""
    speakers = [agent for agent, seat in enumerate(seats) if seat.uses_language]
    if mediated and speakers:
        one, other = mediated[0], speakers[0]
        raise ConfigError(
            f"agent {one}: {seats[one].player} needs a mediator, and agent {other}, "
            f"{seats[other].player}, uses language: they cannot sit in one team"
        )
