"""Read a suite, play a game or drive it yourself, score it.

Importing this module, drawing scenarios and playing load neither pandas nor a model client: a
function that needs more imports it itself. (The solver of the oracle loads pandas on its own.)
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from pydantic import ValidationError

from calbench.agents.base import Agent
from calbench.agents.own import PolicyAgent
from calbench.agents.prompts import PROMPT_VERSION
from calbench.api.arguments import checked
from calbench.api.players import Player, named_team, own_agents, team_of_players
from calbench.config.groups import known_names
from calbench.documents import read_yaml
from calbench.domain.ids import AgentId
from calbench.domain.messages import CHANNELS, Channel
from calbench.engine.drivers import OutsideGame, play_outside, run, run_async, threads
from calbench.engine.seating import seat_agents, seat_policies
from calbench.errors import ConfigError, among
from calbench.files import first_problem, printable, shorten, user_path
from calbench.metrics import game as scoring
from calbench.metrics.game import GameScore
from calbench.metrics.measure import MeasureSpec
from calbench.protocols.degenerate import Silent
from calbench.scenarios.difficulty import completed
from calbench.scenarios.labels import LABEL_BANK
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import published_suite, read_suite
from calbench.traces.models import PUBLISHED, GameConfig, Kind, Limits, Seat, Team, Trace
from calbench.tree import CONF

LONGEST_NAME = 255
"""Characters of a file's name at most, on every system."""


@checked
def load_suite(
    suite: str | os.PathLike[str], *, published: Path | None = None
) -> tuple[Scenario, ...]:
    """Read a suite; oracle and difficulty (section 3) are computed where it does not hold them.

    Args:
        suite: the name of a published suite, such as ``"varied"``, or the path of a suite
            file: a path object, or a text that names an existing file, has a folder in it or
            ends in ``.jsonl`` or ``.jsonl.gz``.
        published: a folder of suites, instead of the published ones.

    Raises:
        ConfigError: if no suite of that name is published; lists those that are.
        FileError: one line naming file, line and field.

    >>> calbench.load_suite("varied")[0]
    Scenario('varied-000', setting='varied', 5 agents, 16 slots, 5 meetings, optimum 3)
    """
    if isinstance(suite, str) and not _is_path(suite):
        return completed(published_suite(suite, published))
    return completed(read_suite(user_path(suite)))


def _is_path(text: str) -> bool:
    path = Path(text)
    has_folder = path.name != text
    if has_folder or text.endswith((".jsonl", ".jsonl.gz")):
        return True
    return len(text) <= LONGEST_NAME and path.is_file()


@checked
def play(
    scenario: Scenario,
    *,
    team: str = "own",
    players: str | Sequence[str] = "own",
    seats: Mapping[int, Player] | None = None,
    channels: Sequence[Channel] = CHANNELS,
    limits: Limits | Mapping[str, Any] | str | None = None,
    uses_language: bool = False,
    reflection: bool = False,
    system_prompts: Sequence[str | None] = (),
    canary: bool = False,
) -> OutsideGame:
    """Play one game by hand (section 3): a generator that asks you for the turns of its seats.

    It yields ``{agent_id: observation}``, is sent ``{agent_id: Turn}``, and returns the trace.

    >>> game = calbench.play(scenario, players="my-framework")
    >>> try:
    ...     asked = next(game)
    ...     while True:
    ...         asked = game.send({agent: Announcer().act(seen) for agent, seen in asked.items()})
    ... except StopIteration as end:
    ...     trace = end.value

    Who are asked together do not see each other's answers. A ``Reply`` holds beside the turn how it
    came about. ``game.throw(UnavailableError("provider_fault", "why"))`` ends the game, unscored.

    Args:
        scenario: from :func:`load_suite`.
        team: its id on the record.
        players: who you are on the record: one name for all, or one for each agent.
        seats: who else plays, by agent id, as in :func:`play_game`.
        channels: the open channels; all by default.
        limits: a mapping changes those of the published games; a name is one of ``conf/limits``.
        uses_language: whether the agents are shown private labels, as language models are.
        reflection: whether such agents are asked for ``Reply.beliefs`` after every round.
        system_prompts: the instructions of each agent, by agent id; only recorded.
        canary: whether you tell your players the benchmark's canary first; only recorded.

    Raises:
        ConfigError: at once, if an argument is invalid.
        AgentError: out of the generator, if an answer is no turn, or one of ``seats`` raises.
    """
    if system_prompts:
        _check_one_for_each("system_prompts", system_prompts, scenario)
    described = _outside_team(team, players, seats or {}, scenario, uses_language)
    config = game_config(described, channels, limits, reflection=reflection, canary=canary)
    others = _partners(seats or {}, scenario, config)
    return play_outside(scenario, config, others, system_prompts=system_prompts)


