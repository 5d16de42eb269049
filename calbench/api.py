"""The public Python interface: read a suite, play a game or drive it yourself, score it.

Importing this module, drawing scenarios and playing load neither pandas nor a model client: a
function that needs more imports it itself. (The solver of the oracle loads pandas on its own.)
"""

import asyncio
import inspect
import os
import re
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeGuard, cast

from pydantic import ValidationError

from calbench.agents.base import Agent
from calbench.agents.language import LanguageAgent
from calbench.agents.own import (
    FUNCTION_SPEC,
    CompletionFunction,
    FunctionCompleter,
    OwnActing,
    OwnAgent,
    name_of,
)
from calbench.agents.prompts import PROMPT_VERSION, load_prompts
from calbench.config.composition import compose_team
from calbench.config.groups import known_names
from calbench.domain.ids import AgentId
from calbench.domain.messages import CHANNELS, Channel
from calbench.engine.drivers import OutsideGame, play_outside, run, run_async
from calbench.engine.game import game_id
from calbench.engine.seating import seat_agents, seat_policies, team_of
from calbench.errors import ConfigError
from calbench.extensions import extension_names
from calbench.files import first_problem, printable, shorten
from calbench.metrics import game as scoring
from calbench.metrics.game import GameScore
from calbench.metrics.measure import MeasureSpec
from calbench.protocols.registry import policy_names
from calbench.runs.results import Results, read_results, read_run
from calbench.scenarios.difficulty import completed
from calbench.scenarios.labels import LABEL_BANK
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import published_suite, read_suite
from calbench.traces.models import PUBLISHED, GameConfig, Kind, Limits, Seat, Team, Trace

__all__ = ["Results", "load_suite", "play", "play_game", "read_results", "read_run", "score_game"]


Player = str | OwnActing | CompletionFunction
"""A known player's name; an object with ``act``; a function from messages to a reply's text.

What has ``act`` is an agent, even if it can be called as well."""


def load_suite(
    suite: str | os.PathLike[str], *, published: Path | None = None
) -> tuple[Scenario, ...]:
    """Read a suite; oracle and difficulty are computed where it does not hold them.

    Args:
        suite: the name of a published suite, such as ``"varied"``, or the path of a suite
            file: a path object, or a text that names an existing file, has a folder in it or
            ends in ``.jsonl`` or ``.jsonl.gz``.
        published: a folder of suites, instead of the published ones.

    Raises:
        ConfigError: if no suite of that name is published; lists those that are.
        FileError: one line naming file, line and field.
    """
    if isinstance(suite, str) and not _is_path(suite):
        return completed(published_suite(suite, published))
    return completed(read_suite(suite))


def _is_path(text: str) -> bool:
    path = Path(text)
    has_folder = path.name != text
    return has_folder or text.endswith((".jsonl", ".jsonl.gz")) or path.is_file()


def play(
    scenario: Scenario,
    *,
    team: str = "own",
    players: str | Sequence[str] = "own",
    channels: Sequence[Channel] = CHANNELS,
    limits: Limits | Mapping[str, Any] | None = None,
    uses_language: bool = False,
    reflection: bool = False,
    system_prompts: Sequence[str | None] = (),
) -> OutsideGame:
    """Play one game by hand: a generator that asks you for every turn.

    It yields who is asked with what they see, ``{agent_id: observation}``, is sent the
    answers, ``{agent_id: Turn}``, and returns the trace::

        game = play(scenario, players="my-framework")
        try:
            asked = next(game)
            while True:
                asked = game.send({agent: my_turn(seen) for agent, seen in asked.items()})
        except StopIteration as end:
            trace = end.value

    Those asked together answer before they see each other's answers. An answer may be a
    ``Reply`` instead, which holds beside the turn how it came about: prompt, tokens, beliefs.
    ``game.throw(UnavailableError("provider_fault", "why"))`` ends the game, recorded but unscored.

    Args:
        scenario: from :func:`load_suite`.
        team: the id of the team on the record.
        players: who plays on the record: one name for all, or one for each agent.
        channels: the open channels; all by default.
        limits: those of the paper's published games; a mapping changes some of them.
        uses_language: whether the agents are shown private labels, as language models are.
        reflection: whether agents that use language are asked after every round what they
            came to believe (``Phase.REFLECTION``, answered with ``Reply.beliefs``).
        system_prompts: the instructions of each agent, by agent id; only recorded.

    Raises:
        ConfigError: at once, if an argument is invalid.
        AgentError: out of the generator, if an answer is missing or is no turn.
    """
    if not isinstance(players, str):
        players = tuple(players)
        _check_one_for_each("players", players, scenario)
    if system_prompts:
        _check_one_for_each("system_prompts", system_prompts, scenario)
    config = _game_config(_outside_team(team, players, uses_language), channels, limits, reflection)
    return play_outside(scenario, config, system_prompts=system_prompts)


