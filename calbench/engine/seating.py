"""Makes the players of a team from its description."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import ValidationError

from calbench.agents.base import Agent, Completer
from calbench.agents.language import LanguageAgent
from calbench.agents.own import OwnAgent, OwnPolicy, PolicyAgent, blaming
from calbench.agents.prompts import Prompts, load_prompts, load_variant
from calbench.agents.scripted import GOALS, SCRIPTED_SPEC, scripted_speaker
from calbench.domain.ids import AgentId
from calbench.domain.randomness import derived_seed
from calbench.engine.game import game_id
from calbench.errors import AgentError, ConfigError
from calbench.extensions import extension, extension_names
from calbench.files import first_problem
from calbench.llm.completion import ModelSpec
from calbench.protocols.base import Policy
from calbench.protocols.registry import (
    Needs,
    build_policy,
    check_distribution,
    is_outside,
    needs_of,
    policy_names,
)
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Limits, Seat, Team


def team_of(player: str) -> Team:
    """Return a team with one player in every seat, and with what that player needs if it is known.

    Raises:
        ConfigError: a distribution that gives it cannot be used.
    """
    needs = needs_of(player) or Needs()
    seat = Seat(
        player=player,
        kind="degenerate" if needs.is_degenerate else "protocol",
        settings=dict(needs.settings),
        private_chance=needs.private_chance,
    )
    return Team(team_id=player, seats=(seat,), mediator=needs.mediator)


def seat_policies(team: Team, num_agents: int, limits: Limits | None = None) -> list[Policy]:
    """Return one policy for each agent, by agent id.

    Players that take difficulty weights get those of the game's limits.

    Raises:
        ConfigError: the team names an unknown player or settings that do not fit, or there are
            fewer weights than agents.
    """
    weights = _weights(limits, num_agents)
    return [_policy(team, team.seat_of(AgentId(agent)), weights) for agent in range(num_agents)]


def _weights(limits: Limits | None, num_agents: int) -> tuple[float, ...] | None:
    weights = None if limits is None else limits.sd_model
    if weights is not None and len(weights) < num_agents:
        raise ConfigError(
            f"limits.sd_model: {len(weights)} weights for {num_agents} agents: give one for each"
        )
    return weights


def _policy(team: Team, seat: Seat, weights: tuple[float, ...] | None) -> Policy:
    try:
        policy = build_policy(seat.player, seat.settings, weights)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"team {team.team_id}: settings of player {seat.player} do not fit: {error}"
        ) from error
    if policy is None:
        raise ConfigError(
            f"team {team.team_id}: there is no player {seat.player}; "
            f"known are {', '.join(policy_names())}"
        )
    return OwnPolicy(policy) if is_outside(seat.settings) else policy


def seat_agents(
    scenario: Scenario,
    config: GameConfig,
    completer: Completer | None = None,
    own: Mapping[AgentId, Agent] | None = None,
    variants: Mapping[AgentId, str] | None = None,
) -> list[Agent]:
    """Return one agent for each place, by agent id, for a game in which some may wait.

    Args:
        scenario: of the game; scripted speakers get a seed derived from its seed.
        config: of the game.
        completer: source of text of the models.
        own: agents that the caller has made, by place; the others are made here.
        variants: texts of prompt variants that the caller has, by place; the others are looked up.

    Raises:
        ConfigError: a player is unknown, its settings do not fit, there are fewer weights than
            agents, or a model has no completer.
        AgentError: the user's own code raised while it was imported or called.
    """
    made, texts = own or {}, variants or {}
    game = game_id(scenario, config)
    agents: list[Agent] = []
    for agent in map(AgentId, range(scenario.num_agents)):
        seat = config.team.seat_of(agent)
        if agent in made:
            agents.append(made[agent])
        elif seat.kind == "custom":
            agents.append(_own_agent(config, seat, scenario.scenario_id, agent))
        elif seat.uses_language:
            source = _source(config.team, seat, scenario, agent, completer)
            text = texts[agent] if agent in texts else variant_text(seat)
            agents.append(_speaker(config, seat, source, game, text))
        else:
            weights = _weights(config.limits, scenario.num_agents)
            agents.append(PolicyAgent(_policy(config.team, seat, weights)))
    return agents


def check_seats(scenario: Scenario, config: GameConfig) -> None:
    """Make a team's players only to find out, before a game, whether everything fits.

    Raises:
        ConfigError: as :func:`seat_agents`.
        AgentError: as :func:`seat_agents`.
    """
    if config.team.uses_language:
        seat_agents(scenario, config, scripted_speaker("candid", 0))
    else:
        seat_policies(config.team, scenario.num_agents, config.limits)


def check_settings(config: GameConfig) -> None:
    """Make the protocols of a team, of whatever scenario: their classes may refuse their settings.

    Raises:
        ConfigError: one of them is unknown, or its settings do not fit.
    """
    for seat in config.team.seats:
        if seat.kind in {"protocol", "degenerate"}:
            _policy(config.team, seat, config.limits.sd_model)


def _source(
    team: Team, seat: Seat, scenario: Scenario, agent: AgentId, completer: Completer | None
) -> Completer:
    if seat.kind == "scripted":
        seed = derived_seed(scenario.seed, "scripted", agent)
        variant = seat.variant
        # Others mean nothing to it, and no configuration seats it with them.
        goal = None if variant is None else GOALS.get((variant.name, variant.version))
        return scripted_speaker(str(seat.settings.get("style")), seed, goal)
    if completer is None:
        raise ConfigError(
            f"team {team.team_id}: player {seat.player} is a model without a source of replies"
        )
    return completer


def _speaker(
    config: GameConfig, seat: Seat, source: Completer, game: str, text: str | None
) -> LanguageAgent:
    prompts = game_prompts(config)
    spec = SCRIPTED_SPEC if seat.kind == "scripted" else asked_spec(seat, config.replicate)
    return LanguageAgent(seat.player, source, spec, prompts, text, game)


def game_prompts(config: GameConfig) -> Prompts:
    """Return the prompts of a game in which somebody uses language."""
    return load_prompts(config.prompt_version or "", config.prompt_digest)


def variant_text(seat: Seat) -> str | None:
    """Return the text of a seat's prompt variant, ours or that of a distribution.

    Raises:
        ConfigError: there is no such variant, or its text is another one.
    """
    if seat.variant is None:
        return None
    told = seat.variant
    variant = load_variant(told.name, told.version, told.digest)
    if variant.digest != told.digest:
        raise ConfigError(
            f"prompt variant {told.name} {told.version} is not this game's: "
            f"its digest is {variant.digest}"
        )
    return variant.text


def asked_spec(seat: Seat, replicate: int) -> ModelSpec:
    """Return what a model is asked as: a further game of the same content has own replies.

    Raises:
        ConfigError: the seat's settings are not those of a model.
    """
    try:
        spec = ModelSpec.model_validate(seat.settings)
    except ValidationError as error:
        raise ConfigError(f"settings of model {seat.player}: {first_problem(error)}") from error
    return spec.model_copy(update={"replicate": spec.replicate + replicate})


def _own_agent(config: GameConfig, seat: Seat, scenario_id: str, agent: AgentId) -> Agent:
    """Build the user's own agent from its import path ``package.module:name``, or by its name.

    This runs the user's code; what names it comes from a configuration, never from a suite or a
    trace.
    """
    path, arguments = seat.settings.get("agent"), seat.settings.get("arguments", {})
    team = config.team
    named = f"team {team.team_id}: agent {path}"
    if not isinstance(path, str) or path.count(":") > 1 or not isinstance(arguments, Mapping):
        raise ConfigError(f"{named}: write it as package.module:Name, arguments as keys and values")
    place = f"agent {agent} ({path}), before the first round"
    given: Callable[..., Any] | None = (
        None if ":" in path else _given_agent(named, path, seat.settings)
    )
    try:
        with blaming(f"team {team.team_id}, scenario {scenario_id}, {place}", "making it"):
            if given is None:
                module, name = path.split(":")
                given = getattr(importlib.import_module(module), name)
            own = given(**arguments)
    except AgentError as error:
        if error.__cause__ is not None:
            raise
        raise ConfigError(f"{named}: {error.what}") from None
    try:
        return OwnAgent.of(own, lambda: game_prompts(config))
    except ConfigError as error:
        raise ConfigError(f"{named}: {error}") from error


def _given_agent(named: str, name: str, settings: Mapping[str, Any]) -> Callable[..., Any]:
    """Return what makes an agent that a distribution gives under a name."""
    found = extension("agent", name)
    if found is None:
        known = ", ".join(extension_names("agent"))
        hint = f"known are {known}; " if known else ""
        raise ConfigError(
            f"{named}: no installed distribution gives it; {hint}if it is your own, write it "
            "as package.module:Name"
        )
    check_distribution(named, found, settings)
    return cast("Callable[..., Any]", found.value)