def _partners(
    partners: Mapping[int, Player], scenario: Scenario, config: GameConfig
) -> Mapping[AgentId, Agent]:
    """Return the agents of some seats of a game."""
    if not partners:
        return {}
    own = own_agents(partners, scenario, config)
    places = map(AgentId, range(scenario.num_agents))
    absent = {agent: PolicyAgent(Silent()) for agent in places if agent not in partners}
    agents = seat_agents(scenario, config, own={**absent, **own})
    return {AgentId(agent): agents[agent] for agent in partners}


def _outside_team(
    team: str,
    players: str | Sequence[str],
    partners: Mapping[int, Player],
    scenario: Scenario,
    uses_language: bool,
) -> Team:
    """Return who sits where: partners, and in the other seats those who are asked from outside."""
    num_agents = scenario.num_agents
    for agent in partners:
        if agent not in range(num_agents):
            shown = printable(shorten(repr(agent)))
            raise ConfigError(f"seats: {shown} is no agent; known are 0 to {num_agents - 1}")
    if not isinstance(players, str):
        _check_one_for_each("players", players, scenario)
    names = (players,) if isinstance(players, str) else players
    kind: Kind = "custom" if uses_language else "protocol"
    try:
        outside = Team(team_id=team, seats=tuple([Seat(player=name, kind=kind) for name in names]))
    except ValidationError as error:
        raise ConfigError(f"team and players: {first_problem(error)}") from error
    if not partners:
        return outside
    seated = [partners.get(agent, outside.seat_of(AgentId(agent))) for agent in range(num_agents)]
    return team_of_players(seated, uses_language, num_agents, team)


def _check_one_for_each(name: str, given: Sequence[object], scenario: Scenario) -> None:
    for each in [given] if isinstance(given, str) else given:
        if each is given or not isinstance(each, str | None):
            shown = printable(shorten(repr(each), 40))
            raise ConfigError(f"{name}: {shown}; give a list of texts, one for each agent")
    if len(given) != scenario.num_agents:
        raise ConfigError(
            f"{name}: {len(given)} for {scenario.num_agents} agents: give one for each"
        )


@checked
def play_game(
    scenario: Scenario,
    team: str | Sequence[Player] | Mapping[int, Player],
    *,
    team_id: str = "own",
    channels: Sequence[Channel] = CHANNELS,
    limits: Limits | Mapping[str, Any] | str | None = None,
    uses_language: bool = False,
    reflection: bool = False,
) -> Trace:
    """Play one game (paper, section 3) and return its trace.

    A team is the id of a file in ``conf/teams`` without models, or a list with one player for
    each agent, of any kinds mixed, or a mapping from each agent's id to its player:

    - a name: a protocol, a baseline, a scripted speaker or another team of one seat, such as
      ``"imap"``, ``"silent"``, ``"candid"``;
    - an object with ``act(observation)``, plain or ``async``, that returns a ``Turn``, or a
      ``Reply`` with its ``usage``; one object may sit in several places, of a class each place
      gets one. With ``act(observation, prompt)`` it sits as a language model does, is told what
      one would be asked, and may return the text of a model's reply or a ``Completion``;
    - a completion function, plain or ``async``: from the conversation so far, a list of
      ``{"role": ..., "content": ...}``, to the text of the reply, or a ``Completion``. It sits as
      a language model does, with released prompts and labels, and may take a ``site``.

    On the record it has its attribute ``name``, else its own name. One with an attribute ``model``
    sits as one and is counted as it. Where an event loop runs, a thread beside it plays the game.

    Args:
        scenario: from :func:`load_suite`.
        team: who plays.
        team_id: of a list of players on the record.
        channels: the open channels; all by default.
        limits: a mapping changes those of the published games; a name is one of ``conf/limits``.
        uses_language: whether your objects are shown private labels, as language models are.
        reflection: whether players that use language are asked for beliefs after every round.

    Raises:
        ConfigError: if the team is unknown, seats a model, or has not one player for each
            agent; if channels or limits do not fit.
        AgentError: if your code raises, which is then the cause, or returns neither turn nor text.

    >>> calbench.play_game(scenario, ["imap", "imap", Announcer(), Announcer, "silent"])
    Trace(team='own', scenario='varied-000', 165 events, 0 of 5 meetings, cost=4, 11 messages)
    """
    players: Sequence[Player] = () if isinstance(team, str) else _by_agent(team)
    seated = (players, uses_language, scenario.num_agents, team_id)
    described = named_team(team) if isinstance(team, str) else team_of_players(*seated)
    config = game_config(described, channels, limits, reflection=reflection)
    return play_configured(scenario, config, players)