def _outside_team(team: str, players: str | Sequence[str], uses_language: bool) -> Team:
    names = (players,) if isinstance(players, str) else players
    kind: Kind = "custom" if uses_language else "protocol"
    try:
        seats = tuple([Seat(player=name, kind=kind) for name in names])
        return Team(team_id=team, seats=seats)
    except ValidationError as error:
        raise ConfigError(f"team and players: {first_problem(error)}") from error


def _check_one_for_each(name: str, given: Sequence[object], scenario: Scenario) -> None:
    if len(given) != scenario.num_agents:
        raise ConfigError(
            f"{name}: {len(given)} for {scenario.num_agents} agents: give one for each"
        )


def play_game(
    scenario: Scenario,
    team: str | Sequence[Player],
    *,
    channels: Sequence[Channel] = CHANNELS,
    limits: Limits | Mapping[str, Any] | None = None,
    uses_language: bool = False,
    reflection: bool = False,
) -> Trace:
    """Play one game and return its trace.

    A team is the id of a file in ``conf/teams`` without models, or a list with one player for
    each agent, of any kinds mixed:

    - a name: a protocol, a baseline, a scripted speaker or another team of one seat, such as
      ``"imap"``, ``"silent"``, ``"candid"``;
    - an object with ``act(observation)``, plain or ``async``, that returns a ``Turn``; one
      object may sit in several places;
    - a completion function, plain or ``async``: it takes the conversation so far, a list of
      ``{"role": ..., "content": ...}``, and returns the text of the reply. It sits as a
      language model does, with the released prompts and private labels.

    Where an event loop is running already, as in a notebook, the game is played in a thread
    beside it.

    Args:
        scenario: from :func:`load_suite`.
        team: who plays.
        channels: the open channels; all by default.
        limits: those of the paper's published games; a mapping changes some of them.
        uses_language: whether your objects are shown private labels, as language models are.
        reflection: whether players that use language are asked after every round what they
            came to believe.

    Raises:
        ConfigError: if the team is unknown, seats a model, or has not one player for each
            agent; if channels or limits do not fit.
        AgentError: if your code raises, which is then the cause, or returns neither a turn nor
            a text.
    """
    players: Sequence[Player] = () if isinstance(team, str) else team
    if isinstance(team, str):
        described = _named_team(team)
    else:
        described = _team_of_players(players, uses_language, scenario.num_agents)
    config = _game_config(described, channels, limits, reflection)
    if isinstance(team, str) and not described.uses_language:
        return run(scenario, config, seat_policies(described, scenario.num_agents, config.limits))
    agents = seat_agents(scenario, config, own=_own_agents(players, scenario, config))
    return _finished(run_async(scenario, config, agents))


def _finished(game: Coroutine[Any, Any, Trace]) -> Trace:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(game)
    with ThreadPoolExecutor(max_workers=1) as beside:  # a running loop takes no second one
        return beside.submit(asyncio.run, game).result()


def _game_config(
    team: Team,
    channels: Sequence[Channel],
    limits: Limits | Mapping[str, Any] | None,
    reflection: bool,
) -> GameConfig:
    return GameConfig(
        team=team,
        channels=_open_channels(channels),
        limits=_limits(limits),
        prompt_version=PROMPT_VERSION if team.uses_language else None,
        label_bank=LABEL_BANK if team.uses_language else None,
        reflection=reflection and team.uses_language,
    )


def _open_channels(channels: Sequence[Channel]) -> tuple[Channel, ...]:
    """Return the channels in their fixed order."""
    given: Sequence[str] = (channels,) if isinstance(channels, str) else channels
    for name in given:
        if name not in CHANNELS:
            shown = printable(shorten(repr(name)))
            raise ConfigError(f"there is no channel {shown}; known are {', '.join(CHANNELS)}")
    return tuple([channel for channel in CHANNELS if channel in given])


def _limits(limits: Limits | Mapping[str, Any] | None) -> Limits:
    """Return limits as given; a mapping changes those of the paper's published games."""
    if isinstance(limits, Limits):
        return limits
    try:
        return Limits.model_validate({**PUBLISHED.model_dump(), **(limits or {})})
    except ValidationError as error:
        raise ConfigError(f"limits: {first_problem(error)}") from error
    except TypeError as error:
        raise ConfigError("limits: give a mapping of keys and values, or a Limits") from error