def play_configured(
    scenario: Scenario,
    config: GameConfig,
    players: Sequence[Player],
    stopping: Event | None = None,
) -> Trace:
    """Play a game of a known team, or of players that the caller handed over.

    Args:
        scenario: what is played.
        config: what defines the game.
        players: one for each agent; none if the team is a known one.
        stopping: once it is set, nobody is asked any more.

    Raises:
        AgentError: as :func:`play_game`.
        StoppedError: it was set.
    """
    if not players and not config.team.uses_language:
        return run(scenario, config, seat_policies(config.team, scenario.num_agents, config.limits))
    stopping = stopping or Event()
    agents = seat_agents(
        scenario, config, own=own_agents(dict(enumerate(players)), scenario, config)
    )
    return _finished(run_async(scenario, config, agents, stopping.is_set), stopping)


def _by_agent(team: Sequence[Player] | Mapping[int, Player]) -> Sequence[Player]:
    """Return players in the order of their agents."""
    if not isinstance(team, Mapping):
        return team
    for agent in range(len(team)):
        if agent not in team:
            raise ConfigError(f"agent {agent}: has no player; give one for each")
    return [team[agent] for agent in range(len(team))]


def _finished(game: Coroutine[Any, Any, Trace], stopping: Event) -> Trace:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(game)
    with threads(1, stopping) as beside:  # a running loop takes no second one
        return beside.submit(asyncio.run, game).result()


def game_config(
    team: Team,
    channels: Sequence[Channel] = CHANNELS,
    limits: Limits | Mapping[str, Any] | str | None = None,
    *,
    reflection: bool = False,
    canary: bool | None = None,
) -> GameConfig:
    """Return what defines the games of a team; arguments as of :func:`play_game`.

    Agents of one's own are told the canary, unless ``canary`` says whether.

    Raises:
        ConfigError: channels or limits do not fit.
    """
    return GameConfig(
        team=team,
        channels=_open_channels(channels),
        limits=_limits(limits),
        prompt_version=PROMPT_VERSION if team.uses_language else None,
        label_bank=LABEL_BANK if team.uses_language else None,
        reflection=reflection and team.uses_language,
        canary=team.is_open if canary is None else canary,
    )


def _open_channels(channels: Sequence[Channel]) -> tuple[Channel, ...]:
    """Return the channels in their fixed order."""
    given: Sequence[str] = (channels,) if isinstance(channels, str) else channels
    if channels == "all":  # as in a run
        given = CHANNELS
    for name in given:
        if name not in CHANNELS:
            shown = printable(shorten(repr(name)))
            raise ConfigError(f"there is no channel {shown}; known are {', '.join(CHANNELS)}")
    return tuple([channel for channel in CHANNELS if channel in given])


def _limits(limits: Limits | Mapping[str, Any] | str | None) -> Limits:
    """Return limits as given or named; a mapping changes those of the paper's published games."""
    if isinstance(limits, Limits):
        return limits
    if isinstance(limits, str):
        if limits not in (known := known_names("limits")):
            raise ConfigError(
                f"limits: there is no {printable(shorten(limits))}; {among(limits, known)}"
            )
        return Limits.model_validate(read_yaml(CONF / "limits" / f"{limits}.yaml"))
    try:
        return Limits.model_validate({**PUBLISHED.model_dump(), **(limits or {})})
    except ValidationError as error:
        raise ConfigError(f"limits: {first_problem(error, Limits)}") from error


@checked
def score_game(trace: Trace, *, measure: MeasureSpec | None = None) -> GameScore:
    """Measure one game (section 3): success, cost, talk, fairness and privacy of every agent.

    Costs are accounting costs, privacy loss is in slot-equivalents, what was learnt in bits.

    Args:
        trace: from :func:`play_game` or :func:`read_trace`.
        measure: settings of the metrics; those of the published tables by default.

    Raises:
        ConfigError: what is given is no trace.

    >>> calbench.score_game(calbench.play_game(scenario, "imap"))
    GameScore(team='imap', scenario='varied-000', 5 of 5 meetings, excess_cost=2, fairness=0.480)
    """
    return scoring.score_game(trace, measure=measure or MeasureSpec())