def score_game(trace: Trace, *, measure: MeasureSpec | None = None) -> GameScore:
    """Measure one game: success, cost, talk, fairness and privacy of every agent."""
    return scoring.score_game(trace, measure=measure or MeasureSpec())


# --- players as a caller hands them over, one for each agent: names, objects, functions


def _team_of_players(players: Sequence[Player], uses_language: bool, num_agents: int) -> Team:
    """Return the team of these players, as traces describe it.

    Args:
        players: one for each agent, by agent id.
        uses_language: whether objects are shown private labels, as language models are.
        num_agents: how many there should be.

    Raises:
        ConfigError: naming the agent whose player is unknown or none, or two that cannot sit
            in one team.
    """
    _check_players(players, num_agents)
    seats: list[Seat] = []
    mediated: list[int] = []
    for agent, player in enumerate(players):
        try:
            team = _named(player) if isinstance(player, str) else _own(player, uses_language)
        except ConfigError as error:
            raise ConfigError(f"agent {agent}: {error}") from error
        seats += team.seats
        if team.mediator:
            mediated.append(agent)
    _check_mediator(seats, mediated)
    return Team(team_id="own", seats=tuple(seats), mediator=bool(mediated))


def _named_team(name: str) -> Team:
    """Return a team of ``conf/teams``, or that of a distribution's protocol in every seat.

    Raises:
        ConfigError: naming the nearest known teams if there is none of that name.
    """
    if name not in known_names("teams") and name in extension_names("protocol"):
        return team_of(name)
    return compose_team(name)


def _own_agents(
    players: Sequence[Player], scenario: Scenario, config: GameConfig
) -> Mapping[AgentId, Agent]:
    """Return the agents that the caller brought, by place; known players are left out."""
    agents: dict[AgentId, Agent] = {}
    for agent, player in zip(map(AgentId, range(len(players))), players, strict=True):
        if isinstance(player, str):
            continue
        if _acts(player):
            agents[agent] = OwnAgent(player)
        else:
            agents[agent] = LanguageAgent(
                config.team.seats[agent].player,
                FunctionCompleter(cast("CompletionFunction", player)),
                FUNCTION_SPEC,
                load_prompts(config.prompt_version or "", config.prompt_digest),
                None,
                game_id(scenario, config),
            )
    return agents


def _check_players(players: object, num_agents: int) -> None:
    if not isinstance(players, Sequence):
        shown = type(players).__name__
        raise ConfigError(f"the team is of type {shown}: give a team's id, or a list of players")
    if len(players) != num_agents:
        raise ConfigError(f"{len(players)} players for {num_agents} agents: give one for each")


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


def _own(player: OwnActing | CompletionFunction, uses_language: bool) -> Team:
    name = name_of(player)
    if inspect.isclass(player):
        raise ConfigError(f"{printable(name)} is a class: give an object of it, {name}()")
    if _acts(player):
        kind: Kind = "custom" if uses_language else "protocol"
        seat = Seat(player=_player_name(type(player).__name__), kind=kind)
        return Team(team_id=seat.player, seats=(seat,))
    if not callable(player):
        raise ConfigError(
            f"{printable(name)} is no player: give a name, an object with act(observation), "
            "or a function from messages to text"
        )
    # Distinguishes its games from those of an object with the same name.
    settings = {"is_completion_function": True}
    seat = Seat(player=_player_name(name), kind="custom", settings=settings)
    return Team(team_id=seat.player, seats=(seat,))


def _acts(player: object) -> TypeGuard[OwnActing]:
    # Asked of the object, not of its class: a proxy may define attributes dynamically.
    return callable(getattr(player, "act", None))


def _player_name(name: str) -> str:
    """Return a name as a trace may hold it: traces name players in file-name letters."""
    return re.sub(r"[^A-Za-z0-9]", "-", name).strip("-")[:64] or "own"


def _check_mediator(seats: Sequence[Seat], mediated: Sequence[int]) -> None:
    """Refuse a mediator beside language, in the caller's terms."""
    speakers = [agent for agent, seat in enumerate(seats) if seat.uses_language]
    if mediated and speakers:
        one, other = mediated[0], speakers[0]
        raise ConfigError(
            f"agent {one}: {seats[one].player} needs a mediator, and agent {other}, "
            f"{seats[other].player}, uses language: they cannot sit in one team"
        )
